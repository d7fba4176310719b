"""A session that nobody talks to gives back what it holds, and wakes by itself with the next turn.

Workers, a local model's server and sockets cost memory for as long as they live, and a notebook stays open
for days. The clock for this runs on the agent's own loop, never on a kernel's main thread.
"""

from __future__ import annotations

import asyncio
import inspect
import logging
import weakref
from collections.abc import Callable
from concurrent.futures import Future
from typing import Any

from agent_magics.agent.background import background
from agent_magics.agent.line import Line
from agent_magics.errors import UsageError
from agent_magics.tools.threads import in_thread

log = logging.getLogger("agent_magics")

MINUTES = 15.0

Rest = Callable[[], Any]
"""Gives something back that comes again by itself. A coroutine function runs on the agent's loop, another on
a thread."""


class Idle:
    """The clock of one session.

    Parameters
    ----------
    minutes : float
        How long without a turn or a command; 0 for never.
    line : Line
        The session's turns: nothing is given back while one runs or waits.

    Attributes
    ----------
    rested : int
        How often the session has rested so far.

    Raises
    ------
    UsageError
        If ``minutes`` is negative.
    """

    def __init__(self, minutes: float, line: Line) -> None:
        self.rested = 0
        self._line = line
        self._rests: list[Rest] = []
        self._timer: asyncio.TimerHandle | None = None
        self._closed = False
        self.minutes = minutes

    @property
    def minutes(self) -> float:
        """How long a session is left alone before it rests; a change counts from now on."""
        return self._minutes

    @minutes.setter
    def minutes(self, minutes: float) -> None:
        if not minutes >= 0:
            raise UsageError(
                f"idle_minutes={minutes!r} is no time to wait.",
                "It counts the minutes without a turn.",
                "For example 15, or 0: then the session never rests.",
            )
        self._minutes = float(minutes)
        if self._timer is not None:
            self.begin()

    def add(self, rest: Rest) -> None:
        """Have ``rest`` called too; what it gives back must come again by itself."""
        self._rests.append(rest)

    def begin(self) -> None:
        """The time without anything to do begins now. From any thread."""
        if not self._closed:
            background.loop.call_soon_threadsafe(self._begin)

    def close(self) -> None:
        """No more clock. From any thread."""
        self._closed = True
        if self._timer is not None:
            background.loop.call_soon_threadsafe(self._stop)

    def now(self) -> Future[None]:
        """Rest at once, when no turn runs; the future says when it is done."""
        return background.submit(self._line.when_free(self._rest))

    def _begin(self) -> None:
        self._stop()
        if self._minutes and not self._closed:
            # Weakly: a session that nobody else holds need not wait for its clock.
            later, here = asyncio.get_running_loop().call_later, weakref.WeakMethod(self._ring)
            self._timer = later(self._minutes * 60, lambda: (ring := here()) and ring())

    def _stop(self) -> None:
        if self._timer is not None:
            self._timer.cancel()
            self._timer = None

    def _ring(self) -> None:
        self._timer = None
        if not self._line.busy:  # the turn that runs begins the time anew when it ends
            self._resting = asyncio.create_task(self._line.when_free(self._rest))

    async def _rest(self) -> None:
        for rest in tuple(self._rests):
            try:
                await _called(rest)
            except Exception:  # the others rest all the same
                log.exception("something could not be given back: %r", rest)
        self.rested += 1


async def _called(rest: Rest) -> None:
    if inspect.iscoroutinefunction(rest):
        await rest()
    else:
        await in_thread(rest)
