"""L11: a cancelled turn ends within half a second, whatever it was doing, and the next one works."""

from __future__ import annotations

import asyncio
import threading
import time
from typing import Any

import pytest

from agent_magics import tool
from agent_magics.agent.background import background
from agent_magics.talk import (
    ApprovalAsked,
    ApprovalGiven,
    RequestSent,
    Saying,
    ToolCall,
    ToolCalled,
    Turn,
    TurnBegan,
    TurnEnded,
)
from agent_magics.testing import Hang, RecordingView
from tests.patience import Asking, until
from tests.strict import check_messages

SOON = 1.5
"""Seconds: the promised half, and one more for a busy machine; `bench_loop` measures how long it takes."""


class Stuck:
    """Tools that wait, each in its own way, until they are let go."""

    def __init__(self) -> None:
        self.go = threading.Event()
        self.running = threading.Event()
        self.cleaned = threading.Event()

        @tool(parallel_safe=True)
        def sleep() -> str:
            self.running.set()
            assert self.go.wait(10)
            return "slept"

        @tool(parallel_safe=True)
        async def doze() -> None:
            self.running.set()
            try:
                await asyncio.sleep(60)
            finally:
                self.cleaned.set()

        @tool
        async def stubborn() -> None:
            self.running.set()
            while not self.go.is_set():
                try:
                    await asyncio.sleep(0.05)
                except asyncio.CancelledError:
                    continue

        @tool(asks=True)
        def remove(path: str) -> str:
            raise AssertionError("must not run")

        self.tools = [sleep, doze, stubborn, remove]


@pytest.fixture
def stuck():
    made = Stuck()
    yield made
    made.go.set()


def cancelled(session: Any, view: RecordingView, when: Any) -> Turn:
    """Ask, cancel as soon as ``when`` holds, and check that the turn ended soon."""
    asking = Asking(lambda: session.ask("go", on_event=view))
    until(when, "the turn to get there")
    began = time.monotonic()
    session.cancel()
    turn = asking.end()
    assert time.monotonic() - began < SOON
    assert isinstance(turn, Turn)
    assert "cancelled" == turn.stop
    assert [TurnEnded] == [type(event) for event in view.events if isinstance(event, TurnEnded)]
    assert isinstance(view.events[-1], TurnEnded)
    return turn


def next_turn_works(session: Any) -> None:
    assert "Hello again!" == session.ask("again").reply
    check_messages(session.provider.requests[-1][0])


def test_while_the_model_speaks_its_text_is_kept_and_its_stream_closed(make):
    session, view = make([Saying(text="Once upon"), Hang()], "Hello again!"), RecordingView()
    turn = cancelled(session, view, lambda: view.of(Saying))
    assert ("Once upon", "cancelled", 1) == (turn.reply, turn.steps[0].stop, session.provider.closed)
    next_turn_works(session)


def test_before_the_model_says_anything(make):
    session, view = make([Hang()], "Hello again!"), RecordingView()
    assert "" == cancelled(session, view, lambda: view.of(RequestSent)).reply
    next_turn_works(session)


def test_a_synchronous_tool_is_left_behind_and_that_is_said(make, stuck):
    session, view = make(ToolCall(id="c", name="sleep"), "Hello again!", tools=stuck.tools), RecordingView()
    turn = cancelled(session, view, stuck.running.is_set)
    assert (
        "sleep could not be interrupted: it was left behind; its result will be discarded.",
    ) == turn.notices
    assert [(True, False)] == [(call.stopped, call.ok) for call in turn.calls]
    next_turn_works(session)


def test_an_async_tool_is_cancelled_and_cleans_up(make, stuck):
    session, view = make(ToolCall(id="c", name="doze"), "Hello again!", tools=stuck.tools), RecordingView()
    turn = cancelled(session, view, stuck.running.is_set)
    assert ((), True) == (turn.notices, stuck.cleaned.is_set())
    next_turn_works(session)


def test_an_async_tool_that_will_not_be_cancelled_is_left_behind(make, stuck):
    session, view = (
        make(ToolCall(id="c", name="stubborn"), "Hello again!", tools=stuck.tools),
        RecordingView(),
    )
    turn = cancelled(session, view, stuck.running.is_set)
    assert "stubborn could not be interrupted" in turn.notices[0]
    next_turn_works(session)


def test_while_somebody_is_asked_the_question_is_closed_too(make, stuck):
    session = make(
        ToolCall(id="c", name="remove", arguments={"path": "x"}), "Hello again!", tools=stuck.tools
    )
    view = RecordingView()
    turn = cancelled(session, view, lambda: view.of(ApprovalAsked))
    (given,) = view.of(ApprovalGiven)
    assert ("reject", "interrupt") == (given.decision, given.by)
    approval = turn.calls[0].approval
    assert approval
    assert ("reject", "interrupt") == (approval.decision, approval.by)
    next_turn_works(session)


def test_the_next_turn_can_ask_again_after_one_was_cancelled_while_it_asked(make, stuck):
    call = ToolCall(id="c", name="remove", arguments={"path": "x"})
    session, view = make(call, call, "Hello again!", tools=stuck.tools), RecordingView()
    first = cancelled(session, view, lambda: view.of(ApprovalAsked))
    again = RecordingView()
    second = cancelled(session, again, lambda: again.of(ApprovalAsked))
    assert [first, second] == session.conversation.turns
    assert 1 == len(again.of(ApprovalAsked))
    next_turn_works(session)


def test_of_several_calls_each_has_a_result_also_those_that_had_not_begun(make, stuck):
    calls = [
        ToolCall(id="a", name="sleep"),
        ToolCall(id="b", name="doze"),
        ToolCall(id="c", name="remove", arguments={"path": "x"}),
    ]
    session, view = make(calls, "Hello again!", tools=stuck.tools), RecordingView()
    turn = cancelled(session, view, lambda: len(view.of(ToolCalled)) == 2)
    assert ["a", "b", "c"] == sorted(call.id for call in turn.calls)
    assert all(call.stopped for call in turn.calls)
    next_turn_works(session)


def test_a_provider_that_will_not_close_is_left_behind(make):
    go = threading.Event()

    class Clinging:
        name, model, window = "clinging", "m", 0

        async def fetch(self, messages, tools, *, schema=None):
            try:
                yield Saying(text="Once")
                await asyncio.Event().wait()
            finally:
                while not go.is_set():  # noqa: ASYNC110  # set by another thread
                    await asyncio.sleep(0.01)
                yield Saying(text=" too late")

        async def aclose(self) -> None: ...

    session, view = make(provider=Clinging()), RecordingView()
    try:
        turn = cancelled(session, view, lambda: view.of(Saying))
        assert ("Once", "clinging did not end its request at once: left behind.") == (
            turn.reply,
            turn.notices[0],
        )
    finally:
        go.set()
    assert ["Once"] == [event.text for event in view.of(Saying)]


def test_twice_is_the_same_as_once(make, stuck):
    session, view = make(ToolCall(id="c", name="doze"), "Hello again!", tools=stuck.tools), RecordingView()
    asking = Asking(lambda: session.ask("go", on_event=view))
    until(stuck.running.is_set)
    for _ in range(5):
        session.cancel()
    assert "cancelled" == asking.end().stop
    next_turn_works(session)


def test_a_cancelled_session_that_does_nothing_takes_the_next_turn(make):
    session = make("Hello!")
    session.cancel()
    session.stop()
    assert "Hello!" == session.ask("hi").reply


def test_from_a_view_on_the_agents_thread(make):
    session = make([Saying(text="a"), Hang()], "Hello again!")
    turn = session.ask("go", on_event=lambda event: session.cancel() if isinstance(event, Saying) else None)
    assert "cancelled" == turn.stop
    next_turn_works(session)


@pytest.mark.parametrize("kind", [TurnBegan, RequestSent, Saying, ToolCalled, TurnEnded])
def test_at_any_event_the_turn_ends_once_and_the_next_one_works(make, stuck, kind):
    stuck.go.set()
    session = make(
        [Saying(text="a"), ToolCall(id="c", name="sleep")], *["Hello again!"] * 2, tools=stuck.tools
    )
    view = RecordingView()
    session.subscribe(view)
    remove = session.subscribe(lambda event: session.cancel() if isinstance(event, kind) else None)
    turn = session.ask("go")
    remove()
    assert turn.stop == ("done" if kind is TurnEnded else "cancelled")
    assert 1 == len(view.of(TurnEnded))
    session.ask("again")
    check_messages(session.provider.requests[-1][0])


# -- before it has begun ---------------------------------------------------------------------------


def test_a_turn_that_is_cancelled_at_once_never_asks_the_model(make):
    session, view = make("Hello again!"), RecordingView()
    blocked, go = threading.Event(), threading.Event()

    def block() -> None:
        blocked.set()
        assert go.wait(10)

    background.loop.call_soon_threadsafe(block)
    until(blocked.is_set)
    future = session.start("go", view)
    session.cancel()
    go.set()
    turn = future.result(10)
    assert ("go", "cancelled", ()) == (turn.prompt, turn.stop, turn.steps)
    assert [TurnBegan, TurnEnded] == [type(event) for event in view.events]
    assert [] == session.provider.requests == session.conversation.turns
    assert "Hello again!" == session.ask("again").reply


def test_a_turn_that_waits_can_be_taken_back_and_the_running_one_goes_on(make, stuck):
    session = make(ToolCall(id="c", name="sleep"), "Hello!", tools=stuck.tools)
    first = Asking(lambda: session.ask("first"))
    until(stuck.running.is_set)

    async def take_back() -> None:
        second = asyncio.create_task(session.ask_async("second"))
        await asyncio.sleep(0.01)
        second.cancel()
        with pytest.raises(asyncio.CancelledError):
            await second

    asyncio.run(take_back())
    stuck.go.set()
    assert ("done", "Hello!") == ((turn := first.end()).stop, turn.reply)
    assert ["first"] == [turn.prompt for turn in session.conversation.turns]


def test_cancel_stops_those_that_wait_as_well(make, stuck):
    session = make(ToolCall(id="c", name="sleep"), "Hello again!", tools=stuck.tools)
    asking = [Asking(lambda: session.ask("first"))]
    until(stuck.running.is_set)
    views = [RecordingView() for _ in range(3)]
    asking += [Asking(lambda view=view: session.ask("waits", on_event=view)) for view in views]
    until(lambda: len(session._line._all) == 4)
    session.cancel()
    assert ["cancelled"] * 4 == [each.end().stop for each in asking]
    assert [[TurnBegan, TurnEnded]] * 3 == [[type(event) for event in view.events] for view in views]
    assert 1 == len(session.conversation.turns)
    next_turn_works(session)


def test_an_await_that_is_cancelled_cancels_its_turn(make, stuck):
    session = make(ToolCall(id="c", name="doze"), "Hello again!", tools=stuck.tools)

    async def ask() -> None:
        task = asyncio.create_task(session.ask_async("go"))
        while not stuck.running.is_set():  # noqa: ASYNC110  # set by another thread
            await asyncio.sleep(0.002)
        task.cancel()
        with pytest.raises(asyncio.CancelledError):
            await task

    asyncio.run(asyncio.wait_for(ask(), 10))
    assert "cancelled" == session.turn.stop
    assert not session.busy
    next_turn_works(session)


def test_a_stream_that_is_left_early_cancels_its_turn(make):
    session = make([Saying(text="a"), Saying(text="b"), Hang()], "Hello again!")

    async def leave() -> None:
        stream = session.stream("go")
        async for event in stream:
            if isinstance(event, Saying):
                break
        await stream.aclose()
        assert not session.busy

    asyncio.run(asyncio.wait_for(leave(), 10))
    assert "cancelled" == session.turn.stop
    next_turn_works(session)


# -- close -----------------------------------------------------------------------------------------


def test_close_cancels_what_runs_and_closes_the_provider_after_it(make, stuck):
    told: list[str] = []

    class Closing:
        name, model, window = "closing", "m", 0

        async def fetch(self, messages, tools, *, schema=None):
            try:
                yield Saying(text="a")
                await asyncio.sleep(60)
            finally:
                told.append("request")

        async def aclose(self) -> None:
            told.append("provider")

    session, view = make(provider=Closing()), RecordingView()
    asking = Asking(lambda: session.ask("go", on_event=view))
    until(lambda: view.of(Saying))
    session.close()
    assert "cancelled" == asking.end().stop
    assert ["request", "provider"] == told
    session.close()
    assert ["request", "provider"] == told


def test_close_also_takes_back_what_waits(make, stuck):
    session = make(ToolCall(id="c", name="sleep"), tools=stuck.tools)
    asking = [Asking(lambda: session.ask("first"))]
    until(stuck.running.is_set)
    asking.append(Asking(lambda: session.ask("second")))
    until(lambda: len(session._line._all) == 2)
    session.close()
    assert ["cancelled"] * 2 == [each.end().stop for each in asking]
    assert 1 == len(session.provider.requests)


def test_close_from_inside_a_tool_ends_the_turn_and_does_not_hang(make):
    session = make(ToolCall(id="c", name="leave"))

    @tool
    async def leave() -> str:
        session.close()
        await asyncio.sleep(60)
        return "left"

    session.toolbox.add(leave)
    assert "cancelled" == session.ask("leave").stop
