"""What to say of a turn that did not end well, and which turns leave an answer all the same."""

from __future__ import annotations

from agent_magics.talk import Turn

ANSWERED = ("done", "max_rounds", "no_progress", "too_many_failures", "budget")
"""Ends of a turn that leave an answer worth binding."""

_ENDS = {
    "truncated": (
        "The answer was cut off by the model's length limit.\n"
        "Its beginning is in _turn.reply.\n"
        "Ask for a shorter answer, or raise the limit."
    ),
    "refused_by_model": (
        "The model refused to answer.\nWhat it said is in _turn.reply.\nAsk in other words."
    ),
    "context_full": (
        "The conversation is longer than the model's window.\n"
        "Every turn adds to it.\n"
        "Begin anew with `%agent /clear`."
    ),
    "halted": "A tool or a hook ended the turn.",
}


def lines(turn: Turn) -> tuple[str, str, str]:
    """What happened, why, and what to do, for a turn that did not end well."""
    what, *rest = (turn.error or _ENDS.get(turn.stop, f"The turn ended: {turn.stop}.")).split("\n")
    why, remedy = ([*rest, "", ""])[:2]
    return what, why, remedy
