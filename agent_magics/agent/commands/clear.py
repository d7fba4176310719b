"""``/clear``: begin the conversation anew."""

from __future__ import annotations

from typing import TYPE_CHECKING

from agent_magics.agent.commands.command import Command

if TYPE_CHECKING:
    from agent_magics.agent.session import Session


def run(session: Session, words: str) -> str:
    forgotten = session.clear()
    if not forgotten:
        return "The conversation is empty already."
    turns = "1 turn is" if forgotten == 1 else f"{forgotten} turns are"
    return (
        f"{turns} forgotten; the next prompt begins a new conversation. Provider, tools and grants stay. "
        "`/undo` brings them back."
    )


COMMAND = Command(
    name="clear", usage="", summary="Forget the conversation; provider, tools and grants stay.", run=run
)
