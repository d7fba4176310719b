"""The one event loop, on the one background thread of this process.

Every turn of every session runs here. One loop means one pool of connections, and cancelling a turn means
cancelling a task. The thread starts with the first turn, not with the import, and is a daemon: a process
never waits for it to end.
"""

from __future__ import annotations

import asyncio
import logging
import os
import threading
from collections.abc import Coroutine
from concurrent.futures import Future
from typing import Any, TypeVar

T = TypeVar("T")

log = logging.getLogger("agent_magics")


class Background:
    """An event loop on a daemon thread, started when first used."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._loop: asyncio.AbstractEventLoop | None = None
        self._thread: threading.Thread | None = None
        self._process = 0

    @property
    def loop(self) -> asyncio.AbstractEventLoop:
        """The loop; started if it isn't running. A forked child gets one of its own."""
        with self._lock:
            if self._loop is None or self._process != os.getpid():
                self._start()
            assert self._loop is not None
            return self._loop

    def submit(self, work: Coroutine[Any, Any, T]) -> Future[T]:
        """Run a coroutine there; the future is for any other thread."""
        return asyncio.run_coroutine_threadsafe(work, self.loop)

    def inside(self) -> bool:
        """Whether the caller is on the background thread, where waiting for it would never end."""
        return threading.current_thread() is self._thread

    def _start(self) -> None:
        loop = asyncio.new_event_loop()
        thread = threading.Thread(target=_run, args=(loop,), name="agent-loop", daemon=True)
        self._loop, self._thread, self._process = loop, thread, os.getpid()
        thread.start()


def _run(loop: asyncio.AbstractEventLoop) -> None:
    asyncio.set_event_loop(loop)
    while True:
        try:
            loop.run_forever()
        except (SystemExit, KeyboardInterrupt):
            # asyncio lets these end its loop. Here they come from a task that a tool or a provider left
            # running, and every session of the process would hang from then on.
            log.exception("something on the agent's loop tried to end it")
        else:
            return


background = Background()
