"""Where the time and the tokens of a turn went: a turn -> its spans. Pure.

A span is a stretch of time in which one thing went on: the model answered, a tool ran, a stage of a new tool
was passed, a person was asked. Spans overlap: a tool's holds its stages and the waiting for an answer.

A turn from before the times were kept, or from a file that lacks them, has its spans end to end: their
lengths are right, and only the gaps between them are not known.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from typing import Literal

from agent_magics.talk.content import Usage
from agent_magics.talk.turn import Approval, CallRecord, Stage, Step, Turn

Kind = Literal["model", "tool", "stage", "wait"]

Price = Callable[[str, str, Usage], "float | None"]
"""``(provider, model, usage)`` -> US dollars; ``None`` where the price is not known."""


_LONGEST = 1e8
"""Seconds, about three years: no turn takes longer."""


def unknown(provider: str, model: str, usage: Usage) -> float | None:
    """The price list of somebody who knows no price."""
    return None


@dataclass(frozen=True, kw_only=True, slots=True)
class Span:
    """One stretch of a turn.

    Attributes
    ----------
    kind : {"model", "tool", "stage", "wait"}
        What went on: a provider call, a tool call, a stage of tool making, a question to a person.
    name : str
        The model, the tool, the stage, or the tool that was asked about.
    began, seconds : float
        Seconds since the turn began, and how long it took.
    own : float
        For a tool, its time without what it waited for a person.
    first : float
        For a model, the seconds until its first token.
    gaps : tuple of (float, float)
        For a model, the pauses before it was asked again: seconds since the span began, and their length.
    usage : Usage
        Its tokens; zero where none were told.
    cost : float or None
        In US dollars; ``None`` where it is unknown.
    ok : bool
        Whether it went well.
    note : str
        In a few words what else there is to say.
    inner : bool
        Whether it is a part of the tool call above it.
    """

    kind: Kind
    name: str
    began: float
    seconds: float
    own: float = 0.0
    first: float = 0.0
    gaps: tuple[tuple[float, float], ...] = ()
    usage: Usage = field(default_factory=Usage)
    cost: float | None = 0.0
    ok: bool = True
    note: str = ""
    inner: bool = False

    @property
    def ended(self) -> float:
        return self.began + self.seconds


@dataclass(frozen=True, kw_only=True, slots=True)
class Trace:
    """The spans of one turn, in the order in which they began, and what they come to.

    ``number`` is the turn's place in the conversation, from 1; 0 where it has none.
    """

    prompt: str
    model: str
    spans: tuple[Span, ...]
    seconds: float
    usage: Usage
    stop: str = "done"
    number: int = 0
    origin: str = ""

    def of(self, *kinds: Kind) -> tuple[Span, ...]:
        """The spans of these kinds."""
        return tuple(span for span in self.spans if span.kind in kinds)

    def time(self, kind: Kind) -> float:
        """Seconds spent on this kind of thing; what went on side by side counts each."""
        return sum(span.own if span.kind == "tool" else span.seconds for span in self.of(kind))

    @property
    def cost(self) -> float | None:
        """In US dollars; ``None`` if a part of it is unknown."""
        parts = [span.cost for span in self.spans]
        known = [part for part in parts if part is not None]
        return sum(known) if len(known) == len(parts) else None


def trace(turn: Turn, price: Price = unknown, *, number: int = 0) -> Trace:
    """The trace of one turn.

    Parameters
    ----------
    turn : Turn
        It may be running still.
    price : callable
        What tokens cost.
    number : int
        Its place in the conversation.

    Examples
    --------
    >>> from agent_magics.talk import Step, Turn
    >>> told = trace(Turn(id="t", prompt="hi", model="m", steps=(Step(seconds=1.5),)))
    >>> [(span.kind, span.name, span.seconds) for span in told.spans]
    [('model', 'm', 1.5)]
    """
    spans = tuple(_spans(turn, price))
    return Trace(
        prompt=turn.prompt,
        model=turn.model,
        spans=spans,
        seconds=max([sane(turn.seconds), *(span.ended for span in spans)]),
        usage=turn.usage,
        stop=turn.stop,
        number=number,
        origin=turn.origin,
    )


class _Clock:
    """Turns points of time into seconds since the turn began; what has none follows what came before.

    Parameters
    ----------
    epoch : float
        When the turn began; 0 where that, or the time of what is told, is not known.
    now : float
        Where that begins which has no time of its own.
    """

    def __init__(self, epoch: float, now: float = 0.0) -> None:
        self.epoch = epoch
        self._now = now

    def began(self, at: float, seconds: float) -> float:
        """When a stretch began that took so long."""
        start = sane(at - self.epoch) if at and self.epoch else self._now
        self._now = max(self._now, start + seconds)
        return start


def sane(time: float) -> float:
    """A number of seconds as it can be: a file that came by mail may claim any."""
    return time if 0.0 <= time < _LONGEST else 0.0


def _spans(turn: Turn, price: Price) -> Iterator[Span]:
    clock = _Clock(turn.began)
    for step in turn.steps:
        yield _model(turn, step, price, clock)
        for call in step.calls:
            yield from _call(call, price, clock)


def _model(turn: Turn, step: Step, price: Price, clock: _Clock) -> Span:
    tries = len(step.retries)
    notes = [
        f"{tries} {'retry' if tries == 1 else 'retries'}: {step.retries[-1].why}" if tries else "",
        step.stop if step.stop in ("failed", "cancelled") else "",
    ]
    seconds = sane(step.seconds)
    return Span(
        kind="model",
        name=turn.model or turn.provider,
        began=clock.began(step.at, seconds),
        seconds=seconds,
        first=sane(step.first),
        gaps=tuple((sane(each.after), sane(each.delay)) for each in step.retries),
        usage=step.usage,
        cost=_cost(turn.provider, turn.model, step.usage, price),
        ok=step.stop != "failed",
        note="; ".join(filter(None, notes)),
    )


def _call(call: CallRecord, price: Price, clock: _Clock) -> Iterator[Span]:
    own = sane(call.seconds)
    waited = sum(sane(answer.seconds) for answer in call.approvals)
    began = clock.began(call.at, own + waited)
    yield Span(
        kind="tool",
        name=call.shown,
        began=began,
        seconds=own + waited,
        own=own,
        ok=call.ok,
        note=_ended(call),
    )
    within = _Clock(clock.epoch if call.at else 0.0, began)
    parts = [
        *(_stage(stage, price, within) for stage in call.stages),
        *(_wait(call, answer, within) for answer in call.approvals),
    ]
    yield from sorted(parts, key=lambda span: span.began)


def _wait(call: CallRecord, answer: Approval, clock: _Clock) -> Span:
    said = f"{answer.decision}, by {answer.by}" + (f": {answer.comment}" if answer.comment else "")
    return Span(
        kind="wait",
        name=call.shown,
        began=clock.began(answer.at, sane(answer.seconds)),
        seconds=sane(answer.seconds),
        ok=answer.decision != "reject",
        note=said,
        inner=True,
    )


def _ended(call: CallRecord) -> str:
    if call.stopped:
        return "stopped"
    if call.result is None:
        return "no result"
    return f"made {call.made}" if call.made else "" if call.result.ok else "failed"


def _stage(stage: Stage, price: Price, clock: _Clock) -> Span:
    provider, _, model = stage.model.partition(":")
    return Span(
        kind="stage",
        name=stage.name,
        began=clock.began(stage.at, sane(stage.seconds)),
        seconds=sane(stage.seconds),
        usage=stage.usage,
        cost=_cost(provider, model, stage.usage, price) if stage.usage.total else 0.0,
        ok=stage.ok,
        note=": ".join(filter(None, [stage.tool, stage.detail])),
        inner=True,
    )


def _cost(provider: str, model: str, usage: Usage, price: Price) -> float | None:
    """The price of a request. One that told no tokens costs nothing only where nothing costs anything."""
    cost = price(provider, model, usage)
    return cost if usage.total or cost is None else (0.0 if free(provider, model, price) else None)


def free(provider: str, model: str, price: Price) -> bool:
    """Whether nobody sends a bill: any number of tokens costs nothing.

    >>> free("demo", "rules", lambda provider, model, usage: 0.0)
    True
    """
    return price(provider, model, Usage(input=1_000_000, output=1_000_000)) == 0.0


def whole_usage(traces: Sequence[Trace]) -> Usage:
    """The tokens of several turns."""
    total = Usage()
    for each in traces:
        total += each.usage
    return total
