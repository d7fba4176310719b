"""Hypothesis strategies for the words of ``talk``: any JSON, any text, any event, any whole turn."""

from __future__ import annotations

from typing import Any, get_args

from hypothesis import settings
from hypothesis import strategies as st

from agent_magics.talk import (
    STOPS,
    Approval,
    ApprovalAsked,
    ApprovalGiven,
    CallRecord,
    Compacting,
    Decision,
    Event,
    Image,
    Noticed,
    Opaque,
    ReplyReceived,
    RequestSent,
    Retry,
    Retrying,
    Saying,
    Stage,
    StageDone,
    Step,
    Thinking,
    ToolCall,
    ToolCalled,
    ToolMade,
    ToolProgress,
    ToolResult,
    ToolReturned,
    Turn,
    TurnBegan,
    TurnEnded,
    Usage,
)

settings.register_profile("shared machine", deadline=None)  # a slow moment is not a bug
settings.load_profile("shared machine")

TEXT = st.text(max_size=30)
NUMBER = st.floats(allow_nan=False, allow_infinity=False)
JSON_VALUES = st.recursive(
    st.none() | st.booleans() | st.integers() | NUMBER | TEXT,
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(TEXT, inner, max_size=3),
    max_leaves=8,
)
OBJECTS = st.dictionaries(TEXT, JSON_VALUES, max_size=3)
DECISIONS = st.sampled_from(get_args(Decision))

CALLS = st.builds(ToolCall, id=TEXT, name=TEXT, arguments=OBJECTS, problem=TEXT)
RESULTS = st.builds(ToolResult, ok=st.booleans(), text=TEXT, size=st.integers(0), brief=TEXT, handle=TEXT)
REAL_RESULTS = st.sampled_from(
    (ToolResult(ok=True, text='{"result": 1, "ok": true}'), ToolResult(ok=False, text='{"error": "x"}'))
)
USAGES = st.builds(
    Usage, input=st.integers(0), output=st.integers(0), cached=st.integers(0), reasoning=st.integers(0)
)


def tuples(of: st.SearchStrategy[Any], most: int = 3) -> st.SearchStrategy[tuple[Any, ...]]:
    return st.lists(of, max_size=most).map(tuple)


IMAGES = st.builds(Image, media_type=TEXT, data=TEXT)
OPAQUES = st.builds(Opaque, provider=TEXT, block=JSON_VALUES)
APPROVALS = st.builds(
    Approval, decision=DECISIONS, by=TEXT, comment=TEXT, seconds=NUMBER, text=TEXT, at=NUMBER
)
RETRIES = st.builds(Retry, after=NUMBER, delay=NUMBER, why=TEXT)
STAGES = st.builds(
    Stage,
    tool=TEXT,
    name=TEXT,
    ok=st.booleans(),
    detail=TEXT,
    seconds=NUMBER,
    at=NUMBER,
    model=TEXT,
    usage=USAGES,
)
RECORDS = st.builds(
    CallRecord,
    call=CALLS,
    shown=TEXT,
    result=st.none() | RESULTS,
    approval=st.none() | APPROVALS,
    seconds=NUMBER,
    stopped=st.booleans(),
    made=TEXT,
    earlier=tuples(APPROVALS),
    stages=tuples(STAGES),
    at=NUMBER,
)
STEPS = st.builds(
    Step,
    text=TEXT,
    thinking=TEXT,
    calls=tuples(RECORDS),
    stop=TEXT,
    usage=USAGES,
    opaque=tuples(OPAQUES),
    seconds=NUMBER,
    first=NUMBER,
    thought=NUMBER,
    at=NUMBER,
    retries=tuples(RETRIES),
)
TURNS = st.builds(
    Turn,
    id=TEXT,
    prompt=TEXT,
    provider=TEXT,
    model=TEXT,
    steps=tuples(STEPS),
    reply=TEXT,
    stop=st.sampled_from(("", *STOPS)),
    usage=USAGES,
    error=TEXT,
    notices=tuples(TEXT),
    began=NUMBER,
    seconds=NUMBER,
    cell=TEXT,
    images=tuples(IMAGES),
    origin=TEXT,
    after=TEXT,
)

DELTAS: st.SearchStrategy[Event] = st.one_of(
    st.builds(Thinking, text=TEXT),
    st.builds(Saying, text=TEXT),
    st.builds(ToolProgress, id=TEXT, text=TEXT),
    st.builds(Compacting),
    st.builds(Retrying, attempt=st.integers(1, 3), tries=st.just(3), delay=NUMBER, why=TEXT),
)
BEGINNINGS = st.builds(
    TurnBegan,
    turn=TEXT,
    prompt=TEXT,
    provider=TEXT,
    model=TEXT,
    at=NUMBER,
    cell=TEXT,
    images=tuples(IMAGES, 2),
    origin=TEXT,
    after=TEXT,
    wanted=st.none() | OBJECTS,
)
ENDS = st.builds(
    TurnEnded,
    stop=st.sampled_from(STOPS),
    reply=TEXT,
    usage=USAGES,
    seconds=NUMBER,
    at=NUMBER,
    error=TEXT,
)
FACTS: st.SearchStrategy[Event] = st.one_of(
    BEGINNINGS,
    ENDS,
    st.builds(RequestSent, step=st.integers(0), provider=TEXT, model=TEXT, at=NUMBER),
    st.builds(
        ReplyReceived,
        step=st.integers(0),
        text=TEXT,
        thinking=TEXT,
        calls=tuples(CALLS),
        stop=TEXT,
        usage=USAGES,
        seconds=NUMBER,
        at=NUMBER,
        opaque=tuples(OPAQUES),
        first=NUMBER,
        thought=NUMBER,
        retries=tuples(RETRIES),
    ),
    st.builds(ToolCalled, call=CALLS, shown=TEXT, at=NUMBER),
    st.builds(
        ApprovalAsked,
        id=TEXT,
        call=CALLS,
        tool=TEXT,
        kind=st.sampled_from(("catalog", "generated")),
        reason=TEXT,
        source=TEXT,
        sha256=TEXT,
        at=NUMBER,
        facts=tuples(st.tuples(TEXT, TEXT)),
    ),
    st.builds(
        ApprovalGiven,
        id=TEXT,
        call_id=TEXT,
        decision=DECISIONS,
        by=TEXT,
        sha256=TEXT,
        seconds=NUMBER,
        at=NUMBER,
        comment=TEXT,
    ),
    st.builds(ToolReturned, id=TEXT, result=RESULTS, seconds=NUMBER, at=NUMBER, stopped=st.booleans()),
    st.builds(
        StageDone,
        id=TEXT,
        tool=TEXT,
        stage=TEXT,
        ok=st.booleans(),
        detail=TEXT,
        seconds=NUMBER,
        at=NUMBER,
        model=TEXT,
        usage=USAGES,
    ),
    st.builds(
        ToolMade,
        id=TEXT,
        name=TEXT,
        version=st.integers(1),
        sha256=TEXT,
        source=TEXT,
        at=NUMBER,
        schema=OBJECTS,
    ),
    st.builds(Noticed, text=TEXT, at=NUMBER),
)


SECONDS = st.floats(0, 1e4)
TOKENS = st.integers(0, 10**6)


@st.composite
def making_told(draw: st.DrawFn, call: ToolCall) -> list[Event]:
    """The facts of a tool that is made in a call: the stages that it passes, and perhaps that it is kept."""
    stage = st.builds(
        StageDone,
        id=st.just(call.id),
        tool=st.just("celsius"),
        stage=st.sampled_from(("draft", "check", "compile", "schema", "probe")),
        ok=st.booleans(),
        detail=st.sampled_from(("", "line 3: import os is not allowed")),
        seconds=SECONDS,
        at=st.just(2e9),
        model=st.sampled_from(("", "anthropic:m-1")),
        usage=st.builds(Usage, input=TOKENS, output=TOKENS),
    )
    made = ToolMade(id=call.id, name="celsius", version=1, sha256="0", source="def celsius(): ...", at=3.0)
    return [*draw(st.lists(stage, max_size=4)), *([made] if draw(st.booleans()) else [])]


@st.composite
def steps_told(draw: st.DrawFn, number: int) -> list[Event]:
    """The facts of one step: a request, its reply, and its calls in any order of coming back."""
    calls = [
        ToolCall(id=f"c{index}", name=f"tool_{index}", arguments=draw(OBJECTS))
        for index in range(draw(st.integers(0, 3)))
    ]
    reply = ReplyReceived(
        step=number,
        text=draw(TEXT),
        thinking=draw(TEXT),
        calls=tuple(calls),
        stop="tool_calls" if calls else "end",
        usage=draw(USAGES),
        seconds=1.0,
        at=2.0,
        retries=draw(tuples(st.builds(Retry, after=SECONDS, delay=SECONDS, why=st.just("overloaded")))),
    )
    making = [fact for call in calls for fact in draw(making_told(call))]
    returned = [ToolReturned(id=call.id, result=draw(REAL_RESULTS), seconds=1.0, at=3.0) for call in calls]
    called = [ToolCalled(call=call, shown=call.name, at=2.5) for call in calls]
    sent = RequestSent(step=number, provider="p", model="m", at=1.0)
    return [sent, reply, *called, *making, *draw(st.permutations(returned))]


@st.composite
def turns_told(draw: st.DrawFn) -> list[Event]:
    """The facts of one whole turn, as the loop tells them."""
    steps = [draw(steps_told(number)) for number in range(draw(st.integers(0, 4)))]
    return [draw(BEGINNINGS), *(fact for step in steps for fact in step), draw(ENDS)]


@st.composite
def with_deltas(draw: st.DrawFn, facts: list[Event]) -> list[Event]:
    """The same facts with deltas strewn between them."""
    told: list[Event] = []
    for fact in facts:
        told += [*draw(st.lists(DELTAS, max_size=3)), fact]
    return [*told, *draw(st.lists(DELTAS, max_size=3))]
