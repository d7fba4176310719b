"""Tools that are there are called, with arguments from the text."""

from __future__ import annotations

import keyword
from typing import Literal

import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st

from agent_magics.providers.demo.words import GENERIC, STOP
from agent_magics.tools.tool import Tool, tool
from tests.providers.demo.conversation import (
    Conversation,
    celsius_to_fahrenheit,
    page_title,
    round_number,
    word_count,
)

names = st.from_regex(r"[a-z]{4,8}_[a-z]{4,8}", fullmatch=True).filter(
    lambda name: (
        not set(name.split("_")) & (STOP | GENERIC) and not any(map(keyword.iskeyword, name.split("_")))
    )
)


def numeric(name: str, seen: list[float]) -> Tool:
    def handler(amount: float) -> float:
        seen.append(amount)
        return amount * 3

    schema = {"type": "object", "properties": {"amount": {"type": "number"}}, "required": ["amount"]}
    return Tool(name=name, description="", handler=handler, parameters=schema)


@settings(max_examples=40)
@given(name=names, value=st.floats(-1e6, 1e6).map(lambda value: round(value, 3)), spoken=st.booleans())
def test_a_tool_of_any_name_is_called_with_the_number_of_the_prompt(name, value, spoken):
    seen: list[float] = []
    said = name.replace("_", " ") if spoken else f"`{name}`"
    answer = Conversation(numeric(name, seen)).ask(f"please {said} {value}")
    assert [name] == answer.names
    assert [value] == seen
    shown = answer.reply.replace(",", "")
    assert f"`{name}` gives" in shown


@settings(max_examples=40)
@given(st.integers(-10_000, 10_000), st.integers(-10_000, 10_000))
def test_numbers_fill_parameters_in_their_order(first, second):
    @tool
    def subtract(minuend: int, subtrahend: int) -> int:
        """Subtract one number from another."""
        return minuend - subtrahend

    answer = Conversation(subtract).ask(f"subtract the numbers {first} and {second}")
    assert [("subtract", {"minuend": first, "subtrahend": second})] == answer.calls
    assert f"{first - second:,}" in answer.reply


def test_a_conversion_goes_to_the_tool_that_converts_in_that_direction():
    @tool
    def fahrenheit_to_celsius(fahrenheit: float) -> float:
        """Convert degrees Fahrenheit to Celsius."""
        return (fahrenheit - 32) * 5 / 9

    conversation = Conversation(fahrenheit_to_celsius, celsius_to_fahrenheit)
    assert [("celsius_to_fahrenheit", {"celsius": 30})] == conversation.ask("What is 30 °C in °F?").calls
    back = conversation.ask("convert 86 F to C")
    assert [("fahrenheit_to_celsius", {"fahrenheit": 86})] == back.calls
    assert "86 °F is **30 °C**." == back.reply


def test_a_tool_that_converts_anything_is_told_both_units():
    @tool
    def convert_units(value: float, from_unit: str, to_unit: str) -> float:
        """Convert a value from one unit to another."""
        return value * 2

    answer = Conversation(convert_units).ask("how many pounds are 30 kg?")
    assert [("convert_units", {"value": 30, "from_unit": "kilograms", "to_unit": "pounds"})] == answer.calls


def test_arguments_are_found_by_label_form_and_choice():
    @tool
    def send_mail(to: str, subject: str, urgent: bool = False, copies: int = 1) -> str:
        """Send an e-mail.

        Parameters
        ----------
        to : str
            The mail address.
        """
        return "sent"

    @tool
    def paint(colour: Literal["red", "green", "blue"], width: int, height: int = 10) -> str:
        """Paint a wall."""
        return "done"

    conversation = Conversation(send_mail, paint)
    mail = conversation.ask('send mail to ann@example.com, 3 copies, urgent, subject "Lunch and more"')
    expected = {"to": "ann@example.com", "subject": "Lunch and more", "urgent": True, "copies": 3}
    assert [("send_mail", expected)] == mail.calls
    wall = conversation.ask("paint a wall green with height=7 and width 3")
    assert [("paint", {"colour": "green", "width": 3, "height": 7})] == wall.calls


def test_lists_and_variables_are_arguments_too():
    @tool
    def total_weight(weights: list[float]) -> float:
        """The total weight."""
        return sum(weights)

    schema = {
        "type": "object",
        "properties": {
            "frame": {"type": "string", "description": "Name of a notebook variable that holds a DataFrame."}
        },
        "required": ["frame"],
    }
    clean_frame = Tool(name="clean_frame", description="", handler=lambda frame: frame, parameters=schema)
    conversation = Conversation(total_weight, clean_frame)
    assert [("total_weight", {"weights": [3, 4.5, 1]})] == conversation.ask(
        "total weight of 3, 4.5 and 1"
    ).calls
    assert [("clean_frame", {"frame": "trips"})] == conversation.ask("clean the frame in trips").calls


def test_defaults_are_left_to_the_tool():
    answer = Conversation(round_number).ask("round number 3.14159")
    assert [("round_number", {"value": 3.14159})] == answer.calls
    answer = Conversation(round_number).ask("round number 3.14159 to 2 digits")
    assert [("round_number", {"value": 3.14159, "digits": 2})] == answer.calls


def test_a_missing_argument_is_asked_for_and_taken_from_the_answer():
    @tool
    def weather(city: str) -> str:
        """The weather in a city."""
        return f"rain in {city}"

    conversation = Conversation(weather)
    asked = conversation.ask("weather?")
    assert [] == asked.calls
    assert "`city` (string)" in asked.reply
    assert [("weather", {"city": "Kiel"})] == conversation.ask("city=Kiel").calls


def test_two_tools_are_chained_one_after_the_other():
    answer = Conversation(celsius_to_fahrenheit, round_number).ask(
        "convert 31.4 celsius to fahrenheit and round it"
    )
    assert [("celsius_to_fahrenheit", {"celsius": 31.4}), ("round_number", {"value": 88.52})] == answer.calls
    assert "31.4 °C is **88.52 °F**." in answer.reply and "**89**" in answer.reply


@settings(max_examples=40)
@given(st.text("abcdefghij ", min_size=1).filter(lambda text: text.strip() and len(text.split()) < 4))
def test_two_tools_are_chained_from_the_inside_out(page):
    page = page.strip().title()
    answer = Conversation(word_count, page_title).ask(f'how many words are in the title of page "{page}"?')
    assert [("page_title", {"page": page}), ("word_count", {"text": f"The story of {page}"})] == answer.calls
    assert f"**{len(page.split()) + 3}** words" in answer.reply


def test_without_a_tool_for_it_the_rules_round_by_themselves():
    answer = Conversation(celsius_to_fahrenheit).ask(
        "convert 31.46 celsius to fahrenheit, then round it to 1 digit"
    )
    assert ["celsius_to_fahrenheit"] == answer.names
    assert "Rounded: **88.6**." in answer.reply


def test_a_part_of_a_result_goes_into_the_next_tool():
    @tool
    def weather(city: str) -> dict[str, object]:
        """The weather in a city."""
        return {"city": city, "humidity": 80, "temperature": 12.5, "wind": 7}

    conversation = Conversation(weather, celsius_to_fahrenheit)
    answer = conversation.ask("get the weather in Kiel and convert the temperature to fahrenheit")
    assert [("weather", {"city": "Kiel"}), ("celsius_to_fahrenheit", {"celsius": 12.5})] == answer.calls


def test_what_stands_in_quotes_is_material_and_no_request():
    text = "convert 30 celsius to fahrenheit and round it"
    answer = Conversation(celsius_to_fahrenheit, round_number, word_count).ask(
        f'how many words are in "{text}"?'
    )
    assert [("word_count", {"text": text})] == answer.calls


def test_files_are_read_before_they_are_counted():
    @tool
    def read(path: str) -> dict[str, object]:
        """Read a file."""
        return {"path": path, "text": "one two three"}

    answer = Conversation(read, word_count).ask("how many words are in notes/today.md?")
    assert [("read", {"path": "notes/today.md"}), ("word_count", {"text": "one two three"})] == answer.calls


def test_an_error_is_told_in_the_tools_own_words_and_ends_the_plan():
    @tool
    def page_size(page: str) -> int:
        """The size of a page."""
        raise ValueError(f"there is no page {page}")

    answer = Conversation(page_size, round_number).ask("get the page size of page Nowhere and round it")
    assert ["page_size"] == answer.names
    assert "`page_size` failed" in answer.reply and "there is no page Nowhere" in answer.reply


def test_a_refused_call_is_accepted_and_nothing_else_is_tried():
    def refuse(name: str) -> str:
        return f"The user rejected this call: not {name}. Don't try the same thing in another way."

    conversation = Conversation(celsius_to_fahrenheit, refuse=refuse)
    answer = conversation.ask("convert 30 celsius to fahrenheit")
    assert ["celsius_to_fahrenheit"] == answer.names
    assert "Understood" in answer.reply and "“not celsius_to_fahrenheit.”" in answer.reply
    assert "86" not in answer.reply


@pytest.mark.parametrize(
    "prompt", ["what does word_count do?", "explain the tool word_count", "how do I use word_count"]
)
def test_a_question_about_a_tool_is_no_call_of_it(prompt):
    answer = Conversation(word_count).ask(prompt)
    assert [] == answer.calls
    assert "`word_count(text: string)`: Count the words of a text." in answer.reply


@settings(max_examples=40)
@given(st.text())
def test_no_prompt_calls_a_tool_that_it_does_not_speak_of(prompt):
    assume(not {"count", "word", "words", "many", "number", "text"} & set(prompt.casefold().split()))
    assert "word_count" not in Conversation(word_count).ask(prompt).names


def test_tables_and_lists_are_told_as_such():
    @tool
    def list_ships() -> list[dict[str, object]]:
        """List the ships."""
        return [{"ship": "A|B", "knots": 12.5}, {"ship": "C", "knots": 9}]

    reply = Conversation(list_ships).ask("list ships").reply
    assert "| ship | knots |\n|---|---:|\n| A\\|B | 12.5 |\n| C | 9 |" in reply
