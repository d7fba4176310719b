"""One turn at a time: prompts wait in line, in the order they came.

A prompt can be taken back at any moment: before it is its turn, while it is, and after (then nothing is left
to take back). All of this happens on the background loop; only ``cancel`` may be called from anywhere.
"""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable, Coroutine
from typing import Any, TypeVar

from agent_magics.agent.background import background

T = TypeVar("T")


class Asked:
    """One prompt on its way through the line."""

    def __init__(self) -> None:
        self.taken_back = False
        self.task: asyncio.Task[Any] | None = None
        self._cancelled = False

    def cancel(self) -> None:
        """Take the prompt back; its turn ends as ``cancelled``, if it has begun. Later calls do nothing."""
        self.taken_back = True
        background.loop.call_soon_threadsafe(self._cancel_task)

    async def follow(self, work: Coroutine[Any, Any, T]) -> T:
        """Do ``work``, which from now on is what is taken back."""
        self.task = asyncio.current_task()
        if self.taken_back:
            work.close()
            raise asyncio.CancelledError
        return await work

    def _cancel_task(self) -> None:
        # Once: a second cancellation would interrupt the cleaning up after the first. And not before the
        # task has begun (then there is no task here): it looks at `taken_back` itself, and so has an end.
        if self.task is not None and not self._cancelled:
            self._cancelled = True
            self.task.cancel()


class Line:
    """The prompts of one session."""

    def __init__(self) -> None:
        self._lock = asyncio.Lock()
        self._all: set[Asked] = set()

    @property
    def busy(self) -> bool:
        """Whether a turn runs or waits."""
        return bool(self._all)

    def join(self, asked: Asked) -> None:
        self._all.add(asked)

    async def go(self, asked: Asked, work: Callable[[], Awaitable[T]], otherwise: Callable[[], T]) -> T:
        """Wait for its turn, then do ``work``, which must take a cancellation as its end and return. If the
        prompt is taken back before, the result is what ``otherwise`` says."""
        asked.task = asyncio.current_task()
        try:
            if not asked.taken_back:
                async with self._lock:
                    if not asked.taken_back:
                        return await work()
        except asyncio.CancelledError:
            pass  # while it waited
        finally:
            self._all.discard(asked)
        return otherwise()

    def cancel(self) -> None:
        """Take back every prompt. All are marked first: when the first ends, the second may be quick."""
        all_ = tuple(self._all)
        for asked in all_:
            asked.taken_back = True
        for asked in all_:
            asked.cancel()

    async def when_free(self, work: Callable[[], Awaitable[None]]) -> None:
        """Do something that must not happen while a turn runs."""
        async with self._lock:
            await work()
