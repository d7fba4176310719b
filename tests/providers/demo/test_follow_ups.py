"""Follow-ups: completed from earlier prompts, replies and tool traffic."""

from __future__ import annotations

import math

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from agent_magics.providers.demo.following import Past, complete
from agent_magics.providers.demo.lexicon import Lexicon
from agent_magics.tools.tool import tool
from tests.providers.demo.conversation import Conversation, celsius_to_fahrenheit, word_count


@settings(max_examples=40)
@given(st.integers(-200, 2000), st.integers(-200, 2000))
def test_value_and_unit_live_on_from_question_to_question(first, second):
    conversation = Conversation(celsius_to_fahrenheit)
    conversation.ask(f"convert {first} celsius to fahrenheit")
    kelvin = conversation.ask("and now in Kelvin")
    assert [("celsius_to_kelvin", {"celsius": first})] == kelvin.calls
    assert f"I read this as: convert {first} celsius to kelvin." in kelvin.thinking
    other = conversation.ask(f"and for {second}?")
    assert [("celsius_to_kelvin", {"celsius": second})] == other.calls
    back = conversation.ask("and in °F?")
    assert [("celsius_to_fahrenheit", {"celsius": second})] == back.calls
    assert f"{second:,} °C" in back.reply


@pytest.mark.parametrize(
    "earlier, follow_up, expected",
    [
        ("convert 30 celsius to fahrenheit", "and 40 in kelvin?", "convert 40 celsius to kelvin"),
        ("convert 30 celsius to fahrenheit", "what about 86 °F in kelvin", "convert 86 fahrenheit to kelvin"),
        ("10 km in miles", "in yards", "convert 10 kilometres to yards"),
        ("10 km in miles", "for 12", "convert 12 kilometres to miles"),
        ("10 km in miles", "and for 3 furlongs?", "convert 3 furlongs to miles"),
        ("is 2024 a leap year?", "and 2025?", "is 2025 a leap year?"),
        ('how many vowels are in "banana"?', 'the same for "kiwi"', 'how many vowels are in "kiwi"?'),
        ("the mean of mph by vehicle in trips?", "and the median?", "the median of mph by vehicle in trips?"),
        ("the mean of mph in trips?", "and by vehicle?", "the mean of mph by vehicle in trips?"),
        ("the mean of mph by vehicle in trips?", "the same by city", "the mean of mph by city in trips?"),
        ("the mean of mph by vehicle in trips?", "the same for cars", "the mean of mph by vehicle in cars?"),
    ],
)  # fmt: skip
def test_a_follow_up_changes_one_thing_in_the_question_before_it(earlier, follow_up, expected):
    assert expected == complete(follow_up, Past(question=earlier), Lexicon())


@pytest.mark.parametrize(
    "prompt",
    [
        "now convert 5 km to miles",
        "and thanks",
        "how many vowels are in 'banana'?",
        "in the beginning was the word",
        "for whom the bell tolls",
        "",
        "and",
        "x" * 5000,
    ],
)
def test_a_question_that_stands_for_itself_is_left_alone(prompt):
    assert prompt == complete(prompt, Past(question="10 km in miles"), Lexicon())


def test_the_reply_alone_is_enough_to_follow():
    conversation = Conversation(celsius_to_fahrenheit)
    conversation.messages = [
        {"role": "user", "content": "warm today, isn't it?"},
        {"role": "assistant", "content": "It is **31.5 °C** outside."},
    ]
    assert [("celsius_to_fahrenheit", {"celsius": 31.5})] == conversation.ask("and in Fahrenheit?").calls


def test_the_calls_alone_are_enough_to_follow():
    conversation = Conversation(celsius_to_fahrenheit)
    call = {"id": "1", "name": "thermometer", "arguments": {"celsius": 12}}
    conversation.messages = [
        {"role": "user", "content": "measure"},
        {"role": "assistant", "content": "", "tool_calls": [call]},
        {"role": "tool", "tool_call_id": "1", "content": '{"result": 1, "ok": true}'},
        {"role": "assistant", "content": "Done."},
    ]
    assert [("celsius_to_fahrenheit", {"celsius": 12})] == conversation.ask("and now in Fahrenheit").calls


def test_the_argument_of_the_last_call_is_what_changes():
    @tool
    def weather(city: str) -> str:
        """The weather in a city."""
        return f"rain in {city}"

    conversation = Conversation(weather)
    conversation.ask("what is the weather like in Kiel today?")
    assert [("weather", {"city": "New York"})] == conversation.ask("and in New York?").calls
    assert [("weather", {"city": "Bonn"})] == conversation.ask("the same for Bonn").calls


def test_a_row_of_the_last_result_answers_for_itself():
    @tool
    def speeds() -> dict[str, float]:
        """The speeds of vehicles."""
        return {"van": 34.2, "car": 41.5}

    conversation = Conversation(speeds)
    conversation.ask("speeds of vehicles")
    answer = conversation.ask("and for cars?")
    assert [] == answer.calls
    assert "car has **41.5**" in answer.reply


def test_definitions_of_earlier_prompts_still_hold():
    conversation = Conversation(word_count)
    conversation.ask("A glim is 2.5 litres.")
    answer = conversation.ask("how many glims are 10 litres?")
    assert "**4 glims**" in answer.reply


def test_a_follow_up_of_nothing_is_said_to_be_one():
    reply = Conversation().ask("and now in Kelvin").reply
    assert "“and now in Kelvin” reads like a follow-up" in reply


def test_made_up_units_follow_too():
    conversation = Conversation(word_count)
    conversation.ask("a blorp is 3.7 metres; how many blorps is 10 km?")
    reply = conversation.ask("and for 20 km?").reply
    shown = float(reply.split("**")[1].split()[0].replace(",", ""))
    assert math.isclose(20_000 / 3.7, shown, rel_tol=1e-4)
