"""``/undo``: take back the last clear or rewind."""

from __future__ import annotations

from typing import TYPE_CHECKING

from agent_magics.agent.commands.command import Command
from agent_magics.agent.commands.listed import counted, prompts
from agent_magics.errors import UsageError

if TYPE_CHECKING:
    from agent_magics.agent.session import Session


def run(session: Session, words: str) -> str:
    if words:
        raise UsageError(
            f"/undo can't take back {words!r}.",
            "It takes back the last /clear or /rewind.",
            "Write /undo alone.",
        )
    why, back = session.undo()
    return f"The last `/{why}` is undone; {counted(len(back))} back:\n\n{prompts(back)}"


COMMAND = Command(
    name="undo", usage="", summary="Take back the last /clear or /rewind, one at a time.", run=run
)
