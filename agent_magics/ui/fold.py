"""A row as widgets: a toggle over the whole line, the line, and the body that it shows or hides.

The toggle flips in the browser, without the kernel; its value reaches the kernel afterwards, so that the
settled output opens what a person had opened. Each part is written only when it changed, and each piece
of the body is a widget of its own: a result that arrives leaves the arguments, their selection and their
scroll alone.
"""

from __future__ import annotations

from agent_magics.ui import look
from agent_magics.ui.rows import Row
from agent_magics.ui.widgets import Box, Html, Parts

BODY_CLASSES = ("agm-body", "jp-RenderedHTMLCommon", "rendered_html")


class Fold:
    """One row of a live panel."""

    def __init__(self, parts: Parts, row: Row, *classes: str, body: Box | None = None) -> None:
        self.key = row.key
        self._parts = parts
        self._row = row
        self._pieces: list[Html] = []
        self._toggle = parts.toggle(self._label(row), "agm-tw")
        self._line = parts.html(_line(row))
        self.body = body or parts.column((), *BODY_CLASSES)
        self.box = parts.column(
            (parts.line((self._toggle, self._line), "agm-row"), self.body), "agm-fold", *classes
        )
        self._toggle.observe(lambda _: self._say(), names="value")
        self._fill(row.body)

    @property
    def opened(self) -> bool:
        return self._toggle.value

    def show(self, row: Row) -> None:
        """The row as it stands now."""
        self._row = row
        if (line := _line(row)) != self._line.value:
            self._line.value = line
        self._say()
        self._fill(row.body)

    def focus(self) -> None:
        """Put the keyboard here."""
        self._toggle.focus()

    def _fill(self, body: tuple[str, ...]) -> None:
        for piece, value in zip(self._pieces, body, strict=False):
            if piece.value != value:
                piece.value = value
        if new := [self._parts.html(value) for value in body[len(self._pieces) :]]:
            self._pieces += new
            self.body.children = (*self.body.children, *new)

    def _say(self) -> None:
        if (label := self._label(self._row)) != self._toggle.description:
            self._toggle.description = label

    def _label(self, row: Row) -> str:
        opened = "_toggle" in vars(self) and self._toggle.value
        return f"{row.label}, {'open' if opened else 'closed'}"


def _line(row: Row) -> str:
    return f'<div class="agm-sum"><span style="{look.RIGHT}">{row.right}</span>{row.summary}</div>'
