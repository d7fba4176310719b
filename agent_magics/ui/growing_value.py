"""A JSON value that grows: the table or tree of what has come so far.

It has the shape of :class:`~agent_magics.ui.growing.Growing`, and takes its place where the answer is to be a
value. A value is drawn anew as a whole, so a long one shows its last rows while it grows.
"""

from __future__ import annotations

from collections.abc import Mapping

from agent_magics.talk import JSON
from agent_magics.ui.partial_value import NOTHING, partial_value, unwrapped
from agent_magics.ui.values import value_html
from agent_magics.ui.widgets import Box, Html, Parts

_RATE = 30_000
"""Bytes of HTML that are sent in a second."""


class GrowingValue:
    """The value in ``box``.

    Parameters
    ----------
    parts : Parts
        Where its widgets come from.
    box : Box
        What it fills.
    wanted : dict
        The schema of the answer.
    """

    def __init__(self, parts: Parts, box: Box, wanted: Mapping[str, JSON]) -> None:
        self.box = box
        self._parts = parts
        self._wanted = wanted
        self._said: list[str] = []
        self._shown: Html | None = None
        self._due = False
        self._sent_at = 0.0
        self._sent_bytes = 0

    @property
    def text(self) -> str:
        """All of it."""
        return "".join(self._said)

    def add(self, text: str) -> None:
        """The next piece; cheap, nothing is drawn."""
        self._said.append(text)
        self._due = True

    def flush(self, now: float) -> None:
        """Draw what has come, if it is time for as many bytes as it takes."""
        if self._due and (now - self._sent_at) * _RATE >= self._sent_bytes:
            self._due = False
            self._draw(live=True)
            self._sent_at, self._sent_bytes = now, len(self._shown.value) if self._shown else 0

    def finish(self, whole: str | None = None) -> None:
        """Draw the whole as final. ``whole`` is the text as it is known; it wins over what was played."""
        if whole is not None:
            self._said = [whole]
        self._due = False
        self._draw(live=False)

    def _draw(self, *, live: bool) -> None:
        value = partial_value(self.text)
        if value is not NOTHING:
            value = unwrapped(value, self._wanted)
        if value is NOTHING:
            return
        html = value_html(value, live=live)
        if self._shown is None:
            self._shown = self._parts.html(html)
            self.box.children = (*self.box.children, self._shown)
        elif self._shown.value != html:
            self._shown.value = html
