"""Tools that are missing: asked for with source, repaired, used, used again; or done without."""

from __future__ import annotations

import math

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tests.providers.demo.conversation import Conversation, Maker, celsius_to_fahrenheit, page_title

TAKEN = (
    "Attempt {tries} of 3 at {name}: the check rejected it. The name {name!r} is taken by another tool; "
    "choose another name. Mend it and call make_tool again."
)


@settings(max_examples=30)
@given(value=st.floats(0.1, 1e5).map(lambda value: round(value, 2)), size=st.integers(2, 99))
def test_a_missing_tool_is_made_and_called_with_the_values_of_the_prompt(value, size):
    maker = Maker()
    answer = maker.conversation.ask(f"A blorp is {size} metres; how many blorps is {value} km?")
    assert ["make_tool", "kilometres_to_blorps"] == answer.names
    assert {"kilometres": value} == answer.calls[1][1] == maker.drafts[0]["example"]
    shown = answer.reply.split("**")[1].split(" blorp")[0].replace(",", "")
    assert math.isclose(value * 1000 / size, float(shown), rel_tol=1e-3)
    assert "own rules" not in answer.reply


def test_a_tool_that_was_made_is_used_again():
    maker = Maker()
    assert ["make_tool", "count_vowels"] == maker.conversation.ask("how many vowels are in 'banana'?").names
    assert [("count_vowels", {"text": "kiwi"})] == maker.conversation.ask("and in 'kiwi'?").calls
    assert [("count_vowels", {"text": "plum"})] == maker.conversation.ask("count the vowels of 'plum'").calls


def test_a_tool_made_for_another_definition_is_not_used_for_this_one():
    maker = Maker()
    maker.conversation.ask("a blorp is 4 m; how many blorps is 1 km?")
    answer = maker.conversation.ask("a blorp is 5 m; how many blorps is 1 km?")
    assert ["make_tool", "kilometres_to_blorps_2"] == answer.names
    assert "**200 blorps**" in answer.reply
    again = maker.conversation.ask("and for 2 km?")
    assert ["kilometres_to_blorps_2"] == again.names
    assert "**400 blorps**" in again.reply


def test_a_name_that_is_taken_is_changed():
    def objects(draft):
        if draft["name"] == "celsius_to_kelvin":
            return {"error": TAKEN.format(tries=1, name=draft["name"]), "stage": "check", "attempts_left": 2}
        return None

    answer = Maker(objects).conversation.ask("convert 30 celsius to kelvin")
    assert ["make_tool", "make_tool", "celsius_to_kelvin_2"] == answer.names
    assert "def celsius_to_kelvin_2(celsius: float)" in answer.calls[1][1]["source"]
    assert "30 °C is **303.15 K**." == answer.reply


@pytest.mark.parametrize("limit", [1, 2, 3])
def test_no_more_attempts_are_made_than_are_told(limit):
    maker = Maker()

    def objects(draft):
        error = TAKEN.format(tries=len(maker.drafts), name=draft["name"]).replace("of 3", f"of {limit}")
        return {"error": error, "stage": "check"}

    maker._objects = objects
    answer = maker.conversation.ask("convert 30 celsius to kelvin")
    assert ["make_tool"] * limit == answer.names
    assert "30 °C is **303.15 K**." in answer.reply and "No tool could be made" in answer.reply


def test_what_the_check_says_otherwise_is_told_and_not_guessed_at():
    answer = Maker(
        lambda draft: {"error": "Line 4: nothing may be rounded here.", "stage": "check"}
    ).conversation.ask("how many vowels are in 'banana'?")
    assert ["make_tool"] == answer.names
    assert "Line 4: nothing may be rounded here" in answer.reply and "**3** vowels" in answer.reply


def test_a_hint_at_a_similar_tool_is_answered_once():
    def objects(draft):
        return (
            None
            if draft.get("anyway")
            else {"error": "There is a tool that does nearly this.", "similar": [{}]}
        )

    answer = Maker(objects).conversation.ask("convert 30 celsius to kelvin")
    assert ["make_tool", "make_tool", "celsius_to_kelvin"] == answer.names


def test_a_rejected_tool_is_not_asked_for_again():
    maker = Maker(lambda draft: {"error": "The user rejected this call: too long.", "rejected": True})
    answer = maker.conversation.ask("convert 30 celsius to kelvin")
    assert ["make_tool"] == answer.names
    assert "The tool was rejected" in answer.reply and "“too long”" in answer.reply


def test_without_make_tool_the_missing_tool_is_called_by_its_name_and_done_without():
    answer = Conversation(celsius_to_fahrenheit).ask("convert 30 celsius to kelvin")
    assert [("celsius_to_kelvin", {"celsius": 30})] == answer.calls
    assert "unknown tool" in answer.results[0]
    assert "30 °C is **303.15 K**." in answer.reply
    assert "There is no tool `celsius_to_kelvin` here." in answer.reply


def test_a_missing_tool_takes_the_result_of_one_that_is_there():
    answer = Conversation(page_title).ask("how many vowels are in the title of page Kiel?")
    assert [("page_title", {"page": "Kiel"}), ("count_vowels", {"text": "The story of Kiel"})] == answer.calls
    assert "**5** vowels in “The story of Kiel”" in answer.reply


def test_where_no_tool_may_be_called_the_rules_compute():
    answer = Conversation().ask("how many days are between 2024-02-01 and 2024-03-01?")
    assert [] == answer.calls
    assert "**29 days**" in answer.reply and "No tool may be called now." in answer.reply
