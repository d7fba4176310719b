"""Turns -> a file: a notebook, Markdown or JSON. It is there whole, or it is not there.

What a turn looks like is handed in (:class:`Looks`), since drawing is not this package's work. A file that
exists is left alone unless its loss is asked for by ``force``.
"""

from __future__ import annotations

import json
import os
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from agent_magics.errors import ConfigError, UsageError
from agent_magics.files import write_whole
from agent_magics.record.reading import shown_name
from agent_magics.talk import Conversation, Turn
from agent_magics.talk.codec import encode

KINDS = (".ipynb", ".md", ".json")


@dataclass(frozen=True, kw_only=True)
class Looks:
    """How a turn looks in a file.

    Parameters
    ----------
    bundle : callable
        A turn as a MIME bundle, with its data.
    markdown : callable
        A turn as Markdown that is safe for any renderer.
    quoted : callable
        Anybody's text as Markdown that is safe for any renderer.
    """

    bundle: Callable[[Turn], Mapping[str, Any]]
    markdown: Callable[[Turn], str]
    quoted: Callable[[str], str]


def export(conversation: Conversation, path: Path, looks: Looks, *, force: bool = False) -> None:
    """Write a conversation into a file of the kind that its name says.

    Parameters
    ----------
    path : Path
        Ends in ``.ipynb``, ``.md`` or ``.json``.
    force : bool
        Whether a file that exists is replaced.

    Raises
    ------
    UsageError
        If the name says no kind, the file exists, or there is nothing to write.
    ConfigError
        If it can't be written.
    """
    if path.suffix not in KINDS:
        raise UsageError(
            f"{shown_name(path)!r} doesn't say what to write.",
            f"A conversation can be written as {', '.join(KINDS)}.",
            "For example `/export talk.ipynb`.",
        )
    if not conversation.turns:
        raise UsageError("There is nothing to export.", "The conversation has no turns.", "Ask something.")
    if os.path.lexists(path) and not force:
        raise UsageError(
            f"{shown_name(path)!r} is there already.",
            "Nothing is overwritten without being asked for.",
            f"Take another name, or write `/export {shown_name(path)} --force`.",
        )
    match path.suffix:
        case ".ipynb":
            text = as_notebook(conversation, looks)
        case ".md":
            text = as_markdown(conversation, looks)
        case _:
            text = as_json(conversation)
    _write(path, text)


def as_json(conversation: Conversation) -> str:
    """The conversation in the format that ``/restore`` reads, without providers' private blocks."""
    return json.dumps(encode(conversation, sparse=True), ensure_ascii=False, indent=1) + "\n"


def as_markdown(conversation: Conversation, looks: Looks) -> str:
    """Prompts as headed quotations, each with its answer; a call is one line."""
    parts = [f"# {looks.quoted(_title(conversation))}"]
    for number, turn in enumerate(conversation.turns, 1):
        asked = looks.quoted(turn.prompt).split("\n")
        parts += [f"## {number}", "\n".join(f"> {line}".rstrip() for line in asked)]
        parts.append(looks.markdown(turn))
    return "\n\n".join(parts) + "\n"


def as_notebook(conversation: Conversation, looks: Looks) -> str:
    """Each turn as a cell that asks it again, with what came of it as its output."""
    import nbformat

    v4: Any = nbformat.v4  # typed in part
    cells: list[Any] = [
        v4.new_markdown_cell(f"# {looks.quoted(_title(conversation))}"),
        v4.new_code_cell("%load_ext agent_magics"),
    ]
    for turn in conversation.turns:
        output = v4.new_output("display_data", data=dict(looks.bundle(turn)))
        cells.append(v4.new_code_cell(cell_source(turn.prompt), outputs=[output]))
    kernel = {"name": "python3", "display_name": "Python 3 (ipykernel)", "language": "python"}
    metadata = {"kernelspec": kernel, "language_info": {"name": "python"}}
    return v4.writes(v4.new_notebook(cells=cells, metadata=metadata)) + "\n"


def cell_source(prompt: str) -> str:
    """The cell that asks this. A slash or a lone question mark would be a command there.

    >>> cell_source("how big is df?"), cell_source("/etc is what?")
    ('%%agent\\nhow big is df?', '%%agent\\n /etc is what?')
    """
    return "%%agent\n" + (f" {prompt}" if prompt.startswith("/") or prompt == "?" else prompt)


def _write(path: Path, text: str) -> None:
    try:
        write_whole(path, text)
    except (OSError, ValueError) as error:
        reason = error.strerror if isinstance(error, OSError) else None
        raise ConfigError(
            f"{shown_name(path)!r} can't be written.",
            f"{reason or error}.",
            "Name a file in a folder that is there and that you may write to.",
        ) from None


def _title(conversation: Conversation) -> str:
    first: Sequence[str] = conversation.turns[0].prompt.split("\n")
    title = " ".join((conversation.title or first[0]).split())
    return title if len(title) <= 80 else title[:79] + "…"
