"""What the namespace has lost: names that earlier turns bound, before the kernel was restarted.

A conversation comes back after a restart, the variables don't. Model and user are both told, so that neither
builds on what is gone.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Mapping
from typing import Any, cast

from agent_magics.talk import CallRecord, Turn

MOST = 50
"""Names that are told."""

_CHANGED = '"changed": {'
_NAMES = re.compile(r"\{[^{}]*\}")

_SECTION = """\
These variables were bound earlier in this conversation, and are gone because the kernel was restarted:
{names}.
Don't use them as if they were there: have the user run their cells again, or make them anew."""


class Lost:
    """Knows what was lost, and of what of it the user was told.

    Parameters
    ----------
    namespace : mapping
        The user's variables.
    """

    def __init__(self, namespace: Mapping[str, Any]) -> None:
        self._namespace = namespace
        self._ran_here: set[str] = set()
        self._told: set[str] = set()
        self._bound: dict[str, tuple[frozenset[str], frozenset[str]]] = {}

    def ran(self, turn: Turn) -> None:
        """A turn ran in this kernel: what it bound is not lost with an earlier one."""
        self._ran_here.add(turn.id)

    def names(self, turns: Iterable[Turn]) -> list[str]:
        """The names that are gone, as far as these turns tell."""
        expected: dict[str, None] = {}
        for turn in turns:
            bound, gone = self._changes(turn)
            for name in gone if turn.id not in self._ran_here else bound | gone:
                expected.pop(name, None)
            if turn.id not in self._ran_here:
                expected.update(dict.fromkeys(sorted(bound)))
        return [name for name in expected if name not in self._namespace]

    def section(self, turns: Iterable[Turn]) -> str:
        """The part of the system prompt that says so; nothing if nothing is lost."""
        names = self.names(turns)
        return _SECTION.format(names=_listed(names)) if names else ""

    def notice(self, turns: Iterable[Turn]) -> str:
        """A line for the user about what is lost that was not told yet."""
        names = [name for name in self.names(turns) if name not in self._told]
        self._told.update(names)
        if not names:
            return ""
        one = len(names) == 1
        return (
            f"{_listed(names)} {'is' if one else 'are'} gone: the kernel was restarted. "
            f"Run {'its cell' if one else 'their cells'} again."
        )

    def _changes(self, turn: Turn) -> tuple[frozenset[str], frozenset[str]]:
        """What a turn bound, and what it removed."""
        if turn.id not in self._bound:
            self._bound[turn.id] = _changes(turn)
        return self._bound[turn.id]


def _changes(turn: Turn) -> tuple[frozenset[str], frozenset[str]]:
    bound, gone = set[str](), set[str]()
    for call in turn.calls:
        for kind, names in _changed(call).items():
            bound, gone = (bound - names, gone | names) if kind == "gone" else (bound | names, gone - names)
    if turn.into.isidentifier() and turn.stop == "done":
        bound.add(turn.into)
    return frozenset(bound), frozenset(gone)


def _changed(call: CallRecord) -> dict[str, set[str]]:
    """What ``run_python`` told of a call, as names by kind; also where a long result was cut."""
    text = call.result.text if call.name == "run_python" and call.result else ""
    # In what the code printed the quotes would be escaped; and what changed is told last.
    at = text.rfind(_CHANGED)
    names = _NAMES.match(text, at + len(_CHANGED) - 1) if at >= 0 else None
    if names is None:
        return {}
    try:
        told = cast("dict[str, list[Any]]", json.loads(names[0]))
        return {
            kind: {name for name in told.get(kind, ()) if isinstance(name, str) and name.isidentifier()}
            for kind in ("new", "rebound", "gone")
        }
    except (ValueError, TypeError, AttributeError):
        return {}


def _listed(names: list[str]) -> str:
    listed = ", ".join(f"`{name}`" for name in names[:MOST])
    return f"{listed} and {len(names) - MOST} more" if len(names) > MOST else listed
