"""``/resume``: go on with a stored session."""

from __future__ import annotations

from typing import TYPE_CHECKING

from agent_magics.agent.commands.command import Command
from agent_magics.agent.commands.listed import counted, named, prompts, quoted
from agent_magics.errors import UsageError

if TYPE_CHECKING:
    from agent_magics.agent.session import Session

LAST = 3
"""Turns that are named, so that a person knows where the conversation was left."""


def run(session: Session, words: str) -> str:
    if not words:
        raise UsageError("/resume needs the id of a session.", "", "See them with /sessions.")
    if session.past.sessions() and session.id.startswith(words):
        return f"This is `{session.id}` already."
    found = session.resume(words)
    turns = session.conversation.turns
    first = max(1, len(turns) - LAST + 1)
    said = [f"{named(found)}. Provider and tools stay; what was granted before has to be granted again."]
    if session.id != found.id:
        said = [
            f"A copy of {named(found)} goes on here as `{session.id}`: the session itself belongs to "
            f"{quoted(found.notebook)}, which is still there, and stays as it is."
        ]
    if turns:
        said.append(f"The last of {counted(len(turns))}:\n\n{prompts(turns[first - 1 :], first)}")
    return "\n\n".join(said)


COMMAND = Command(
    name="resume",
    usage="ID",
    summary="Go on with a stored session; the beginning of its id is enough.",
    run=run,
)
