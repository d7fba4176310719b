"""``/export``: the conversation as a notebook, as Markdown, or as JSON that ``/restore`` reads."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING

from agent_magics.agent.commands.command import Command
from agent_magics.agent.commands.listed import counted, quoted
from agent_magics.errors import UsageError
from agent_magics.record.trust import harmless
from agent_magics.record.writing import KINDS, Looks, export

if TYPE_CHECKING:
    from agent_magics.agent.session import Session

USAGE = "FILE.ipynb|FILE.md|FILE.json [--force]"


def command(looks: Callable[[], Looks]) -> Command:
    """The command, told who knows what a turn looks like."""

    def run(session: Session, words: str) -> str:
        name, force = _read(words)
        path = located(session, name)
        if force and str(path) == session.past.place.notebook:
            raise UsageError(
                f"{quoted(path.name)} is this notebook.".replace("`", "'"),
                "It is open here, and would be replaced while you work in it.",
                "Export under another name.",
            )
        export(session.conversation, path, looks(), force=force)
        where = harmless(str(path), 1_000).replace("`", "'")
        return f"{counted(len(session.conversation.turns))} written to `{where}`."

    return Command(
        name="export",
        usage=USAGE,
        summary="Write the conversation to a file; one that exists is replaced only with --force.",
        run=run,
    )


def located(session: Session, name: str) -> Path:
    """The file of that name, meant from the notebook's folder."""
    return folder(session) / Path(name).expanduser()


def folder(session: Session) -> Path:
    """The notebook's folder, as far as it is known; else the session's, or the process's."""
    notebook = Path(session.past.place.notebook or "?")
    if notebook.is_absolute():
        return notebook.parent
    here = getattr(session, "cwd", None)
    return here if isinstance(here, Path) else Path.cwd()


def unquoted(words: str) -> str:
    """A path as it was meant: the quotes around one with spaces are not part of it."""
    words = words.strip()
    whole = len(words) > 1 and words[0] == words[-1] and words[0] in "\"'"
    return words[1:-1] if whole else words


def _read(words: str) -> tuple[str, bool]:
    rest = words.split()
    force = "--force" in rest
    name = unquoted(" ".join(each for each in rest if each != "--force") if force else words)
    if not name:
        raise UsageError(
            "/export needs the name of a file.",
            f"It is written /export {USAGE}; the name says what is written: {', '.join(KINDS)}.",
            "For example `/export talk.ipynb`.",
        )
    return name, force
