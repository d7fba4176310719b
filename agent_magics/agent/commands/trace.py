"""``/trace``: where the time, the tokens and the money of a turn went, or of all turns."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING

from agent_magics.agent.commands.command import Command, Report
from agent_magics.errors import UsageError
from agent_magics.talk import Usage
from agent_magics.talk.text import dollars, seconds
from agent_magics.talk.trace import Kind, Span, Trace, trace, whole_usage

if TYPE_CHECKING:
    from agent_magics.agent.session import Session

USAGE = "[N | all]"
WIDTH = 24
"""Characters of a bar."""

WHO: dict[Kind, str] = {"model": "model", "tool": "tool", "stage": "stage", "wait": "waiting for you"}


def run(session: Session, words: str) -> str:
    turns = session.conversation.turns
    if not turns:
        return "There is no turn to trace yet: ask something first."
    traces = [trace(turns[at], session.price, number=at + 1) for at in _wanted(words, len(turns))]
    return Report(of_all(traces) if words == "all" else of_one(traces[0]), traces)


def _wanted(words: str, count: int) -> Iterable[int]:
    if words == "all":
        return range(count)
    if not words:
        return [count - 1]
    if words.isdecimal() and 1 <= int(words) <= count:
        return [int(words) - 1]
    raise UsageError(
        f"/trace can't take {words!r}.",
        f"There {'is 1 turn' if count == 1 else f'are {count} turns'}, counted from 1.",
        f"It takes: /trace {USAGE}; without a number it shows the last turn.",
    )


def of_one(told: Trace) -> str:
    """One turn as a table with a bar a line, and what it comes to."""
    rows = [
        (
            _cell(f"{'· ' if span.inner else ''}{WHO[span.kind]} {span.name}"),
            seconds(span.began),
            seconds(span.seconds),
            tokens(span.usage),
            cost(span.cost) if span.usage.total else "",
            bar(span, told.seconds),
            _cell(remark(span)),
        )
        for span in told.spans
    ]
    head = ("what", "began", "time", "tokens", "cost", "timeline", "")
    title = f"**Turn {told.number}** · {_cell(told.prompt)}"
    return "\n\n".join([title, table(head, rows, right={1, 2, 3, 4}), totals([told])])


def of_all(traces: Sequence[Trace]) -> str:
    """All turns, a line each."""
    rows = [
        (
            str(told.number),
            _cell(told.prompt, 40),
            str(len(told.of("model"))),
            str(len(told.of("tool"))),
            seconds(told.seconds),
            seconds(told.time("model")),
            seconds(told.time("wait")) if told.of("wait") else "",
            f"{told.usage.total:,}" if told.usage.total else "",
            cost(told.cost),
            told.stop.replace("_", " "),
        )
        for told in traces
    ]
    head = ("turn", "prompt", "requests", "calls", "time", "model", "waited", "tokens", "cost", "ended")
    return "\n\n".join([table(head, rows, right={0, 2, 3, 4, 5, 6, 7, 8}), totals(traces)])


def totals(traces: Sequence[Trace]) -> str:
    """What it comes to, in a line."""
    times = {kind: sum(told.time(kind) for told in traces) for kind in WHO}
    parts = [
        f"**{seconds(sum(told.seconds for told in traces))}** in all",
        f"model {seconds(times['model'])}",
        f"tools {seconds(times['tool'])}" if any(told.of("tool") for told in traces) else "",
        f"waiting for you {seconds(times['wait'])}" if any(told.of("wait") for told in traces) else "",
        f"{tokens(whole_usage(traces))} tokens" if whole_usage(traces).total else "",
        f"cost {whole_cost(traces)}",
    ]
    return " · ".join(filter(None, parts))


def whole_cost(traces: Sequence[Trace]) -> str:
    """The sum of what is known, and whether something is not."""
    costs = [span.cost for told in traces for span in told.spans]
    known = sum(each for each in costs if each is not None)
    if None not in costs:
        return dollars(known)
    return f"at least {dollars(known)}, the rest is unknown" if known else "unknown"


def tokens(usage: Usage) -> str:
    return f"{usage.input:,} → {usage.output:,}" if usage.total else ""


def cost(sum_: float | None) -> str:
    return "unknown" if sum_ is None else dollars(sum_)


def remark(span: Span) -> str:
    """What else there is to say of a span."""
    first = f"first token {seconds(span.first)}" if span.kind == "model" and span.first else ""
    return "; ".join(filter(None, [first, "" if span.ok or span.note else "failed", span.note]))


def bar(span: Span, whole: float) -> str:
    """Where it stands in the turn.

    >>> bar(Span(kind="tool", name="t", began=5.0, seconds=2.5), 10.0)
    '············██████······'
    """
    scale = WIDTH / whole if whole else 0.0
    start = min(WIDTH - 1, int(span.began * scale))
    length = max(1, min(WIDTH - start, round(span.seconds * scale)))
    mark = "░" if span.kind == "wait" else "█"
    return "·" * start + mark * length + "·" * (WIDTH - start - length)


def table(head: Sequence[str], rows: Sequence[Sequence[str]], *, right: Iterable[int] = ()) -> str:
    """A Markdown table whose columns line up as text too."""
    right = set(right)
    widths = [max(3, *(len(row[at]) for row in (head, *rows))) for at in range(len(head))]

    def line(cells: Sequence[str]) -> str:
        padded = (
            cell.rjust(width) if at in right else cell.ljust(width)
            for at, (cell, width) in enumerate(zip(cells, widths, strict=True))
        )
        return f"| {' | '.join(padded)} |"

    rule = [
        "-" * (width - 1) + ":" if at in right else ":" + "-" * (width - 1) for at, width in enumerate(widths)
    ]
    return "\n".join([line(head), line(rule), *map(line, rows)])


_QUIET = str.maketrans({"|": "¦", "`": "'", "*": "∗", "[": "(", "]": ")", "<": "‹", "$": "＄", "\\": "⧵"})


def _cell(text: str, most: int = 60) -> str:
    """Words from elsewhere in a cell: one line, and nothing that Markdown would act on."""
    line = " ".join(text[: 4 * most].split()).translate(_QUIET)
    return line if len(line) <= most else f"{line[: most - 1]}…"


COMMAND = Command(
    name="trace",
    usage=USAGE,
    summary="Where the time, tokens and cost of the last turn went; of turn N; of all turns.",
    run=run,
)
