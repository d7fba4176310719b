"""What the namespace lacks: names that earlier turns bound, and that are not in this kernel.

A conversation comes back after a restart, or from another notebook or a file; the variables don't. Model and
user are both told, and why, so that neither builds on what is not there.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Mapping
from typing import Any, Literal, cast

from agent_magics.talk import CallRecord, Turn

MOST = 50
"""Names that are told."""

_CHANGED = '"changed": {'
_NAMES = re.compile(r"\{[^{}]*\}")

Why = Literal["restarted", "elsewhere"]
"""Why a name is not there: it was bound before this notebook's kernel was restarted; another kernel bound it,
since the conversation came from another notebook or from a file."""

_WHY: dict[Why, str] = {
    "restarted": "the kernel was restarted",
    "elsewhere": "another kernel bound {it}",
}
_SECTION = """\
These variables were bound earlier in this conversation, and are not there:
{names}
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
        self._came_back: set[str] = set()
        self._told: set[str] = set()
        self._bound: dict[str, tuple[frozenset[str], frozenset[str]]] = {}

    def ran(self, turn: Turn) -> None:
        """A turn ran in this kernel: what it bound is not lost with an earlier one."""
        self._ran_here.add(turn.id)

    def came_back(self, turns: Iterable[Turn]) -> None:
        """These turns ran in this notebook, before its kernel was restarted."""
        self._came_back.update(turn.id for turn in turns if not turn.origin)

    def names(self, turns: Iterable[Turn]) -> dict[str, Why]:
        """The names that are not there, as far as these turns tell, each with the reason."""
        expected: dict[str, Why] = {}
        for turn in turns:
            bound, gone = self._changes(turn)
            for name in gone if turn.id not in self._ran_here else bound | gone:
                expected.pop(name, None)
            if turn.id not in self._ran_here:
                why: Why = "restarted" if turn.id in self._came_back else "elsewhere"
                expected.update(dict.fromkeys(sorted(bound), why))
        return {name: why for name, why in expected.items() if name not in self._namespace}

    def section(self, turns: Iterable[Turn]) -> str:
        """The part of the system prompt that says so; nothing if nothing is lost."""
        lines = [f"{_listed(names)}: {_reason(why, names)}." for why, names in _by_reason(self.names(turns))]
        return _SECTION.format(names="\n".join(lines)) if lines else ""

    def notice(self, turns: Iterable[Turn]) -> str:
        """A line for the user about what is not there and was not told yet."""
        lacking = self.names(turns)
        untold: dict[str, Why] = {name: lacking[name] for name in lacking if name not in self._told}
        self._told.update(untold)
        return " ".join(_said(why, names) for why, names in _by_reason(untold))

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


def _by_reason(names: Mapping[str, Why]) -> list[tuple[Why, list[str]]]:
    """The names of each reason, what was here before first."""
    return [(why, same) for why in _WHY if (same := [name for name in names if names[name] == why])]


def _said(why: Why, names: list[str]) -> str:
    is_, cells = ("is", "its cell") if len(names) == 1 else ("are", "their cells")
    state, where = ("gone", "again") if why == "restarted" else ("not here", "here")
    return f"{_listed(names)} {is_} {state}: {_reason(why, names)}. Run {cells} {where}."


def _reason(why: Why, names: list[str]) -> str:
    return _WHY[why].format(it="it" if len(names) == 1 else "them")


def _listed(names: list[str]) -> str:
    listed = ", ".join(f"`{name}`" for name in names[:MOST])
    return f"{listed} and {len(names) - MOST} more" if len(names) > MOST else listed
