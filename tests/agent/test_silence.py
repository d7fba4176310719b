"""What is said when there is nothing to say, or too much to show."""

from __future__ import annotations

from agent_magics import Session
from agent_magics.testing import ScriptedProvider


def test_an_empty_answer_is_said_to_be_the_models():
    with Session(ScriptedProvider([""]), tool_making="off") as session:
        turn = session.ask("hi")
    assert ("done", "") == (turn.stop, turn.reply)
    assert ("The model answered with no text. Ask again, or in other words.",) == turn.notices


def test_an_answer_is_followed_by_no_notice():
    with Session(ScriptedProvider(["Hello."]), tool_making="off") as session:
        assert () == session.ask("hi").notices


def test_context_shows_the_ends_of_a_part_that_no_page_could_hold_and_its_true_size():
    with Session(ScriptedProvider(["a" + "b" * 500_000 + "c"]), tool_making="off") as session:
        session.ask("hi")
        shown = session.command("/context")
    assert "more characters" in shown and "| 500," in shown
    assert len(shown) < 100_000
