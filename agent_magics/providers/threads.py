"""Blocking work on a thread of its own, its results on the event loop."""

from __future__ import annotations

import asyncio
import atexit
import threading
from collections.abc import AsyncGenerator, Callable
from contextlib import suppress
from typing import TypeVar

T = TypeVar("T")

Tell = Callable[[T], bool]
"""Hands one thing over, waiting for room; true when nobody listens any more and the work should stop."""

_live: dict[threading.Thread, Callable[[], None]] = {}
_AT_EXIT = 2.0  # seconds
_AHEAD = 64  # things; the worker waits for its listener rather than filling the memory


async def from_thread(work: Callable[[Tell[T]], None]) -> AsyncGenerator[T]:
    """What ``work`` tells, as it tells it; an error that it raises is raised here.

    The thread is a daemon: work that blocks for ever holds neither the loop nor the end of the process. At
    that end all are asked to stop, and waited for a moment: an engine that is torn down in the middle of a
    token takes the process with it.
    """
    loop = asyncio.get_running_loop()
    queue: asyncio.Queue[tuple[T] | BaseException | None] = asyncio.Queue()
    room, stopped = threading.Semaphore(_AHEAD), threading.Event()

    def put(entry: tuple[T] | BaseException | None) -> None:
        with suppress(RuntimeError):  # the loop may be closed by now: then nobody listens
            loop.call_soon_threadsafe(queue.put_nowait, entry)

    def tell(thing: T) -> bool:
        room.acquire()
        if not stopped.is_set():
            put((thing,))
        return stopped.is_set()

    def run() -> None:
        try:
            work(tell)
        except BaseException as error:
            put(error)
        else:
            put(None)
        finally:
            _live.pop(threading.current_thread(), None)

    def stop() -> None:
        stopped.set()
        room.release()

    thread = threading.Thread(target=run, name="agent-magics provider", daemon=True)
    _live[thread] = stop
    thread.start()
    try:
        while (entry := await queue.get()) is not None:
            if isinstance(entry, BaseException):
                raise entry
            room.release()
            yield entry[0]
    finally:
        stop()


@atexit.register
def _stop_all() -> None:
    live = list(_live.items())
    for _, stop in live:
        stop()
    for thread, _ in live:
        thread.join(_AT_EXIT)
