"""Other people's code, awaited: it neither blocks the loop nor outlives its welcome."""

from __future__ import annotations

import asyncio
import threading
import time
import weakref
from contextvars import ContextVar

import pytest

from agent_magics.tools.tasks import in_task
from agent_magics.tools.threads import in_thread
from tests.patience import PROMPT

word: ContextVar[str] = ContextVar("word", default="")


async def test_a_thread_runs_beside_the_loop():
    go = threading.Event()

    def work() -> str:
        assert go.wait(5)
        return threading.current_thread().name

    running = asyncio.create_task(in_thread(work))
    await asyncio.sleep(0)
    go.set()
    assert "agent-tool" == await running


async def test_a_thread_whose_call_has_ended_takes_the_next_one():
    first = await in_thread(threading.get_ident)
    assert first == await in_thread(threading.get_ident)


async def test_an_abandoned_call_does_not_hold_up_the_next_one():
    go = threading.Event()
    abandoned = asyncio.create_task(in_thread(lambda: go.wait(5)))
    await asyncio.sleep(0)
    abandoned.cancel()
    assert "free" == await asyncio.wait_for(in_thread(lambda: "free"), 2)
    go.set()


async def test_a_thread_sees_the_context_of_its_caller():
    word.set("hello")
    assert "hello" == await in_thread(word.get)


async def test_a_thread_that_is_left_behind_ends_in_silence():
    go, ended = threading.Event(), threading.Event()

    def work() -> None:
        assert go.wait(5)
        ended.set()
        raise ValueError("nobody listens")

    running = asyncio.create_task(in_thread(work))
    await asyncio.sleep(0)
    running.cancel()
    with pytest.raises(asyncio.CancelledError):
        await running
    go.set()
    assert await in_thread(lambda: ended.wait(5))


async def test_a_task_that_ends_when_it_is_cancelled_is_not_left_behind():
    left: list[str] = []
    cleaned: list[str] = []

    async def work() -> None:
        try:
            await asyncio.sleep(60)
        finally:
            await asyncio.sleep(0.01)
            cleaned.append("cleaned up")

    running = asyncio.create_task(in_task(work(), left_behind=lambda: left.append("left")))
    await asyncio.sleep(0)
    await asyncio.sleep(0)
    running.cancel()
    with pytest.raises(asyncio.CancelledError):
        await running
    assert ([], ["cleaned up"]) == (left, cleaned)


async def test_a_task_that_will_not_end_is_left_behind_within_half_a_second():
    left: list[str] = []
    go = asyncio.Event()

    async def stubborn() -> None:
        while not go.is_set():
            try:
                await go.wait()
            except asyncio.CancelledError:
                continue
        raise ValueError("nobody listens")

    running = asyncio.create_task(in_task(stubborn(), left_behind=lambda: left.append("left")))
    await asyncio.sleep(0)
    await asyncio.sleep(0)
    began = time.monotonic()
    running.cancel()
    with pytest.raises(asyncio.CancelledError):
        await running
    assert time.monotonic() - began < PROMPT
    assert ["left"] == left
    go.set()
    await asyncio.sleep(0)


def test_a_thread_outlives_the_loop_that_left_it_behind():
    go, ended = threading.Event(), threading.Event()

    def work() -> None:
        assert go.wait(5)
        ended.set()

    async def leave() -> None:
        running = asyncio.create_task(in_thread(work))
        await asyncio.sleep(0)
        running.cancel()

    asyncio.run(leave())
    go.set()
    assert ended.wait(5)
    assert asyncio.run(asyncio.wait_for(in_thread(lambda: "next"), 5)) == "next"


async def test_what_a_call_returned_is_not_held_by_its_thread():
    class Big: ...

    value = await in_thread(Big)
    gone = weakref.ref(value)
    del value
    async with asyncio.timeout(5):
        while gone() is not None:  # noqa: ASYNC110  # a thread forgets it
            await asyncio.sleep(0.002)
    assert gone() is None
