"""``/compact``: make room now."""

from __future__ import annotations

from typing import TYPE_CHECKING

from agent_magics.agent.commands.command import Command
from agent_magics.agent.compact import NOTHING
from agent_magics.errors import UsageError

if TYPE_CHECKING:
    from agent_magics.agent.session import Session

USAGE = "[undo]"


def run(session: Session, words: str) -> str:
    if words not in ("", "undo"):
        raise UsageError(
            f"/compact can't take {words!r}.",
            f"It is written /compact {USAGE}.",
            "`/compact` makes room now, `/compact undo` sends everything whole again.",
        )
    if words == "undo":
        if not session.context.compaction:
            return "Nothing is compacted: earlier turns are sent as they were."
        session.context.compaction = NOTHING
        return "Earlier turns are sent whole again."
    kept = "The first and the last messages and pinned turns stay as they were."
    said = session.compact() or f"There is nothing to make shorter. {kept}"
    return f"{said} The conversation itself is unchanged; `/context` shows what is sent."


COMMAND = Command(
    name="compact",
    usage=USAGE,
    summary="Shorten old results and sum up the middle of what is sent; the conversation stays as it is.",
    run=run,
    meanwhile="The model sums up the middle of the conversation …",
)
