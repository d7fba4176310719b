"""How a cell ends when a person stopped its turn."""

from __future__ import annotations


class TurnStopped(KeyboardInterrupt):
    """The turn was interrupted, or Stop was pressed: the cells that follow should not run.

    The settled panel has told everything already, so one line is all that is shown.
    """

    def _render_traceback_(self) -> list[str]:
        return ["Stopped; the cells that follow do not run."]
