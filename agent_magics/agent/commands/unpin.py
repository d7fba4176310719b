"""``/unpin``: take a pin off again."""

from __future__ import annotations

from typing import TYPE_CHECKING

from agent_magics.agent.commands.command import Command
from agent_magics.agent.commands.pin import pinned, turn_named

if TYPE_CHECKING:
    from agent_magics.agent.session import Session


def run(session: Session, words: str) -> str:
    number, turn = turn_named(session, "unpin", words)
    if turn.id not in session.context.pins:
        return f"Turn {number} is not pinned. {pinned(session)}"
    session.context.pins.discard(turn.id)
    return f"Turn {number} is no longer pinned. {pinned(session)}"


COMMAND = Command(name="unpin", usage="[N]", summary="Take the pin off the last turn, or turn N.", run=run)
