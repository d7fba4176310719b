"""``/provider``: which model answers; change it and keep the conversation."""

from __future__ import annotations

from typing import TYPE_CHECKING

from agent_magics.agent.commands.command import Command

if TYPE_CHECKING:
    from agent_magics.agent.session import Session


def run(session: Session, words: str) -> str:
    if not words:
        names = ", ".join(f"`{name}`" for name in session.providers.names())
        now = f"Now: **{_model(session)}**. {session.why}"
        return f"{now}\n\nAvailable: {names}. Change with `/provider NAME[:MODEL]`."
    before = _model(session)
    session.use(words)
    return f"**{_model(session)}** answers from now on (before: {before}). The conversation is kept."


def _model(session: Session) -> str:
    return f"{session.provider.name}:{session.provider.model}".rstrip(":")


COMMAND = Command(
    name="provider",
    usage="[NAME[:MODEL]]",
    summary="Which model answers; with a name, change it and keep the conversation.",
    run=run,
)
