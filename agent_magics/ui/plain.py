"""A turn as lines: for terminals, and for front ends that show no widgets.

Thinking is dim, the answer comes as it is said, and a tool call is one line when it has returned. What a
model or a tool says can't steer the terminal: control characters don't get through, and in what a person
decides about every hidden character is spelled out.
"""

from __future__ import annotations

import json
import sys
from typing import TextIO

from agent_magics.talk import (
    ApprovalAsked,
    ApprovalGiven,
    Compacting,
    Event,
    Noticed,
    Retrying,
    Saying,
    Thinking,
    ToolReturned,
    Turn,
    TurnEnded,
    advance,
)
from agent_magics.ui.approval import bound, title
from agent_magics.ui.text import arriving, one_line, visible
from agent_magics.ui.words import brief_arguments, ending, meter, outcome, spent, verdict

_DIM, _BOLD, _OFF = "\x1b[2m", "\x1b[1m", "\x1b[22m"


class PlainView:
    """Prints a turn while it runs.

    Parameters
    ----------
    out : TextIO, optional
        Where the answer goes; standard output by default, looked up when something is printed.
    aside : TextIO, optional
        Where everything else goes; ``out`` by default.
    styled : bool
        Whether to dim and embolden with terminal codes.
    """

    def __init__(
        self, out: TextIO | None = None, aside: TextIO | None = None, *, styled: bool = False
    ) -> None:
        self._out = out
        self._aside = aside
        self._styled = styled
        self._turn: Turn | None = None
        self._half = ""
        self._kind: type[Event] | None = None
        self._fresh = True

    def __call__(self, event: Event, /) -> None:
        match event:
            case Saying(text=text):
                self._flow(Saying, text)
            case Thinking(text=text):
                self._flow(Thinking, text)
            case _:
                self._turn = advance(self._turn, event)
                self._tell(event)

    play = __call__

    def _tell(self, event: Event) -> None:
        match event:
            case ToolReturned():
                self._line(self._called(event.id))
            case ApprovalAsked():
                self._line(f"? {question(event)}")
            case ApprovalGiven():
                said = f": {event.comment}" if event.comment else ""
                self._line(f"  {event.decision}, by {event.by}{said}")
            case Retrying():
                self._line(f"… again in {event.delay:.0f} s ({event.attempt} of {event.tries}): {event.why}")
            case Compacting():
                self._line("… summing up earlier messages")
            case Noticed():
                self._line(f"! {event.text}")
            case TurnEnded():
                self._end()
            case _:
                pass

    def _called(self, id_: str) -> str:
        for record in self._turn.calls if self._turn else ():
            if record.id == id_:
                tail = outcome(record)
                after = f" → {tail}" if tail else ""
                quiet, loud = verdict(record)
                name = f"{record.shown}({brief_arguments(record.arguments)})"
                return f"· {name}{after}  {f'{quiet} {loud}'.strip()}"
        return ""

    def _end(self) -> None:
        turn = self._turn
        if turn is None:
            return
        if end := ending(turn):
            self._line("\n".join(filter(None, end)))
        who = " · ".join(each for each in (turn.model, turn.origin) if each)
        self._line(f"[{who} · {meter(turn.seconds, turn.usage)}{spent(turn)}]")

    def _flow(self, kind: type[Event], text: str) -> None:
        """Text as it comes; thinking and answer each begin on a line of their own."""
        if kind is not self._kind:
            self._break()
            self._kind = kind
        clean, self._half = arriving(self._half + text)
        if clean:
            self._write(clean, aside=kind is Thinking)
            self._fresh = clean.endswith("\n")

    def _line(self, text: str) -> None:
        self._break()
        self._kind = None
        self._write(visible(text) + "\n", aside=True)

    def _break(self) -> None:
        if not self._fresh:
            self._write("\n", aside=self._kind is Thinking)
        self._half, self._fresh = "", True

    def _write(self, text: str, *, aside: bool) -> None:
        out = self._out or sys.stdout
        if aside:
            out = self._aside or out
            text = f"{_DIM}{text}{_OFF}" if self._styled and text.strip() else text
        out.write(text)
        out.flush()


def question(asked: ApprovalAsked, patience: float = 600.0) -> str:
    """A request for approval as text: everything that would run, in full, and nothing in it hidden."""
    what, name, below = title(asked)
    parts = [f"{what} {name}", below, *_source(asked), *_arguments(asked)]
    parts += [f"{visible(one_line(label))}: {visible(text)}" for label, text in asked.facts]
    return "\n".join(part for part in [*parts, bound(asked, patience)] if part)


def _source(asked: ApprovalAsked) -> list[str]:
    lines = visible(asked.source).rstrip("\n").split("\n") if asked.source else []
    return [f"{number:>4}  {line}" for number, line in enumerate(lines, 1)]


def _arguments(asked: ApprovalAsked) -> list[str]:
    return [
        f"{visible(one_line(name))} = {visible(json.dumps(value, ensure_ascii=False, default=str))}"
        for name, value in asked.call.arguments.items()
        if not (asked.source and value == asked.source)
    ]
