"""What works here, what doesn't, and what to do about it: for ``agent-magics doctor`` and ``/doctor``.

Every finding is looked at when it is asked for, and none of them is assumed. Keys are never shown, only where
they were found.
"""

from __future__ import annotations

import os
import platform
import sys
from collections.abc import Callable, Iterator
from dataclasses import dataclass

import agent_magics
from agent_magics.agent.background import background
from agent_magics.agent.commands.command import Command, cell
from agent_magics.errors import AgentMagicsError
from agent_magics.providers.local import weights
from agent_magics.providers.registry import Registry
from agent_magics.providers.survey import survey
from agent_magics.stores import default_store
from agent_magics.tool_making import sandbox

LIMIT = 15.0
"""Seconds that the look at all providers may take; each of them is given far less."""


@dataclass(frozen=True, kw_only=True)
class Finding:
    """One line of the table.

    Parameters
    ----------
    what : str
        What was looked at.
    found : str
        What there is.
    remedy : str
        What to do, where something is missing or wrong.
    ok : bool
        Whether it is as it should be; what is merely not set up is fine.
    """

    what: str
    found: str
    remedy: str = ""
    ok: bool = True


def findings(front: str) -> Iterator[Finding]:
    """Look at everything, one after the other.

    Parameters
    ----------
    front : str
        The front end, in the words of whoever runs in it.
    """
    yield Finding(what="agent-magics", found=agent_magics.__version__)
    yield Finding(what="Python", found=f"{platform.python_version()}, {sys.platform} {platform.machine()}")
    yield Finding(what="front end", found=front)
    for look in (_model, _isolation, _data, _conversations):
        yield _safely(look)
    yield from _providers()
    if said := os.environ.get("AGENT_MAGICS_APPROVE"):
        yield Finding(what="approvals", found=f"$AGENT_MAGICS_APPROVE is {said!r}")


def command(front: Callable[[], str]) -> Command:
    """``/doctor`` for a front end that is told in the words of ``front``."""

    def run(session: object, words: str) -> str:
        rows = [
            f"| {'' if each.ok else '**!**'} | {each.what} | {cell(each.found)} | {cell(each.remedy)} |"
            for each in findings(front())
        ]
        return "\n".join(["| | what | found | what to do |", "|:--|:--|:--|:--|", *rows])

    said = "What works here, what is missing, and what to do; keys are never shown."
    return Command(name="doctor", usage="", summary=said, run=run)


Look = Callable[[], Finding]


def _safely(look: Look) -> Finding:
    """A look that fails is a finding, too."""
    try:
        return look()
    except AgentMagicsError as error:
        return Finding(
            what=_name(look), found=f"{error.what} {error.why}".strip(), remedy=error.remedy, ok=False
        )
    except Exception as error:
        return Finding(what=_name(look), found=f"{type(error).__name__}: {error}", ok=False)


def _name(look: Look) -> str:
    return look.__name__.strip("_")


def _model() -> Finding:
    return Finding(
        what="model", found=Registry().why("auto"), remedy="Another: -p NAME, or $AGENT_MAGICS_MODEL."
    )


def _isolation() -> Finding:
    found = sandbox().isolation
    remedy = "" if found.enough else "Tools that the model writes don't run here unless you opt in."
    return Finding(
        what="isolation", found=f"level {found.level}. {found.why}", remedy=remedy, ok=found.enough
    )


def _providers() -> Iterator[Finding]:
    """One line a provider, all looked at side by side on the agent's own loop."""
    for each in background.submit(survey()).result(LIMIT):
        yield Finding(what=each.name, found=each.found, remedy=each.remedy, ok=each.ok)


def _data() -> Finding:
    folder = weights.home()
    nearest = next(each for each in (folder, *folder.parents) if each.exists())
    if nearest.is_dir() and os.access(nearest, os.W_OK):
        return Finding(
            what="data folder", found=f"{folder}" if folder.is_dir() else f"{folder} (not made yet)"
        )
    remedy = "Make it writable, or name another in $AGENT_MAGICS_HOME."
    return Finding(what="data folder", found=f"{folder} can't be written", remedy=remedy, ok=False)


def _conversations() -> Finding:
    """Whether they are kept; looking makes no file."""
    store = default_store()
    if store is None:
        return Finding(
            what="conversations",
            found="not kept: $AGENT_MAGICS_STORE is off",
            remedy="Unset it, and they are here again after a restart.",
        )
    if not store.path.exists():
        return Finding(what="conversations", found=f"none yet; they will be kept in {store.path}")
    kept, size = len(store.sessions()), store.path.stat().st_size / 1e6
    return Finding(what="conversations", found=f"{kept} in {store.path}, {size:.1f} MB")
