"""A cell that runs again: which earlier turn its new one takes the place of, and which outputs are stale now.

One run of a cell may ask several times. The first of them takes the place of the cell's first earlier turn,
the second that of the second, and so on; what an earlier prompt of the *same* run said stays.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Iterable, Sequence
from typing import Any

from agent_magics.notebook.whereabouts import steady
from agent_magics.talk import Turn


class Reruns:
    """Knows the turns that ran in this kernel, and where they are shown."""

    def __init__(self) -> None:
        self._run = ""
        self._due: deque[str] = deque()
        self._ran_here: set[str] = set()
        self._shown: dict[str, Any] = {}

    def replaced(self, turns: Iterable[Turn], cell: str, run: str) -> str:
        """The id of the turn whose place the next one takes; empty if it is a new one.

        Parameters
        ----------
        turns : iterable of Turn
            The conversation.
        cell : str
            The running cell's id; empty where the front end tells none.
        run : str
            What tells this run of the cell from every other one.
        """
        if not cell:
            return ""
        if run != self._run:
            self._run = run
            mine = (turn for turn in turns if turn.cell == cell)
            # An id that only numbers the cells of an open editor may have been another cell's before.
            self._due = deque(turn.id for turn in mine if steady(cell) or turn.id in self._ran_here)
        return self._due.popleft() if self._due else ""

    def ended(self, turn: Turn, display: Any) -> None:
        """A turn has ended; ``display`` is where it is shown, if its output can still be changed."""
        self._ran_here.add(turn.id)
        if display is not None:
            self._shown[turn.id] = display

    def mark(self, turns: Sequence[Turn]) -> None:
        """Say in the outputs of turns that are stale now that they are. Each is told once."""
        from agent_magics.ui.settled import bundle

        for turn in turns:
            if turn.stale and (display := self._shown.pop(turn.id, None)):
                display.update(bundle(turn))
