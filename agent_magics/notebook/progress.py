"""The progress of many rows in the running cell: one display, replaced as the rows come in.

It is a plain display and no widget: it needs no clicks, and what it showed last is saved with the notebook.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from agent_magics.notebook.screen import publish

if TYPE_CHECKING:
    from agent_magics.extract.progress import Progress


class CellProgress:
    """Shows each report in place of the one before. For the main thread."""

    def __init__(self) -> None:
        self._shown: Any = None

    def __call__(self, now: Progress) -> None:
        from agent_magics.ui.progress import bundle

        if self._shown is None:
            self._shown = publish(bundle(now))
        else:
            self._shown.update(bundle(now))
