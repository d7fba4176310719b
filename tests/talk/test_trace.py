"""M5: where the time and the tokens of a turn went."""

from __future__ import annotations

import json

import pytest
from hypothesis import given

from agent_magics.talk import Approval, CallRecord, Retry, Stage, Step, ToolCall, ToolResult, Turn, Usage
from agent_magics.talk.codec import decode, encode
from agent_magics.talk.trace import Trace, free, trace
from tests import strategies

T = 1_790_000_000.0


def call(name: str, at: float = 0.0, *, ok: bool = True, **more) -> CallRecord:
    result = ToolResult(ok=ok, text="{}")
    return CallRecord(call=ToolCall(id=name, name=name), shown=name, result=result, at=at and T + at, **more)


def turn(*steps: Step, **more) -> Turn:
    fields = {"id": "t", "prompt": "go", "provider": "p", "model": "m", "began": T, "seconds": 20.0} | more
    return Turn(steps=steps, **fields)


def times(told: Trace) -> list[tuple[str, str, float, float]]:
    return [(span.kind, span.name, round(span.began, 3), round(span.seconds, 3)) for span in told.spans]


MADE = call(
    "make_tool",
    2.0,
    seconds=3.0,
    made="area",
    earlier=(Approval(decision="edit", by="you", seconds=4.0, at=T + 4.0),),
    approval=Approval(decision="approve", by="you", seconds=2.0, at=T + 9.0),
    stages=(
        Stage(
            tool="area", name="draft", ok=True, seconds=1.0, at=T + 2.0, model="big:x", usage=Usage(input=7)
        ),
        Stage(tool="area", name="check", ok=False, detail="no eval", seconds=0.5, at=T + 3.2),
        Stage(tool="area", name="save", ok=True, seconds=0.1, at=T + 10.9),
    ),
)


def test_every_provider_call_stage_tool_step_and_wait_has_its_place_in_time():
    told = trace(
        turn(Step(at=T + 0.5, seconds=1.5), Step(at=T + 12.0, seconds=2.0, calls=(call("b", 14.5),)))
    )
    assert [("model", "m", 0.5, 1.5), ("model", "m", 12.0, 2.0), ("tool", "b", 14.5, 0.0)] == times(told)
    told = trace(turn(Step(at=T, seconds=2.0, calls=(MADE,))))
    assert [
        ("model", "m", 0.0, 2.0),
        ("tool", "make_tool", 2.0, 9.0),
        ("stage", "draft", 2.0, 1.0),
        ("stage", "check", 3.2, 0.5),
        ("wait", "make_tool", 4.0, 4.0),
        ("wait", "make_tool", 9.0, 2.0),
        ("stage", "save", 10.9, 0.1),
    ] == times(told)
    assert [False, False, *[True] * 5] == [span.inner for span in told.spans]


def test_totals_count_a_tools_own_time_and_the_waiting_apart():
    told = trace(turn(Step(at=T, seconds=2.0, calls=(MADE,))))
    assert (2.0, 3.0, 6.0) == (told.time("model"), told.time("tool"), told.time("wait"))
    assert 20.0 == told.seconds


def test_retries_and_the_first_token_are_told():
    step = Step(at=T, seconds=5.0, first=3.0, retries=(Retry(after=0.5, delay=1.0, why="529"),))
    span = trace(turn(step)).spans[0]
    assert (3.0, ((0.5, 1.0),), "1 retry: 529") == (span.first, span.gaps, span.note)


def test_what_was_rejected_failed_or_stopped_is_told():
    rejected = call(
        "a", 1.0, ok=False, approval=Approval(decision="reject", by="you", comment="not now", at=T + 1)
    )
    stopped = call("b", 2.0, ok=False, stopped=True)
    spans = trace(turn(Step(calls=(rejected, stopped), stop="failed"))).spans
    assert [False] * 4 == [span.ok for span in spans]
    assert ["failed", "failed", "reject, by you: not now", "stopped"] == [span.note for span in spans]


def test_turns_that_know_no_times_are_laid_end_to_end():
    told = trace(turn(Step(seconds=2.0, calls=(call("a", seconds=1.0),)), Step(seconds=0.5), seconds=4.0))
    assert [("model", "m", 0.0, 2.0), ("tool", "a", 2.0, 1.0), ("model", "m", 3.0, 0.5)] == times(told)


def test_a_trace_is_the_same_after_the_turn_was_kept():
    whole = turn(Step(at=T, seconds=2.0, calls=(MADE,)))
    assert trace(whole) == trace(decode(json.loads(json.dumps(encode(whole)))))


@given(strategies.TURNS)
def test_any_turn_has_a_trace(told):
    spans = trace(told).spans
    assert len(told.steps) + len(told.calls) <= len(spans)


# -- money -----------------------------------------------------------------------------------------


def price(provider: str, model: str, usage: Usage) -> float | None:
    return {"p": 0.5, "big": 2.0, "demo": 0.0}.get(provider) and usage.total * 0.5


def test_the_cost_of_each_model_is_its_own():
    told = trace(turn(Step(at=T, usage=Usage(input=10), calls=(MADE,))), price)
    assert [5.0, 0.0, 3.5, 0.0, 0.0, 0.0, 0.0] == [span.cost for span in told.spans]
    assert 8.5 == told.cost


@pytest.mark.parametrize("usage", [Usage(input=10), Usage()])
def test_an_unknown_price_stays_unknown(usage):
    assert trace(turn(Step(usage=usage), provider="nobody"), lambda *_: None).cost is None


def test_tokens_that_nobody_told_cost_nothing_only_where_nothing_does():
    assert trace(turn(Step()), lambda *_: 0.0).cost == 0.0
    assert trace(turn(Step()), lambda p, m, usage: usage.total * 0.1).cost is None
    assert free("demo", "rules", lambda *_: 0.0)
    assert not free("p", "m", lambda *_: None)
