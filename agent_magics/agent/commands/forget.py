"""``/forget``: take out a fact."""

from __future__ import annotations

from typing import TYPE_CHECKING

from agent_magics.agent.commands.command import Command
from agent_magics.agent.commands.facts import UNDO, literal
from agent_magics.agent.remembering import Remembering
from agent_magics.errors import UsageError

if TYPE_CHECKING:
    from agent_magics.agent.session import Session


def command(remembering: Remembering) -> Command:
    """The command over one session's facts."""

    def run(session: Session, words: str) -> str:
        if not words:
            raise UsageError("/forget needs the id of a fact.", "", "`/facts` lists them.")
        memory = remembering.forget(words)
        return f"Forgotten: {literal(memory.text)} (`{memory.id}`). {UNDO}"

    return Command(name="forget", usage="ID", summary="Take out a fact; it can be undone.", run=run)
