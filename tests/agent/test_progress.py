"""A running tool says how far it is: on the agent's thread, in order, and only while it runs."""

from __future__ import annotations

import asyncio
import threading

import pytest

from agent_magics import tool
from agent_magics.talk import ToolCall, ToolCalled, ToolProgress, ToolReturned, TurnEnded
from agent_magics.testing import FakeWorkbench, RecordingView
from agent_magics.tools.running import progress, running_call
from tests.patience import Asking, until


def test_outside_of_a_call_it_does_nothing():
    progress("anything")
    assert running_call() is None


@pytest.mark.parametrize("kind", ["sync", "async", "needs_kernel"])
def test_progress_is_told_between_call_and_result_on_the_agents_thread(make, kind):
    threads: set[int] = set()

    @tool(needs_kernel=kind == "needs_kernel")
    def count() -> str:
        for number in range(3):
            progress(f"{number} of 3")
        return "counted"

    @tool(name="count")
    async def count_async() -> str:
        for number in range(3):
            await asyncio.sleep(0)
            progress(f"{number} of 3")
        return "counted"

    made = count_async if kind == "async" else count
    session = make(ToolCall(id="c1", name="count"), "ok", tools=[made], workbench=FakeWorkbench())
    view = RecordingView()
    session.subscribe(lambda event: threads.add(threading.get_ident()))
    session.ask("go", on_event=view)
    told = view.of(ToolCalled, ToolProgress, ToolReturned)
    assert [ToolCalled, *[ToolProgress] * 3, ToolReturned] == [type(event) for event in told]
    assert [("c1", f"{n} of 3") for n in range(3)] == [(each.id, each.text) for each in view.of(ToolProgress)]
    assert 1 == len(threads)
    assert threading.get_ident() not in threads


def test_calls_that_run_together_speak_each_for_itself(make):
    @tool(parallel_safe=True)
    def say(text: str) -> None:
        progress(text)

    calls = [ToolCall(id=text, name="say", arguments={"text": text}) for text in "abcd"]
    view = RecordingView()
    make(calls, "ok", tools=[say]).ask("go", on_event=view)
    assert [("a", "a"), ("b", "b"), ("c", "c"), ("d", "d")] == sorted(
        (p.id, p.text) for p in view.of(ToolProgress)
    )


def test_a_tool_that_was_left_behind_is_not_heard_any_more(make):
    running, go, spoke = threading.Event(), threading.Event(), threading.Event()

    @tool
    def talk() -> None:
        running.set()
        assert go.wait(10)
        progress("still here")
        spoke.set()

    session, view = make(ToolCall(id="c", name="talk"), "Hello again!", tools=[talk]), RecordingView()
    session.subscribe(view)
    asking = Asking(lambda: session.ask("go"))
    until(running.is_set)
    session.cancel()
    assert "cancelled" == asking.end().stop
    go.set()
    until(spoke.is_set)
    session.ask("again")
    assert [] == view.of(ToolProgress)
    assert isinstance(view.events[-1], TurnEnded)
