"""The words of the panel: what a state is called. Words carry the meaning; marks and colours only help."""

from __future__ import annotations

from collections.abc import Mapping

from agent_magics.providers import prices
from agent_magics.talk import JSON, CallRecord, Turn, Usage
from agent_magics.talk.text import dollars, seconds
from agent_magics.ui.fields import literal
from agent_magics.ui.text import one_line, visible

SHOWN = 2_000
"""Characters of a tool's result that are shown; the whole is in the store."""

ENDS = {
    "cancelled": (
        "Stopped.",
        "The conversation keeps this turn. Run the cell again, or say “go on” in the next one.",
    ),
    "max_rounds": (
        "Stopped at the most rounds of tool calls that a turn may take.",
        "Say “go on” to continue.",
    ),
    "no_progress": ("Stopped: the same calls came again with the same results.", "Say what to try instead."),
    "too_many_failures": (
        "Stopped: too many rounds of tool calls failed in a row.",
        "Say what to try instead.",
    ),
    "budget": ("Stopped: the budget is used up.", "Raise it, or go on in the next cell with a new one."),
    "refused_by_model": (
        "The model declined to answer.",
        "Put the question another way, or ask another model.",
    ),
    "truncated": ("Cut off at the most tokens that the model may answer with.", "Say “go on” for the rest."),
    "context_full": (
        "The conversation no longer fits into the model's window.",
        "Begin a new one with `%agent /clear`, or choose a model with a larger window.",
    ),
    "provider_error": (
        "The provider failed.",
        "Run the cell again, or choose another with `%agent /provider`.",
    ),
    "halted": ("Halted by a tool or a hook.", ""),
}
"""How a turn ended, when it did not end by itself: what happened, and what to do."""

ERRORS = frozenset({"provider_error", "context_full"})

_BY = {
    "you": "rejected by you",
    "timeout": "rejected, nobody answered",
    "policy": "rejected, nobody was asked",
    "interrupt": "stopped",
}


def elapsed(time: float) -> str:
    """A running or whole turn's time, in whole seconds."""
    return seconds(time) if time >= 59.5 else f"{int(time)} s"


def meter(time: float, usage: Usage, arriving: int = 0) -> str:
    """What a turn has cost so far; tokens that are still arriving are an estimate and marked as one."""
    about, tokens = "~" if arriving else "", usage.total + arriving
    count = f" · {about}{tokens:,} token{'s' if tokens != 1 else ''}" if tokens else ""
    return elapsed(time) + count


def spent(turn: Turn) -> str:
    """What a turn has cost, for after the meter; empty where the price is unknown or nobody sends a bill.

    >>> spent(Turn(id="t", prompt="p", provider="demo", model="rules", usage=Usage(input=10)))
    ''
    """
    cost = prices.cost(turn.provider, turn.model, turn.usage) if turn.usage.total else None
    return f" · {dollars(cost)}" if cost else ""


def brief_arguments(arguments: Mapping[str, JSON], most: int = 90) -> str:
    """Arguments on one line: ``path="data/trips.csv", lines="1-40"``."""
    parts = [f"{visible(one_line(name, 40))}={literal(value, 64)}" for name, value in arguments.items()]
    return one_line(", ".join(parts), most)


def outcome(record: CallRecord) -> str:
    """What came of a call, in a few words for after the arrow; empty when there is nothing to say."""
    if record.approval and record.approval.decision == "reject":
        said = record.approval.comment
        return f"“{visible(one_line(said, 80))}”" if said else ""
    return visible(one_line(record.result.brief, 80)) if record.result and not record.stopped else ""


def verdict(record: CallRecord, *, over: bool = True) -> tuple[str, str]:
    """How a call stands: the quiet part and the part that stands out, either perhaps empty.

    Parameters
    ----------
    over : bool
        Whether the turn is over: a call without a result was then stopped.
    """
    approval = record.approval
    if approval and approval.decision == "reject":
        return "", _BY.get(approval.by, "rejected")
    time = seconds(record.seconds)
    if record.stopped:
        return time, "stopped"
    if record.result is None:
        return ("", "stopped") if over else ("running", "")
    if not record.result.ok:
        return (f"{time} ✕" if record.seconds else "✕"), "failed"
    if record.made and approval:
        return ("approved by you ✓" if approval.by == "you" else f"approved by {approval.by} ✓"), ""
    return f"{time} ✓", ""


def ending(turn: Turn) -> tuple[str, str] | None:
    """What happened and what to do, for a turn that did not simply end; ``None`` for one that did."""
    if turn.error:
        what, _, rest = turn.error.strip().partition("\n")
        return what, rest
    return ENDS.get(turn.stop)
