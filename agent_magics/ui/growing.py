"""A Markdown text that grows: blocks that can't change any more are frozen, only the open end is sent again.

What is frozen is never touched again, so selections and scroll positions in it survive, and the bytes
that are sent stay in proportion to the text. A long open block (a table, a file of code) is sent less
often as it grows.
"""

from __future__ import annotations

from agent_magics.ui.markdown import MATH, html
from agent_magics.ui.text import arriving, prose
from agent_magics.ui.unfinished import cut, mend
from agent_magics.ui.widgets import Box, Html, Parts

_FREEZE = 1_200
"""Characters that are worth a widget of their own."""

_LARGE = 16_000
_RATE = 30_000
"""Bytes of HTML: what counts as a large open block, and how much of one is sent in a second."""


class Growing:
    """The text in ``box``.

    Parameters
    ----------
    parts : Parts
        Where its widgets come from.
    box : Box
        What it fills.
    """

    def __init__(self, parts: Parts, box: Box) -> None:
        self.box = box
        self._parts = parts
        self._said: list[str] = []
        self._new: list[str] = []
        self._half = ""
        self._open = ""
        self._end: Html | None = None
        self._spare: Html | None = None
        self._sent_at = 0.0
        self._sent_size = 0
        self._sent_bytes = 0
        self._due = False

    @property
    def text(self) -> str:
        """All of it."""
        return "".join([*self._said, *self._new])

    def add(self, text: str) -> None:
        """The next piece; cheap, nothing is drawn."""
        self._new.append(text)

    def flush(self, now: float) -> None:
        """Draw what came since, if enough came for the size of the open end."""
        self._take()
        if self._due and self._worth_sending(now):
            done = self._freeze()
            value = html(mend(self._open))
            self._draw(done, value)
            self._sent_at, self._sent_size, self._sent_bytes = now, len(self._open), len(value)
            self._due = False

    def finish(self, whole: str | None = None) -> None:
        """Draw the rest as final. ``whole`` is the text as it is known; it wins over what was played."""
        if whole is not None and whole != self.text:
            self._begin_again(whole)
        self._take()
        self._draw(html(self._open) if self._open.strip() else "", "")
        self._open, self._half, self._end, self._due = "", "", None, False

    def _take(self) -> None:
        if self._new:
            new = "".join(self._new)
            self._said.append(new)
            self._new.clear()
            clean, self._half = arriving(self._half + new)
            self._open += clean
            self._due = True

    def _worth_sending(self, now: float) -> bool:
        growth = 4 if self._sent_bytes > _LARGE else 24
        grown = (len(self._open) - self._sent_size) * growth >= self._sent_size
        return grown or (now - self._sent_at) * _RATE >= self._sent_bytes

    def _freeze(self) -> str:
        """Take what is final off the open end, if it is worth it, as HTML."""
        at = cut(self._open)
        if at < _FREEZE and "$" not in self._open[:at]:
            return ""
        done, self._open = self._open[:at], self._open[at:]
        return html(done)

    def _draw(self, done: str, value: str) -> None:
        """Show what became final, and below it the open end as it is now, in as few messages as can be."""
        if not done:
            self._draw_end(value)
            return
        before = self.box.children[:-1] if self._end is not None else self.box.children
        if MATH in done:
            # HTML doesn't typeset, and HTMLMath would at every update: it is used once, for what is final.
            final, spare = self._parts.math(done), self._end
        else:
            final, spare = self._end or self._parts.html(done), None
            if final.value != done:
                final.value = done
        self._end = self._next_end(value) if value else None
        self._spare = self._spare or spare
        self.box.children = (*before, final, *([self._end] if self._end else []))

    def _draw_end(self, value: str) -> None:
        if self._end is None and value:
            self._end = self._next_end(value)
            self.box.children = (*self.box.children, self._end)
        elif self._end is not None and self._end.value != value:
            self._end.value = value

    def _next_end(self, value: str) -> Html:
        """A widget for the open end that is not on the page yet, so that it appears with its value."""
        spare, self._spare = self._spare, None
        if spare is None:
            return self._parts.html(value)
        spare.value = value
        return spare

    def _begin_again(self, whole: str) -> None:
        old = list(self.box.children)
        self.box.children = ()
        self._parts.drop(old)
        self._said, self._new, self._open, self._half, self._end = [], [prose(whole)], "", "", None
