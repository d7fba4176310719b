"""Waiting for a turn from outside the agent's thread.

A script just waits. A notebook must go on serving clicks while it waits, so it brings a waiter of its own.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Coroutine
from concurrent.futures import Future, wait
from typing import Any, Protocol, TypeVar

from agent_magics.agent.background import background
from agent_magics.agent.line import Asked
from agent_magics.ports import View
from agent_magics.talk import Turn

T = TypeVar("T")

TICK = 0.2
"""Seconds between two looks at signals; a finished turn is seen at once."""

GRACE = 2.0
"""Seconds that an interrupted turn has to end by itself."""

Begin = Callable[[View | None], "Future[Turn]"]
"""Starts the turn, watched by a view of the waiter's own if it wants one."""

Cancel = Callable[[], None]


class Waiter(Protocol):
    """Starts a turn, waits for it, and returns it. When the wait is interrupted or cancelled, it cancels the
    turn, gives it time to end, and raises."""

    def wait(self, begin: Begin, cancel: Cancel) -> Turn:
        """Wait on the calling thread."""
        ...

    async def attend(self, begin: Begin, cancel: Cancel) -> Turn:
        """Wait in the calling event loop, which goes on running."""
        ...


class PlainWaiter:
    """Waits, and does nothing else."""

    def wait(self, begin: Begin, cancel: Cancel) -> Turn:
        future: Future[Turn] | None = None
        try:
            future = begin(None)
            wait_until(future)
        except KeyboardInterrupt:
            cancel()
            if future:
                wait_until(future, limit=GRACE)
            raise
        return future.result()

    async def attend(self, begin: Begin, cancel: Cancel) -> Turn:
        turn = asyncio.wrap_future(begin(None))
        try:
            return await asyncio.shield(turn)
        except asyncio.CancelledError:
            cancel()
            await asyncio.wait((turn,), timeout=GRACE)
            raise


def wait_until(future: Future[Any], limit: float | None = None) -> None:
    """Wait in ticks, so that a signal is seen on every platform; give up silently after ``limit`` seconds."""
    waited = 0.0
    while not future.done() and (limit is None or waited < limit):
        wait((future,), timeout=TICK)
        waited += TICK


def waited(work: Coroutine[Any, Any, T]) -> T:
    """Run ``work`` on the agent's loop and wait for what it returns; an interrupt cancels it at any moment,
    also while it is being handed over."""
    asked = Asked()
    future: Future[T] | None = None
    try:
        future = background.submit(asked.follow(work))
        wait_until(future)
    except BaseException:
        asked.cancel()
        if future:
            wait_until(future, limit=GRACE)
        raise
    return future.result()
