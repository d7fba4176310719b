"""Which stored session a notebook goes on with, and which it is only told of.

A path alone proves nothing: every new notebook is called ``Untitled.ipynb`` once. So a session is resumed by
itself only where the path is the same and the notebook is known again: by a cell, by its kernel that was
restarted, or because the user gave it this name. What fits in part is offered, never guessed.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from agent_magics.agent.past import Place
from agent_magics.talk import SessionInfo


@dataclass(frozen=True, kw_only=True)
class Earlier:
    """What there is from earlier.

    Attributes
    ----------
    resumed : SessionInfo or None
        To go on with.
    offered : SessionInfo or None
        What the user may want to go on with.
    """

    resumed: SessionInfo | None = None
    offered: SessionInfo | None = None

    @property
    def offer(self) -> str:
        """A line for the user."""
        if self.offered is None:
            return ""
        of = f"of {Path(self.offered.notebook).name} " if self.offered.notebook else ""
        turns = f"{self.offered.turns} turn{'' if self.offered.turns == 1 else 's'}"
        return (
            f"A new conversation begins. There is an earlier one {of}with {turns}: "
            f"%agent /resume {self.offered.id} goes on with it."
        )


def earlier(sessions: Sequence[SessionInfo], place: Place, *, named: bool = False) -> Earlier:
    """Find out, from all stored sessions, the one used last first.

    Parameters
    ----------
    named : bool
        Whether the user gave the notebook's name, and so said which one it is.
    """
    for info in sessions:
        if place.notebook and info.notebook == place.notebook and (named or _same(info, place)):
            return Earlier(resumed=info)
    likely = (info for info in sessions if info.turns and _like(info, place))
    return Earlier(offered=next(likely, None))


def _same(info: SessionInfo, place: Place) -> bool:
    """Whether what is at the path now is what was there then."""
    if set(info.cells) & set(place.cells):
        return True
    return bool(place.kernel) and info.kernel == place.kernel and not place.cells[1:]


def _like(info: SessionInfo, place: Place) -> bool:
    same_path = bool(place.notebook) and info.notebook == place.notebook
    return same_path or bool(set(info.cells) & set(place.cells))
