"""M5: /trace tells of the turns of a session."""

from __future__ import annotations

from typing import Any

import pytest

from agent_magics import tool
from agent_magics.agent.commands.command import Report
from agent_magics.errors import UsageError
from agent_magics.talk import Retrying, Saying, Stop, ToolCall, Usage
from agent_magics.testing import FakeAsker


@tool(asks=True)
def remove(path: str) -> str:
    return "gone"


def reply(text: str, tokens: int):
    return [
        Retrying(attempt=2, tries=3, delay=0.0, why="529"),
        Saying(text=text),
        Usage(input=tokens, output=1),
        Stop(reason="end"),
    ]


@pytest.fixture
def session(make):
    call = [
        ToolCall(id="c", name="remove", arguments={"path": "x"}),
        Usage(input=5),
        Stop(reason="tool_calls"),
    ]
    made = make(
        call,
        reply("Done.", 10),
        reply("Hi.", 20),
        tools=[remove],
        asker=FakeAsker("approve"),
        price=lambda provider, model, usage: usage.total * 0.01,
    )
    made.ask("Remove x.")
    made.ask("Hello?")
    return made


def test_the_last_turn_is_shown_unless_another_is_named(session):
    assert session.command("/trace").startswith("**Turn 2** · Hello?")
    assert session.command("/trace 1").startswith("**Turn 1** · Remove x.")


def test_calls_answers_and_retries_are_told_with_tokens_and_cost(session):
    lines = session.command("/trace 1").split("\n")
    assert ["model script", "tool remove", "· waiting for you remove", "model script"] == [
        line.split("|")[1].strip() for line in lines if line.startswith("| ") and "---" not in line
    ][1:]
    assert "approve, by you" in lines[6]
    assert "10 → 1" in lines[7]
    assert "$0.1100" in lines[7]
    assert "1 retry: 529" in lines[7]
    assert "16 → 1 tokens" not in lines[-1]
    assert "15 → 1 tokens · cost $0.1600" in lines[-1]


def test_all_turns_have_a_line_each(session):
    said = session.command("/trace all")
    assert "| Remove x. |" in said
    assert "| Hello?    |" in said
    assert "35 → 2 tokens · cost $0.3700" in said
    assert isinstance(said, Report)
    about: Any = said.about
    assert [1, 2] == [told.number for told in about]


def test_an_unknown_price_is_called_unknown(make):
    session = make(reply("Hi.", 20))
    session.ask("Hello?")
    said = session.command("/trace")
    assert "cost unknown" in said
    assert "$0" not in said


def test_before_the_first_turn_there_is_nothing_to_trace(make):
    assert "no turn to trace" in make().command("/trace")


@pytest.mark.parametrize("words", ["0", "3", "-1", "last", "1 2"])
def test_a_turn_that_is_not_there_is_refused_with_those_that_are(session, words):
    with pytest.raises(UsageError, match="There are 2 turns") as error:
        session.command(f"/trace {words}")
    assert "/trace [N | all]" in error.value.remedy
