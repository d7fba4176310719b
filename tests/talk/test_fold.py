"""The same facts give the same turn, whoever folds them and whatever was played between them."""

from __future__ import annotations

import json
from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from agent_magics.talk import (
    Approval,
    ApprovalGiven,
    Noticed,
    ReplyReceived,
    Retry,
    Saying,
    Stage,
    StageDone,
    ToolCall,
    ToolCalled,
    ToolMade,
    ToolResult,
    ToolReturned,
    TurnBegan,
    TurnEnded,
    Usage,
    advance,
    fold,
)
from agent_magics.talk.codec import decode, encode
from tests import strategies

BEGAN = TurnBegan(turn="t1", prompt="How far?", provider="demo", model="rules", at=10.0, cell="c7")
REPLY = ReplyReceived(
    step=0,
    text="Let me see.",
    thinking="hm",
    calls=(ToolCall(id="a", name="ruler"), ToolCall(id="b", name="clock")),
    stop="tool_calls",
    usage=Usage(input=10, output=4),
    seconds=1.5,
    at=12.0,
)
CALLED = [ToolCalled(call=call, shown=call.name, at=12.1) for call in REPLY.calls]
ENDED = TurnEnded(stop="done", reply="42 km", usage=Usage(input=30, output=9), seconds=3.0, at=13.0)


@given(st.data())
def test_deltas_make_no_difference(data):
    facts = data.draw(strategies.turns_told())
    assert fold(facts) == fold(data.draw(strategies.with_deltas(facts)))


@given(strategies.turns_told())
def test_facts_that_were_stored_give_the_turn_that_was_watched(facts):
    stored = [json.dumps(encode(fact)) for fact in facts]
    assert fold(facts) == fold(decode(json.loads(line)) for line in stored)


@given(strategies.turns_told(), st.integers(0, 30))
def test_a_fold_can_be_interrupted_and_go_on(facts, at):
    turn = None
    for fact in facts[:at]:
        turn = advance(turn, fact)
    for fact in facts[at:]:
        turn = advance(turn, fact)
    assert fold(facts) == turn


@given(st.lists(strategies.FACTS | strategies.DELTAS, max_size=12))
def test_events_in_any_order_never_break_a_fold(events):
    assert "t1" == fold([BEGAN, *(event for event in events if not isinstance(event, TurnBegan))]).id


def test_a_turn_holds_what_its_events_said():
    returned = ToolReturned(id="b", result=ToolResult(ok=True, text='{"ok": true}'), seconds=0.5, at=12.9)
    turn = fold([BEGAN, REPLY, *CALLED, returned, Noticed(text="careful", at=12.95), ENDED])
    assert ("How far?", "demo", "rules", "c7") == (turn.prompt, turn.provider, turn.model, turn.cell)
    assert ("42 km", "done", Usage(input=30, output=9), 3.0) == (
        turn.reply,
        turn.stop,
        turn.usage,
        turn.seconds,
    )
    assert ["ruler", "clock"] == [call.name for call in turn.calls]
    assert [None, returned.result] == [call.result for call in turn.calls]
    assert ("careful",) == turn.notices
    assert turn.ok
    assert "42 km" == str(turn)


def test_the_time_that_a_call_waited_for_a_person_is_not_its_own():
    approved = ApprovalGiven(
        id="q", call_id="a", decision="approve", by="you", sha256="", seconds=60.0, at=72.0, comment="fine"
    )
    returned = ToolReturned(id="a", result=ToolResult(ok=True, text="{}"), seconds=62.0, at=74.0)
    call = fold([BEGAN, REPLY, *CALLED, approved, returned]).calls[0]
    assert 2.0 == call.seconds
    assert Approval(decision="approve", by="you", comment="fine", seconds=60.0, at=12.0) == call.approval


def test_a_tool_that_was_made_is_named_by_the_call_that_made_it():
    made = ToolMade(id="b", name="stopwatch", version=1, sha256="", source="def ...", at=13.0)
    assert ["", "stopwatch"] == [call.made for call in fold([BEGAN, REPLY, *CALLED, made]).calls]


def test_call_ids_that_come_again_in_a_later_step_are_kept_apart():
    first = ToolReturned(id="a", result=ToolResult(ok=True, text="1"), seconds=0, at=13)
    second = ToolReturned(id="a", result=ToolResult(ok=True, text="2"), seconds=0, at=15)
    turn = fold([BEGAN, REPLY, CALLED[0], first, REPLY, CALLED[0], second])
    assert ["1", "2"] == [call.result.text for call in turn.calls if call.result]


def test_without_a_beginning_there_is_no_turn():
    with pytest.raises(ValueError, match="none of them is TurnBegan"):
        fold([Saying(text="hi"), ENDED])


def test_the_stages_of_a_made_tool_stay_with_the_call_that_made_it():
    wrote = Usage(input=100, output=50)
    stages = [
        StageDone(
            id="b",
            tool="area",
            stage="draft",
            ok=True,
            seconds=2.0,
            at=14.0,
            model="openai:strong",
            usage=wrote,
        ),
        StageDone(id="b", tool="area", stage="check", ok=False, detail="no eval", seconds=0.5, at=14.5),
    ]
    turn = fold([BEGAN, REPLY, *CALLED, *stages])
    expected = (
        Stage(tool="area", name="draft", ok=True, seconds=2.0, at=12.0, model="openai:strong", usage=wrote),
        Stage(tool="area", name="check", ok=False, detail="no eval", seconds=0.5, at=14.0),
    )
    assert expected == turn.calls[1].stages
    assert REPLY.usage + wrote == turn.usage


def test_every_answer_about_a_call_is_kept_and_none_of_the_waiting_is_its_own_time():
    def given(decision, seconds, at):
        return ApprovalGiven(
            id="q", call_id="a", decision=decision, by="you", sha256="", seconds=seconds, at=at
        )

    returned = ToolReturned(id="a", result=ToolResult(ok=True, text="{}"), seconds=30.0, at=44.0)
    told = [BEGAN, REPLY, *CALLED, given("edit", 20.0, 34.0), given("approve", 8.0, 43.0), returned]
    call = fold(told).calls[0]
    assert ["edit", "approve"] == [answer.decision for answer in call.approvals]
    assert [14.0, 35.0] == [answer.at for answer in call.approvals]
    assert call.approval is not None
    assert "approve" == call.approval.decision
    assert 2.0 == call.seconds


def test_a_step_knows_when_it_began_and_which_tries_failed_before():
    retry = Retry(after=0.4, delay=1.0, why="529")
    step = fold([BEGAN, replace(REPLY, at=12.5, seconds=2.0, retries=(retry,))]).steps[0]
    assert (10.5, (retry,)) == (step.at, step.retries)
