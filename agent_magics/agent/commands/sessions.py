"""``/sessions``: what is stored, the one used last first."""

from __future__ import annotations

from typing import TYPE_CHECKING

from agent_magics.agent.commands.command import Command
from agent_magics.agent.commands.listed import quoted, when

if TYPE_CHECKING:
    from agent_magics.agent.session import Session

SHOWN = 50


def run(session: Session, words: str) -> str:
    sessions = session.past.sessions()
    if not sessions:
        return "No sessions are stored yet; this one is with its first turn."
    rows = [
        f"| `{info.id}`{' (this one)' if info.id == session.id else ''} | {quoted(info.title)} "
        f"| {quoted(info.notebook)} | {info.turns} | {when(info.used)} |"
        for info in sessions[:SHOWN]
    ]
    table = ["| id | title | notebook | turns | last used |", "|:--|:--|:--|--:|:--|", *rows]
    more = [f"{len(sessions) - SHOWN} older ones are not shown."] if len(sessions) > SHOWN else []
    hint = "Go on with one: `/resume ID`; the beginning of an id is enough."
    return "\n\n".join(["\n".join(table), *more, hint])


COMMAND = Command(
    name="sessions", usage="", summary="The stored sessions: id, title, notebook, turns, when.", run=run
)
