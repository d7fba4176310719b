"""``/pin``: turns that are always sent whole."""

from __future__ import annotations

from typing import TYPE_CHECKING

from agent_magics.agent.commands.command import Command
from agent_magics.errors import UsageError
from agent_magics.talk import Turn

if TYPE_CHECKING:
    from agent_magics.agent.session import Session


def run(session: Session, words: str) -> str:
    number, turn = turn_named(session, "pin", words)
    session.context.pins.add(turn.id)
    return f"Turn {number} is pinned: it is sent word for word, whatever else is shortened. {pinned(session)}"


def turn_named(session: Session, command: str, words: str) -> tuple[int, Turn]:
    """The turn that was named by its number, or the last one."""
    turns = session.conversation.turns
    if not turns:
        raise UsageError(
            f"There is no turn to {command}.", "The conversation is empty.", f"Ask first, then `/{command}`."
        )
    if not words:
        return len(turns), turns[-1]
    number = int(words) if words.isascii() and words.isdecimal() and len(words) < 7 else 0
    if not 1 <= number <= len(turns):
        raise UsageError(
            f"There is no turn {words!r}.",
            f"The turns of this conversation are 1 to {len(turns)}; `/context` lists them.",
            f"For example `/{command} {len(turns)}`, or `/{command}` alone for the last one.",
        )
    return number, turns[number - 1]


def pinned(session: Session) -> str:
    """Which turns are."""
    numbers = [
        str(number)
        for number, turn in enumerate(session.conversation.turns, 1)
        if turn.id in session.context.pins
    ]
    return f"Pinned: {', '.join(numbers)}." if numbers else "Nothing is pinned."


COMMAND = Command(
    name="pin", usage="[N]", summary="Always send the last turn, or turn N, word for word.", run=run
)
