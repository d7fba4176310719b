"""Somebody else's coroutine, awaited without being at its mercy.

A cancelled coroutine may take its time, or catch the cancellation and go on. A turn must end all the same.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Coroutine
from typing import Any, TypeVar

from agent_magics.tools.threads import contained

T = TypeVar("T")

PATIENCE = 0.3
"""Seconds that a cancelled coroutine has to end; a cancelled turn ends within half a second."""


async def in_task(work: Coroutine[Any, Any, T], *, left_behind: Callable[[], None]) -> T:
    """Run ``work`` in a task of its own and return what it returns, or raise what it raises.

    When the waiting task is cancelled, so is this one. If it has not ended after :data:`PATIENCE` it is left
    behind: ``left_behind`` is called, and whatever comes of it is thrown away.
    """
    task = asyncio.create_task(_contained(work))
    task.add_done_callback(_look_at)
    try:
        await asyncio.wait((task,))
    except asyncio.CancelledError:
        task.cancel()
        _, open_ = await asyncio.wait((task,), timeout=PATIENCE)
        if open_:
            left_behind()
        raise
    return task.result()


async def _contained(work: Coroutine[Any, Any, T]) -> T:
    try:
        return await work
    except (Exception, GeneratorExit):
        raise
    except BaseException as error:
        task = asyncio.current_task()
        if isinstance(error, asyncio.CancelledError) and task and task.cancelling():
            raise
        raise contained(error) from error


def _look_at(task: asyncio.Task[Any]) -> None:
    """A left task's error is of no use to anybody; asyncio is told that it was seen."""
    if not task.cancelled():
        task.exception()
