"""The call that is running: how a tool says how far it is, without being handed anything.

The loop sets it around each call; threads and tasks that the call starts inherit it. Wherever it speaks from,
its events are told on the loop's thread, in order; once the call is over, nothing of it is told any more: a
thread that was left behind may go on talking.
"""

from __future__ import annotations

import asyncio
import threading
from collections.abc import Callable, Generator
from contextlib import contextmanager, suppress
from contextvars import ContextVar
from dataclasses import dataclass

from agent_magics.talk import Event, ToolProgress


@dataclass(frozen=True, kw_only=True)
class RunningCall:
    """One call while it runs: its id, and where its events go, from any thread."""

    id: str
    emit: Callable[[Event], None]


_running: ContextVar[RunningCall | None] = ContextVar("agent_magics_running_call", default=None)


def running_call() -> RunningCall | None:
    """The call that this code runs for; ``None`` outside of one."""
    return _running.get()


@contextmanager
def as_running(call_id: str, emit: Callable[[Event], None]) -> Generator[None]:
    """Set the running call for a block of the loop's coroutine."""
    loop, thread, over = asyncio.get_running_loop(), threading.get_ident(), False

    def say(event: Event) -> None:
        if threading.get_ident() != thread:
            with suppress(RuntimeError):  # the loop is closed: nobody listens any more
                loop.call_soon_threadsafe(say, event)
        elif not over:
            emit(event)

    token = _running.set(RunningCall(id=call_id, emit=say))
    try:
        yield
    finally:
        over = True
        _running.reset(token)


def progress(text: str) -> None:
    """Say how far a tool is: one short line in its row of the panel. Does nothing outside of a call.

    >>> from agent_magics import tool
    >>> @tool
    ... def count(words: list[str]) -> int:
    ...     progress(f"{len(words)} words")
    ...     return len(words)
    """
    if (call := _running.get()) is not None:
        call.emit(ToolProgress(id=call.id, text=text))
