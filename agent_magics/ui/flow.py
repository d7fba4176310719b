"""What a live panel shows below its header: thoughts, text and tool calls, as they come."""

from __future__ import annotations

from collections.abc import Mapping

from agent_magics.talk import JSON, ReplyReceived
from agent_magics.ui import rows
from agent_magics.ui.fold import BODY_CLASSES, Fold
from agent_magics.ui.growing import Growing
from agent_magics.ui.growing_value import GrowingValue
from agent_magics.ui.rows import Row
from agent_magics.ui.widgets import Parts, Widget


class Flow:
    """The column of a turn's steps.

    Attributes
    ----------
    wanted : dict or None
        The schema of the answer, if it is to be a value.
    """

    def __init__(self, parts: Parts) -> None:
        self.wanted: Mapping[str, JSON] | None = None
        self.box = parts.column((), "agm-flow")
        self._parts = parts
        self._folds: dict[str, Fold] = {}
        self._step: _Step | None = None
        self._number = 0
        self._answered = False
        self._value: tuple[Widget, str] | None = None

    @property
    def opened(self) -> frozenset[str]:
        """The keys of the rows that stand open."""
        return frozenset(key for key, fold in self._folds.items() if fold.opened)

    @property
    def arriving(self) -> int:
        """About how many tokens came since the last whole reply."""
        return self._step.size // 4 if self._step else 0

    @property
    def phase(self) -> str:
        if self._step:
            return "Answering" if self._step.answering else "Thinking"
        return "Answering" if self._answered else "Thinking"

    def think(self, text: str, now: float) -> None:
        self._current().think(text, now)

    def say(self, text: str, now: float) -> None:
        self._current().say(text, now)

    def end_step(self, reply: ReplyReceived, now: float) -> None:
        """The reply is whole: what was played is completed, or corrected, to what it says."""
        if self._step or reply.text.strip() or reply.thinking.strip():
            self._current().end(reply, now)
        self._value = self._step.value if self._step and not reply.calls else None
        self._step = None
        self._answered = not reply.calls
        self._number += 1

    def show(self, row: Row) -> None:
        """A row as it stands now; a new one comes last."""
        if fold := self._folds.get(row.key):
            fold.show(row)
        else:
            self.put_fold(Fold(self._parts, row))

    def put_fold(self, fold: Fold, *, before: Widget | None = None) -> None:
        self._folds[fold.key] = fold
        children = list(self.box.children)
        children.insert(children.index(before) if before in children else len(children), fold.box)
        self.box.children = tuple(children)

    def put(self, widget: Widget, *, below: str = "") -> None:
        """Something else, last or below a row."""
        children = list(self.box.children)
        fold = self._folds.get(below)
        children.insert(children.index(fold.box) + 1 if fold else len(children), widget)
        self.box.children = tuple(children)

    def remove(self, widget: Widget) -> None:
        self.box.children = tuple(child for child in self.box.children if child is not widget)

    def focus(self, key: str) -> None:
        if fold := self._folds.get(key):
            fold.focus()

    def flush(self, now: float) -> None:
        if self._step:
            self._step.flush(now)

    def _current(self) -> _Step:
        if self._step is None:
            if self._value:  # a step follows on an answer: it was sent back
                widget, text = self._value
                self.remove(widget)
                self.show(rows.sent_back(self._number - 1, text))
                self._value = None
            self._step = _Step(self, self._parts, self._number)
        return self._step


class _Step:
    """One reply of the model while it arrives: its thinking, folded, and its text."""

    def __init__(self, flow: Flow, parts: Parts, number: int) -> None:
        self._flow = flow
        self._parts = parts
        self._number = number
        self._thinking: Growing | None = None
        self._fold: Fold | None = None
        self._text: Growing | GrowingValue | None = None
        self._began = 0.0
        self._thought = 0.0
        self.size = 0
        self.answering = False

    @property
    def value(self) -> tuple[Widget, str] | None:
        """Where the value stands that was said, and its text."""
        return (self._text.box, self._text.text) if isinstance(self._text, GrowingValue) else None

    def think(self, text: str, now: float) -> None:
        self.size += len(text)
        if self._thinking is None:
            self._thinking = Growing(self._parts, self._parts.column((), *BODY_CLASSES))
            self._began = now
        self._thinking.add(text)

    def say(self, text: str, now: float) -> None:
        self.size += len(text)
        if self._text is None:
            box = self._parts.column((), "agm-text", "jp-RenderedHTMLCommon", "rendered_html")
            wanted = self._flow.wanted
            self._text = GrowingValue(self._parts, box, wanted) if wanted else Growing(self._parts, box)
        if not self.answering and text.strip():
            self.answering = True
            self._end_thinking(now)
        self._text.add(text)

    def end(self, reply: ReplyReceived, now: float) -> None:
        if self._thinking is None and reply.thinking.strip():
            self.think(reply.thinking, now)
        if self._thinking and self._thinking.text.strip():
            self._show_thinking()
            self._thinking.finish(reply.thinking)
            self._show_thought(reply.thought or self._thought or now - self._began)
        if self._text is None and reply.text.strip():
            self.say(reply.text, now)
        if self._text and reply.text.strip():
            self._show_text()
            self._text.finish(reply.text)

    def flush(self, now: float) -> None:
        if self._thinking and self._thinking.text.strip():
            self._show_thinking()
            self._thinking.flush(now)
        if self._text and self.answering:
            self._show_text()
            self._text.flush(now)

    def _end_thinking(self, now: float) -> None:
        if self._thinking and self._thinking.text.strip():
            self._show_thinking()
            self._thought = now - self._began
            self._thinking.finish()
            self._show_thought(self._thought)

    def _show_thinking(self) -> None:
        assert self._thinking is not None
        row = rows.thinking(self._number, self._thinking.text)
        if self._fold is None:
            self._fold = Fold(self._parts, row, "agm-think", body=self._thinking.box)
            self._flow.put_fold(self._fold, before=self._text.box if self._text else None)
        elif not self._thought:
            self._fold.show(row)

    def _show_thought(self, time: float) -> None:
        assert self._fold is not None
        self._thought = time
        self._fold.show(rows.thought(self._number, "", time))

    def _show_text(self) -> None:
        assert self._text is not None
        if self._text.box not in self._flow.box.children:
            self._flow.put(self._text.box)
