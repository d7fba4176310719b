"""``/help``: the commands, a line each."""

from __future__ import annotations

from typing import TYPE_CHECKING

from agent_magics.agent.commands.command import Command, cell

if TYPE_CHECKING:
    from agent_magics.agent.session import Session


def run(session: Session, words: str) -> str:
    rows = [f"| `{cell(command.line)}` | {cell(command.summary)} |" for command in session.commands]
    return "\n".join(["| command | what it does |", "|:--|:--|", *rows])


COMMAND = Command(name="help", usage="", summary="The commands, a line each.", run=run)
