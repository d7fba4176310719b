"""``/restore``: the conversation back from a notebook or an exported file, without the store.

What comes in is text: prompts, replies and what tools returned, marked with the file's name. No approval, no
permission, no tool, no fact and no provider comes with it; see :mod:`agent_magics.record.trust`.
"""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from agent_magics.agent.commands.command import Command
from agent_magics.agent.commands.export import located, unquoted
from agent_magics.agent.commands.listed import counted, prompts, quoted
from agent_magics.errors import UsageError
from agent_magics.record.reading import read_record
from agent_magics.record.trust import adopted
from agent_magics.talk import Turn

if TYPE_CHECKING:
    from agent_magics.agent.session import Session

_LISTED = 20


def run(session: Session, words: str) -> str:
    path = _path(session, unquoted(words))
    record = read_record(path)
    here = session.conversation.turns
    known = {_key(turn) for turn in here}
    new = [turn for turn in record.turns if _key(turn) not in known]
    taken = {call.id for turn in here for call in turn.calls}
    turns, before = adopted(new, {turn.id for turn in here}, taken), len(here)
    session.take_in(turns)
    return _said(record.name, turns, before=before, already=len(record.turns) - len(new))


def _path(session: Session, name: str) -> Path:
    if name:
        return located(session, name)
    notebook = Path(session.past.place.notebook or "?")
    if not notebook.is_absolute():
        raise UsageError(
            "/restore doesn't know which file to read.",
            "The path of this notebook is not known here.",
            "Name a file: `/restore talk.ipynb`, or what /export wrote as JSON.",
        )
    return notebook


def _key(turn: Turn) -> tuple[str, str, float]:
    """By which a turn is known to be here already."""
    return turn.prompt, turn.reply, turn.began


def _said(name: str, turns: Sequence[Turn], *, before: int, already: int) -> str:
    there = f"{counted(already)} of it {'was' if already == 1 else 'were'} here already."
    if not turns:
        return f"Nothing new in {quoted(name)}: {there}"
    more = len(turns) - _LISTED
    parts = [
        f"{counted(len(turns))} from {quoted(name)}:",
        prompts(turns[:_LISTED], before + 1) + (f"\n\n… and {more} more." if more > 0 else ""),
        "They are marked with the file's name and bring only text: no approvals, tools, facts or provider."
        + (f" {there}" if already else ""),
    ]
    return "\n\n".join(parts)


COMMAND = Command(
    name="restore",
    usage="[FILE.ipynb|FILE.json]",
    summary="Bring back the turns that a notebook holds in its outputs; alone, those of this notebook.",
    run=run,
)
