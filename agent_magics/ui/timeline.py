"""The geometry of a timeline: spans -> lanes of bars on a time axis, in fractions of its width. Pure.

What draws it (:mod:`agent_magics.ui.trace`) adds no thought of its own, so the page and the picture file
can't differ. Labels never overlap: one stands in its bar, or behind it where there is room before the next
bar of its row; a bar whose label finds no room gets a row of its own, or at last goes without.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field, replace

from agent_magics.agent.commands.trace import WHO, cost, remark, tokens
from agent_magics.talk.text import seconds
from agent_magics.talk.trace import Kind, Span, Trace
from agent_magics.ui.text import one_line, visible

PLOT = 640
"""Pixels of the axis, for which labels are measured; where it is narrower they are cut."""

_LETTER = 6.0
_ROWS = 4
_SHORTEST = 3 / PLOT
_LANES: dict[Kind, str] = {
    "model": "model",
    "tool": "tools",
    "stage": "tool making",
    "wait": "waiting for you",
}
MOST = 150
"""Spans, and turns, that a picture shows."""


@dataclass(frozen=True, kw_only=True, slots=True)
class Bar:
    """One bar: where it stands, what is written on it or behind it, and what is read over it.

    ``dark`` are stretches of it (in fractions of the axis) in which nothing came: until the first token, and
    between two tries. ``room`` is the place of a label behind the bar; 0 puts the label inside.
    """

    kind: Kind
    left: float
    width: float
    title: str
    label: str = ""
    row: int = 0
    ok: bool = True
    dark: tuple[tuple[float, float], ...] = ()
    room: float = 0.0


@dataclass(frozen=True, kw_only=True, slots=True)
class Lane:
    """A name and the rows of bars beside it."""

    name: str
    bars: tuple[Bar, ...]
    title: str = ""

    @property
    def rows(self) -> int:
        return 1 + max((bar.row for bar in self.bars), default=0)


@dataclass(frozen=True, kw_only=True, slots=True)
class Timeline:
    """The lanes over one axis, its marks, and how much was left out."""

    lanes: tuple[Lane, ...]
    marks: tuple[tuple[float, str], ...]
    left_out: str = ""


def timeline(told: Trace) -> Timeline:
    """One turn: a lane for each kind of thing that went on."""
    spans = told.spans[:MOST]
    whole = told.seconds or 1e-9
    lanes = [
        Lane(
            name=name,
            bars=_placed([_bar(span, whole, _label(span)) for span in spans if span.kind == kind]),
        )
        for kind, name in _LANES.items()
        if any(span.kind == kind for span in spans)
    ]
    more = len(told.spans) - len(spans)
    return Timeline(
        lanes=tuple(lanes), marks=marks(whole), left_out=f"The last {more} are not shown." if more else ""
    )


def timelines(traces: Sequence[Trace]) -> Timeline:
    """Several turns, a lane each, all beginning at the left."""
    shown = traces[-MOST:]
    whole = max((told.seconds for told in shown), default=0.0) or 1e-9
    lanes = tuple(
        Lane(
            name=visible(one_line(f"{told.number}  {told.prompt}", 22)),
            title=visible(one_line(told.prompt, 200)),
            bars=tuple(_bar(span, whole) for span in told.of("model", "tool", "wait")[:MOST]),
        )
        for told in shown
    )
    more = len(traces) - len(shown)
    return Timeline(
        lanes=lanes, marks=marks(whole), left_out=f"The first {more} turns are not shown." if more else ""
    )


def marks(whole: float, most: int = 8) -> tuple[tuple[float, str], ...]:
    """Round points of time along the axis.

    >>> [label for _, label in marks(9.0)]
    ['0', '2 s', '4 s', '6 s', '8 s']
    """
    step = next((step for step in _steps() if whole / step < most - 1), 86_400.0)
    count = int(whole / step + 1e-9)
    points = (step * number for number in range(count + 1))
    return tuple((point / whole, _mark(point)) for point in points if point / whole <= 0.985)


def described(span: Span) -> str:
    """Everything about a span in a line."""
    parts = [
        f"{WHO[span.kind]} {visible(one_line(span.name, 80))}",
        f"began at {seconds(span.began)}",
        seconds(span.seconds),
        f"{tokens(span.usage)} tokens" if span.usage.total else "",
        cost(span.cost) if span.usage.total and span.cost != 0 else "",
        visible(one_line(remark(span), 200)),
    ]
    return " · ".join(filter(None, parts))


def _steps() -> list[float]:
    fine = [base * 10.0**power for power in range(-3, 2) for base in (1, 2, 5)]
    return [*fine[:-1], *(60.0 * each for each in (0.5, 1, 2, 5, 10, 15, 30, 60, 120, 360))]


def _mark(point: float) -> str:
    if not point:
        return "0"
    if point < 1:
        return f"{point * 1e3:.0f} ms"
    if point < 60:
        return f"{point:g} s"
    minutes, rest = divmod(round(point), 60)
    return f"{minutes} min {rest:02d} s" if rest else f"{minutes} min"


def _bar(span: Span, whole: float, label: str = "") -> Bar:
    left = min(span.began / whole, 1 - _SHORTEST)
    width = min(max(span.seconds / whole, _SHORTEST), 1 - left)
    end = left + width
    gaps = [(left + after / whole, delay / whole) for after, delay in span.gaps]
    dark = [(left, span.first / whole)] if span.first else gaps
    return Bar(
        kind=span.kind,
        left=left,
        width=width,
        label=label,
        title=described(span),
        ok=span.ok,
        dark=tuple((start, min(length, end - start)) for start, length in dark if start < end),
    )


def _label(span: Span) -> str:
    if span.kind in ("model", "wait"):
        return seconds(span.seconds)
    return visible(one_line(span.name, 28))


@dataclass(slots=True)
class _Row:
    """A row while it is filled: where its last bar and that one's label end."""

    bars: list[Bar] = field(default_factory=list[Bar])
    bar_end: float = 0.0
    end: float = 0.0


def _placed(bars: Sequence[Bar]) -> tuple[Bar, ...]:
    rows: list[_Row] = []
    for bar in sorted(bars, key=lambda each: each.left):
        row = next((row for row in rows if row.end <= bar.left + 1e-9), None)
        if row is None and len(rows) < _ROWS:
            rows.append(row := _Row())
        if row is None:
            row = min(rows, key=lambda each: each.bar_end)
            _give_way(row)
        placed = _labelled(replace(bar, row=rows.index(row)))
        row.bars.append(placed)
        row.bar_end = placed.left + placed.width
        row.end = row.bar_end + placed.room
    return tuple(bar for row in rows for bar in _roomy(row.bars))


def _roomy(bars: Sequence[Bar]) -> Iterator[Bar]:
    """The bars of a row; a label behind a bar has all the room up to the next one."""
    for bar, end in zip(bars, [*(each.left for each in bars[1:]), 1.0], strict=True):
        yield replace(bar, room=end - bar.left - bar.width) if bar.room else bar


def _give_way(row: _Row) -> None:
    """The last label of a row that must take one more bar goes, if it stands behind its own."""
    last = row.bars[-1]
    if last.room:
        row.bars[-1] = replace(last, room=0.0, label="")


def _labelled(bar: Bar) -> Bar:
    needed = (len(bar.label) * _LETTER + 10) / PLOT
    if bar.width >= needed:
        return bar
    if bar.left + bar.width + needed <= 1:
        return replace(bar, room=needed)
    letters = int((bar.width * PLOT - 10) / _LETTER)
    return replace(bar, label=f"{bar.label[: letters - 1]}…" if letters > 3 else "")
