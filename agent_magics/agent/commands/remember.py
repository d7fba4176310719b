"""``/remember``: keep a fact for all of one's notebooks, or for this one."""

from __future__ import annotations

from typing import TYPE_CHECKING

from agent_magics.agent.commands.command import Command
from agent_magics.agent.commands.facts import UNDO, literal
from agent_magics.agent.remembering import BY_PERSON, Remembering

if TYPE_CHECKING:
    from agent_magics.agent.session import Session

HERE = "--notebook"


def command(remembering: Remembering) -> Command:
    """The command over one session's facts. Whoever types it is not asked."""

    def run(session: Session, words: str) -> str:
        here = words.split(None, 1)[:1] == [HERE]
        text = words.removeprefix(HERE) if here else words
        memory = remembering.remember(text, "notebook" if here else "user", BY_PERSON)
        where = "this notebook" if here else "all of your notebooks"
        return f"Remembered for {where}: {literal(memory.text)} (`{memory.id}`). {UNDO}"

    return Command(
        name="remember",
        usage=f"[{HERE}] TEXT",
        summary=f"Remember a fact in all of your notebooks, or with `{HERE}` in this one.",
        run=run,
    )
