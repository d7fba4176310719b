"""Every event of a session passes here: it is kept if it is a fact, then shown to everybody who watches.

Nothing that goes wrong with a watcher or with keeping may touch the turn: it is logged, and said once.
"""

from __future__ import annotations

import logging
import time
from collections.abc import Callable

from agent_magics.ports import View
from agent_magics.talk import Delta, Event, Fact, Noticed, Saying, Thinking, Turn, TurnEnded, advance

log = logging.getLogger("agent_magics")

Keep = Callable[[Fact], str]


class Telling:
    """Tells the events of one session.

    Parameters
    ----------
    keep : callable, optional
        Is given every fact; what it returns is said to the reader.

    Attributes
    ----------
    turn : Turn or None
        The turn that runs, as far as it has come, or else the last one.
    keeping : bool
        Whether facts are kept; those of a turn that is only tried are not.
    """

    def __init__(self, keep: Keep | None = None) -> None:
        self.turn: Turn | None = None
        self.keeping = True
        self._keep = keep
        self._views: list[View] = []

    def __call__(self, event: Event) -> None:
        if not isinstance(event, Saying | Thinking):  # the many; they change nothing
            self.turn = advance(self.turn, event)
        problem = ""
        if self._keep is not None and self.keeping and not isinstance(event, Delta):
            problem = self._keep(event)
        if problem and isinstance(event, TurnEnded):  # nothing comes after it
            self._notice(problem)
        self._show(event)
        if problem and not isinstance(event, TurnEnded):
            self._notice(problem)

    def _notice(self, problem: str) -> None:
        self(Noticed(text=f"This conversation is not stored at present. {problem}", at=time.time()))

    def _show(self, event: Event) -> None:
        for view in tuple(self._views):
            try:
                view(event)
            except BaseException:  # also an exit(): a watcher must not end the loop
                log.exception("a subscriber failed and was dropped: %r", view)
                self._drop(view)

    def subscribe(self, view: View) -> Callable[[], None]:
        """Show every event to ``view`` from now on; returns what removes it again."""
        self._views.append(view)
        return lambda: self._drop(view)

    def _drop(self, view: View) -> None:
        if view in self._views:
            self._views.remove(view)
