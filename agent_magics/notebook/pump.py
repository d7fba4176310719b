"""What the main thread does while a turn runs on the agent's thread.

It sleeps, and wakes for four reasons: an event of the turn that should show at once, work that a tool wants
done in the user's namespace, a click that the bridge has kept, and the next time to draw. Only this thread
touches displays, widgets and the namespace; everything else is posted to it.

Text arrives far faster than anybody reads it, so a piece of text wakes nobody: it is drawn with all that
came beside it at the next tick.
"""

from __future__ import annotations

import asyncio
import threading
import time
from collections import deque
from collections.abc import Callable, Generator
from concurrent.futures import Future
from contextlib import contextmanager
from dataclasses import dataclass

from agent_magics.agent.waiting import GRACE, Begin, Cancel, wait_until
from agent_magics.notebook.bridge import Bridge
from agent_magics.notebook.frontend import Mode
from agent_magics.notebook.interrupts import HeldInterrupts
from agent_magics.notebook.screen import Screen
from agent_magics.notebook.wake import Wake
from agent_magics.talk import Event, Saying, Thinking, ToolProgress, Turn

Commands = Callable[[str], str | None]
"""Code -> the reply, if it is a typed approval."""

TICK = 0.04
"""Seconds between two drawings: 25 a second look steady, and more would only cost."""


@dataclass(frozen=True, kw_only=True)
class Work:
    """Something to do on the main thread; ``drop`` is called instead when the cell ends before."""

    do: Callable[[], None]
    drop: Callable[[], None]


class Pump:
    """Serves the main thread's side of turns.

    Parameters
    ----------
    bridge : Bridge
        Brings clicks into the running cell.
    """

    def __init__(self, bridge: Bridge) -> None:
        self.bridge = bridge
        self._wake = Wake()
        self._lock = threading.Lock()
        self._screens: tuple[Screen, ...] = ()
        self._work: deque[Work] = deque()

    # -- for any thread --------------------------------------------------------------------------

    def post(self, work: Work) -> bool:
        """Have ``work`` done on the main thread, soon; whether a cell is there to do it."""
        with self._lock:
            if not self._screens:
                return False
            self._work.append(work)
        self._wake.set()
        return True

    def mode(self, question: str) -> Mode | None:
        """How a person can be asked the question of that id; ``None`` if no waiting cell shows it."""
        return next((screen.mode for screen in self._screens if screen.shows(question)), None)

    # -- for the main thread ---------------------------------------------------------------------

    def run(self, begin: Begin, cancel: Cancel, screen: Screen, commands: Commands) -> Turn:
        """Start a turn, serve it until it has ended, and return it.

        Raises
        ------
        KeyboardInterrupt
            If the wait is interrupted; the turn is cancelled and has ended, and the screen shows its end.
        """
        with self._served(screen, commands), HeldInterrupts() as interrupts:
            future = begin(self._viewer(screen))
            try:
                while not future.done():
                    self._turn_over(screen, interrupts)
                    with interrupts.lifted():
                        self.bridge.wait(self._wake, TICK)
            except BaseException:  # an interrupt, or a screen that fails: no turn may run on unseen
                cancel()
                self._let_end(future, screen)
                raise
            self._turn_over(screen, interrupts)
            return future.result()

    async def attend(self, begin: Begin, cancel: Cancel, screen: Screen, commands: Commands) -> Turn:
        """The same from a coroutine on the main thread, whose loop goes on running."""
        with self._served(screen, commands):
            future = begin(self._viewer(screen))
            try:
                while not future.done():
                    with HeldInterrupts() as interrupts:
                        self._turn_over(screen, interrupts)
                    await asyncio.sleep(TICK / 2)
            except BaseException:
                cancel()
                self._let_end(future, screen)
                raise
            with HeldInterrupts() as interrupts:
                self._turn_over(screen, interrupts)
            return future.result()

    # -- inside ----------------------------------------------------------------------------------

    @contextmanager
    def _served(self, screen: Screen, commands: Commands) -> Generator[None]:
        with self._lock:
            self._screens += (screen,)
        try:
            with self.bridge.listening(screen.owns, commands):
                yield
        finally:
            self._leave(screen)

    def _leave(self, screen: Screen) -> None:
        """The cell ends. What nobody will do any more is dropped, so that nobody waits for it."""
        with self._lock:
            self._screens = tuple(each for each in self._screens if each is not screen)
            dropped = () if self._screens else tuple(self._work)
            if dropped:
                self._work.clear()
        for work in dropped:
            work.drop()

    def _viewer(self, screen: Screen) -> Callable[[Event], None]:
        """The view that runs on the agent's thread: it only queues."""

        def view(event: Event) -> None:
            screen.take(event)
            if not isinstance(event, Saying | Thinking | ToolProgress):
                self._wake.set()

        return view

    def _turn_over(self, screen: Screen, interrupts: HeldInterrupts) -> None:
        """Once around: clicks, drawing, work. Work may take long: what it is is drawn before it begins."""
        self._wake.clear()
        self.bridge.pump()
        screen.draw(time.monotonic())
        while self._work:
            screen.draw(time.monotonic())
            self._do(self._work.popleft(), interrupts)

    def _do(self, work: Work, interrupts: HeldInterrupts) -> None:
        try:
            with interrupts.lifted():
                work.do()
        except BaseException:
            # Who waits for it is told when the turn has been cancelled: sooner, it would go on for a moment.
            self._work.append(Work(do=work.drop, drop=work.drop))
            raise

    def _let_end(self, future: Future[Turn], screen: Screen) -> None:
        """A cancelled turn ends by itself within half a second; give it that, and let the screen see it."""
        wait_until(future, limit=GRACE)
        screen.draw(time.monotonic())
