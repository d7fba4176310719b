"""A synchronous function, awaited.

Each call has a daemon thread to itself, not a slot in an executor: an abandoned call must neither hold up the
next one nor keep the interpreter from ending. A thread whose call has ended takes the next one, since
starting a thread makes the loop wait for it.
"""

from __future__ import annotations

import asyncio
import contextvars
import os
import threading
from collections import deque
from collections.abc import Callable
from contextlib import suppress
from queue import SimpleQueue
from typing import TypeVar

from agent_magics.errors import ToolError
from agent_magics.tools.result import text_of

T = TypeVar("T")


async def in_thread(work: Callable[[], T]) -> T:
    """Run ``work`` on a thread that does nothing else meanwhile; return what it returns or raise its error.

    When the waiting task is cancelled the thread is left behind: Python can't stop it, and what it returns
    is thrown away.
    """
    loop = asyncio.get_running_loop()
    future: asyncio.Future[T] = loop.create_future()

    def settle(value: T | None, error: Exception | None) -> None:
        if future.done():
            return
        if error is not None:
            future.set_exception(error)
        else:
            future.set_result(value)  # pyright: ignore[reportArgumentType]  # T may well be None

    def run() -> Callable[[], object]:
        value, error = None, None
        try:
            value = work()
        except BaseException as raised:
            error = contained(raised)
        return lambda: loop.call_soon_threadsafe(settle, value, error)

    context = contextvars.copy_context()
    _hand().give(lambda: context.run(run))
    return await future


class _Hand:
    """A daemon thread that does one piece of work after another.

    A piece of work returns what is left to do when the hand is free again: so the next piece, which that may
    bring, finds it free.
    """

    def __init__(self) -> None:
        self._work: SimpleQueue[Callable[[], Callable[[], object]]] = SimpleQueue()
        threading.Thread(target=self._run, name="agent-tool", daemon=True).start()

    def give(self, work: Callable[[], Callable[[], object]]) -> None:
        self._work.put(work)

    def _run(self) -> None:
        spare = False
        while not spare:
            tell = self._work.get()()
            spare = len(_free) >= _MOST_FREE
            if not spare:
                _free.append(self)
            with suppress(RuntimeError):  # its loop is closed: nobody waits any more
                tell()
            del tell  # it holds what the call returned


_MOST_FREE = 4
_free: deque[_Hand] = deque()
if hasattr(os, "register_at_fork"):  # not on Windows, which does not fork
    os.register_at_fork(after_in_child=_free.clear)  # a forked child has none of these threads


def _hand() -> _Hand:
    try:
        return _free.pop()
    except IndexError:
        return _Hand()


def contained(raised: BaseException) -> Exception:
    """What may leave a tool. An ``exit()`` would end the loop that every session shares, a stray
    ``CancelledError`` would look as if the turn had been cancelled, and a future refuses ``StopIteration``:
    they become ordinary errors."""
    if isinstance(raised, Exception) and not isinstance(raised, StopIteration | StopAsyncIteration):
        return raised
    return ToolError(f"It raised {type(raised).__name__}: {text_of(raised)}".removesuffix(": "))
