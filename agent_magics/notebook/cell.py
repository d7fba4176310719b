"""The running cell, as the place where a turn is shown: how one goes, from its first event to its last.

A screen opens, the turn starts, the main thread serves it until it has ended, the screen settles, and an
error is raised if the cells that follow should not run.
"""

from __future__ import annotations

import threading
from collections.abc import Generator
from contextlib import contextmanager
from typing import Any

from agent_magics.agent.waiting import Begin, Cancel, PlainWaiter
from agent_magics.notebook.asking import CellAsker
from agent_magics.notebook.frontend import Frontend, Mode
from agent_magics.notebook.interrupts import HeldInterrupts, count_as_one
from agent_magics.notebook.pump import Pump
from agent_magics.notebook.screen import PanelScreen, QuietScreen, Screen, TextScreen
from agent_magics.notebook.stopped import TurnStopped
from agent_magics.talk import Turn


class Cell:
    """Whichever cell is running.

    Parameters
    ----------
    frontend : Frontend
        Tells what can be shown.
    pump : Pump
        Serves the main thread, and has the bridge.
    asker : CellAsker
        Is given the answers.
    settings
        The magics' traits, of which ``frontend`` counts here.
    """

    def __init__(self, frontend: Frontend, pump: Pump, asker: CellAsker, settings: Any) -> None:
        self._frontend = frontend
        self._pump = pump
        self._asker = asker
        self._settings = settings

    @property
    def id(self) -> str:
        """The cell's id, where the front end tells it."""
        return self._frontend.cell

    @property
    def mode(self) -> Mode:
        """How a person can be asked here."""
        return self._frontend.mode(self._settings.frontend)

    @property
    def shows_pages(self) -> bool:
        """Whether what is displayed here may be a page; a terminal shows text."""
        return self._frontend.kernel is not None

    @property
    def frontend_said(self) -> str:
        """The front end in a few words, for ``/status``."""
        said = {"widgets": "live panel with buttons", "input": "lines of text", "none": "nobody to ask"}
        why_not = self._pump.bridge.why if self.mode == "widgets" else ""
        return f"{said[self.mode]}; clicks: {why_not}" if why_not else said[self.mode]

    def screen(self, cancel: Cancel, *, lazy: bool = False) -> Screen:
        """A screen for a turn; a ``lazy`` one shows nothing before it has to ask."""
        match self.mode:
            case "widgets":
                # Where clicks can't arrive the panel is shown all the same, and asks by a line of input.
                asks: Mode = "widgets" if self._pump.bridge.available else "input"
                return PanelScreen(mode=asks, on_stop=cancel, on_answer=self._asker.answer, lazy=lazy)
            case "input":
                return Screen("input") if lazy else TextScreen("input")
            case "none" if self._frontend.kernel is None and not lazy:
                return TextScreen("none")  # into a pipe or a file, which know no Markdown
            case "none":
                return QuietScreen(lazy=lazy)

    def show(self, screen: Screen, begin: Begin, cancel: Cancel) -> Turn:
        """Serve a turn and settle its screen.

        Raises
        ------
        TurnStopped
            If a person interrupted it or pressed Stop.
        """
        with self._settling(screen):
            try:
                turn = self._pump.run(begin, cancel, screen, self._asker.command)
            except KeyboardInterrupt:
                raise self._stopped() from None
        if screen.stopped:
            raise self._stopped()
        return turn

    async def attend(self, screen: Screen, begin: Begin, cancel: Cancel) -> Turn:
        """The same for a cell that awaits."""
        with self._settling(screen):
            turn = await self._pump.attend(begin, cancel, screen, self._asker.command)
        if screen.stopped:
            raise TurnStopped
        return turn

    @contextmanager
    def _settling(self, screen: Screen) -> Generator[None]:
        """Settle the screen, whatever ends the turn."""
        bridge = self._pump.bridge
        try:
            yield
        finally:
            keep, bridge.newcomer = bridge.newcomer, False
            with HeldInterrupts():  # half a panel would stay for good
                screen.settle(keep=keep)

    def _stopped(self) -> TurnStopped:
        if self._frontend.kernel is not None:
            count_as_one()
        return TurnStopped()


class CellWaiter:
    """How ``Session.ask`` waits in a notebook: on the main thread it serves the cell, as a magic does."""

    def __init__(self, cell: Cell) -> None:
        self._cell = cell

    def wait(self, begin: Begin, cancel: Cancel) -> Turn:
        if not _on_main():
            return PlainWaiter().wait(begin, cancel)
        return self._cell.show(self._cell.screen(cancel, lazy=True), begin, cancel)

    async def attend(self, begin: Begin, cancel: Cancel) -> Turn:
        if not _on_main():
            return await PlainWaiter().attend(begin, cancel)
        return await self._cell.attend(self._cell.screen(cancel, lazy=True), begin, cancel)


def _on_main() -> bool:
    return threading.current_thread() is threading.main_thread()
