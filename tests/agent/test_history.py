"""Whatever ended a turn, a strict vendor takes the history that it leaves."""

from __future__ import annotations

import asyncio

from hypothesis import given, settings
from hypothesis import strategies as st

from agent_magics import tool
from agent_magics.agent.session import Session
from agent_magics.errors import Halt, Unreachable
from agent_magics.talk import (
    STOPS,
    RequestSent,
    Saying,
    Stop,
    Thinking,
    ToolCall,
    ToolCalled,
    ToolReturned,
    fold,
)
from agent_magics.testing import FakeAsker, Hang, RecordingView, ScriptedProvider
from tests.agent.conftest import OnlyObjects
from tests.strategies import OBJECTS
from tests.strict import check_messages


@tool(parallel_safe=True)
async def good(x: int = 0) -> int:
    await asyncio.sleep(0)
    return x


@tool
def bad() -> None:
    raise ValueError("bad")


@tool(parallel_safe=True)
def halting() -> None:
    raise Halt("Enough.")


@tool(asks=True)
def asking() -> None: ...


NAMES = st.sampled_from(["good", "bad", "halting", "asking", "nobody", "", "with.dots", "né"])
CALLS = st.builds(
    ToolCall,
    id=st.sampled_from(["", "a", "b", "c"]),
    name=NAMES,
    arguments=OBJECTS | st.just({}),
    problem=st.sampled_from(["", "", "The arguments are not JSON."]),
)
EVENTS = (
    st.builds(Saying, text=st.text(st.characters(), max_size=5))
    | st.builds(Thinking, text=st.text(max_size=3))
    | CALLS
    | CALLS
)
ENDS = st.sampled_from(
    [
        *[Stop(reason=reason) for reason in ("end", "tool_calls", "max_tokens", "refusal", "context_full")],
        Unreachable("Gone."),
        ValueError("garbage"),
        Hang(),
        None,
    ]
)


@st.composite
def replies(draw: st.DrawFn) -> list:
    end = draw(ENDS)
    return [*draw(st.lists(EVENTS, max_size=4)), *([] if end is None else [end])]


@settings(max_examples=150)
@given(st.lists(replies(), min_size=1, max_size=8), st.integers(1, 3))
def test_every_request_of_a_session_is_well_formed_and_every_turn_ends_once(script, max_rounds):
    provider = ScriptedProvider([*script, "Hello!"])
    session = Session(
        provider=provider,
        providers=OnlyObjects(),
        asker=FakeAsker("approve", "reject", "always"),
        tools=[good, bad, halting, asking],
        max_rounds=max_rounds,
        patience=5,
    )

    def cancel_what_hangs(event: object) -> None:
        at = len(provider.requests)
        hangs = at < len(script) and any(isinstance(each, Hang) for each in script[at])
        if hangs and isinstance(event, RequestSent):
            asyncio.get_running_loop().call_later(0.002, session.cancel)

    session.subscribe(cancel_what_hangs)
    try:
        for number in range(4):
            view = RecordingView()
            turn = session.ask(f"prompt {number}", on_event=view)
            assert turn.stop in STOPS
            assert turn == fold(view.events)
            assert [event.call.id for event in view.of(ToolCalled)] == [call.id for call in turn.calls]
            assert sorted(event.id for event in view.of(ToolReturned)) == sorted(
                call.id for call in turn.calls
            )
            assert len({call.id for call in turn.calls}) == len(turn.calls)
        for messages, _ in provider.requests:
            check_messages(messages)
    finally:
        session.close()
