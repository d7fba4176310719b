"""``/rewind``: go back to before a turn."""

from __future__ import annotations

from typing import TYPE_CHECKING

from agent_magics.agent.commands.command import Command
from agent_magics.agent.commands.listed import counted, prompts
from agent_magics.errors import UsageError

if TYPE_CHECKING:
    from agent_magics.agent.session import Session


def run(session: Session, words: str) -> str:
    turns = session.conversation.turns
    if not words:
        if not turns:
            return "The conversation is empty."
        return f"{prompts(turns)}\n\n`/rewind N` goes back to before turn N."
    if not words.isdecimal():
        raise UsageError(
            f"/rewind takes the number of a turn, not {words!r}.",
            "The turns are counted from 1.",
            "/rewind alone shows them.",
        )
    number = int(words)
    dropped = session.rewind(number)
    return (
        f"{counted(len(dropped))} dropped:\n\n{prompts(dropped, number)}\n\n"
        f"{counted(number - 1)} left. `/undo` brings them back. The notebook's variables and files stay."
    )


COMMAND = Command(
    name="rewind",
    usage="[N]",
    summary="Go back to before turn N, as if it had not been asked; alone, the turns by number.",
    run=run,
)
