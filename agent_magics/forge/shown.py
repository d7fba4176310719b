"""The registry as people read it: Markdown for ``/registry``."""

from __future__ import annotations

import datetime as dt
import re

from agent_magics.errors import UsageError
from agent_magics.forge.registry import Kept, Registry
from agent_magics.forge.shelf import Shelf

_MARKUP = re.compile(r"[\\`*_\[\]!|~$]")

NONE = "No tools are kept yet. Ask for something that needs one, or `/make` one."


def listing(shelf: Shelf) -> str:
    """All kept tools, a row each."""
    rows = [_row(shelf, kept) for kept in shelf]
    head = ["| tool | what it does | version | calls | approved |", "|:--|:--|--:|--:|:--|"]
    return "\n".join([*head, *rows]) if rows else NONE


def tool(shelf: Shelf, name: str) -> str:
    """One tool in full.

    Raises
    ------
    UsageError
        If there is none of that name.
    """
    found = shelf.find(name)
    if found is None:
        raise UsageError(f"There is no tool {name!r}.", "", "`/registry` lists them.")
    registry, kept = found
    draft, uses = kept.draft, registry.uses(name)
    edited = " (edited on disk)" if kept.edited else ""
    approved = (
        "approved" if shelf.approvals.covers(draft) else "not approved as it is: its next call asks you"
    )
    author = _cell(kept.origin.author) or "somebody"
    lines = [
        f"**{name}**, version {kept.version}{edited}: {_cell(draft.description)}",
        "",
        f"- {approved}",
        f"- called {uses.calls} times" + (f", {uses.failures} failed" if uses.failures else ""),
        f"- written by {author}{_when(kept)}, for “{_cell(kept.origin.prompt[:200])}”",
        f"- may use: {', '.join(draft.capabilities) or 'no capabilities'}; sha256 {draft.sha256[:12]}…",
        f"- tests: {len(draft.examples)}; files: `{kept.folder}`",
        "",
        _versions(registry, name, kept.version),
        "",
        f"```python\n{_fenced(draft.source)}\n```",
    ]
    return "\n".join(lines)


def _row(shelf: Shelf, kept: Kept) -> str:
    found = shelf.find(kept.draft.name)
    calls = found[0].uses(kept.draft.name).calls if found else 0
    approved = "yes" if shelf.approvals.covers(kept.draft) else "asks again"
    return (
        f"| `{kept.draft.name}` | {_cell(kept.draft.description)} | {kept.version} | {calls} | {approved} |"
    )


def _versions(registry: Registry, name: str, current: int) -> str:
    numbers = registry.versions(name)
    listed = ", ".join(f"**{number}**" if number == current else str(number) for number in numbers)
    more = f"; compare: `/registry {name} diff {numbers[-2]} {numbers[-1]}`" if len(numbers) > 1 else ""
    return f"Versions: {listed}{more}"


def _when(kept: Kept) -> str:
    if not kept.origin.at:
        return ""
    return f" on {dt.datetime.fromtimestamp(kept.origin.at, dt.UTC):%Y-%m-%d}"


def _cell(text: str) -> str:
    """Words of a model or a prompt, as nothing but words: no link, picture or markup."""
    return _MARKUP.sub(r"\\\g<0>", " ".join(text.split()).replace("<", "&lt;"))


def _fenced(source: str) -> str:
    """A source that can't end the fence it stands in."""
    return source.rstrip().replace("```", "\\`\\`\\`")
