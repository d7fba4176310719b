"""``/fork``: go on in a new session with the same turns."""

from __future__ import annotations

from typing import TYPE_CHECKING

from agent_magics.agent.commands.command import Command
from agent_magics.agent.commands.listed import counted

if TYPE_CHECKING:
    from agent_magics.agent.session import Session


def run(session: Session, words: str) -> str:
    left = session.fork()
    back = f"; `/resume {left.id}` goes back to it" if session.past.store and left.turns else ""
    turns = counted(len(session.conversation.turns))
    return f"This is a new session, `{session.id}`, with the same {turns}. `{left.id}` stays as it is{back}."


COMMAND = Command(
    name="fork", usage="", summary="Go on in a new session with the same turns; the old one stays.", run=run
)
