"""Small talk and sums, and the honest end of the rules."""

from __future__ import annotations

import math

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from agent_magics.providers.demo.calculating import work_out
from agent_magics.tools.tool import Tool, tool
from tests.providers.demo.conversation import Conversation, celsius_to_fahrenheit, word_count

SAYS_WHAT_IT_IS = "I am a rule-based demonstration, not a language model"


@pytest.mark.parametrize(
    "prompt", ["hello", "Hi there!", "Good morning", "what can you do?", "who are you?", "", "  "]
)
def test_it_says_what_it_is(prompt):
    assert SAYS_WHAT_IT_IS in Conversation().ask(prompt).reply


@pytest.mark.parametrize("prompt", ["hello", "convert 1 m to km", "write a poem"])
def test_its_thinking_says_what_it_is_and_why_it_does_what_it_does(prompt):
    thinking = Conversation(word_count).ask(prompt).thinking
    assert "I go by rules; I am a demonstration and no language model." in thinking
    assert len(thinking) > 70


@settings(max_examples=50)
@given(st.lists(st.from_regex(r"[a-z]{3,8}_[a-z]{3,8}", fullmatch=True), unique=True, max_size=5))
def test_the_tools_that_it_lists_are_those_that_it_was_given(names):
    tools = [Tool(name=name, description=f"Does {name}.", handler=lambda: None) for name in names]
    reply = Conversation(*tools).ask("what can you do?").reply
    assert names == [
        line.split("`")[1].split("(")[0]
        for line in reply.splitlines()
        if line.endswith("_.") or "`: Does " in line
    ]
    assert ("I was given no tools." in reply) == (not names)


def test_a_greeting_before_a_request_does_not_hide_it():
    answer = Conversation(celsius_to_fahrenheit).ask(
        "Hello! Please convert 30 celsius to fahrenheit, thanks."
    )
    assert [("celsius_to_fahrenheit", {"celsius": 30})] == answer.calls


def test_what_no_rule_fits_is_admitted_with_what_would_work():
    reply = Conversation(word_count, celsius_to_fahrenheit).ask("count my blessings").reply
    assert f"{SAYS_WHAT_IT_IS}, and none of my rules fits this prompt." in reply
    assert "The tool that comes closest is `word_count(text: string)`" in reply
    assert "`word_count` and `celsius_to_fahrenheit`" in reply


def test_a_tool_with_an_everyday_name_is_not_meant_by_everyday_words():
    def write(path: str, content: str) -> str:
        """Write a file."""
        return "written"

    conversation = Conversation(tool(write))
    assert "none of my rules fits" in conversation.ask("write a poem").reply
    assert [("write", {"path": "a.txt", "content": "hello"})] == conversation.ask(
        'write "hello" to a.txt'
    ).calls


expressions = st.recursive(
    st.integers(0, 999).map(str),
    lambda inner: st.builds("({} {} {})".format, inner, st.sampled_from("+-*/"), inner),
    max_leaves=6,
)


@settings(max_examples=50)
@given(expressions.filter(lambda text: "(" in text and len(text) < 150))
def test_sums_are_worked_out(expression):
    found = work_out(f"What is {expression}?")
    assert found is not None
    try:
        expected = eval(expression)
    except ZeroDivisionError:
        assert "divided by zero" in found.told
        return
    assert math.isclose(expected, found.value)


@pytest.mark.parametrize(
    "prompt, told",
    [
        ("what is 15% of 80", "**12**"),
        ("calculate seven times 6".replace("seven", "7"), "**42**"),
        ("12 divided by 4", "**3**"),
        ("square root of 144", "**12**"),
        ("what is 2 to the power of 10?", "**1,024**"),
        ("1,000 + 1", "**1,001**"),
        ("round 3.14159 to 2 decimals", "**3.14**"),
        ("2 ** 100", "**1,267,650,600,228,229,401,496,703,205,376**"),
        ("9 ** 9 ** 9 ** 9", "has no value: its power has over"),
        ("1/0", "has no value: nothing can be divided by zero"),
    ],
)
def test_sums_may_be_said_in_words(prompt, told):
    assert told in Conversation().ask(prompt).reply


@pytest.mark.parametrize(
    "prompt", ["__import__('os')", "2024-05-03", "12:30", "+49 40 1234", "3.14", "(1", "x + 1", "1 + "]
)
def test_what_is_no_sum_is_not_worked_out(prompt):
    assert work_out(prompt) is None
