"""One of the sessions that a store knows, by its id or the beginning of it."""

from __future__ import annotations

import difflib
from collections.abc import Sequence

from agent_magics.errors import UsageError
from agent_magics.talk import SessionInfo

MOST = 5
"""Sessions that an error names."""


def found(sessions: Sequence[SessionInfo], which: str) -> SessionInfo:
    """The one that is meant.

    Raises
    ------
    UsageError
        If there is none, or more than one; those that may be meant are named.
    """
    meant = [each for each in sessions if each.id.startswith(which.lower())] if which else []
    if len(meant) == 1 or any(each.id == which for each in meant):
        return next((each for each in meant if each.id == which), meant[0])
    if meant:
        raise UsageError(
            f"{len(meant)} sessions begin with {which!r}.", _named(meant), "Write more of the id."
        )
    near = difflib.get_close_matches(which, [each.id for each in sessions], n=3, cutoff=0.5)
    close = sorted((each for each in sessions if each.id in near), key=lambda each: near.index(each.id))
    why = f"Close to it: {_named(close)}" if close else "No id is close to it."
    raise UsageError(f"There is no session {which!r}.", why, "See them with /sessions.")


def _named(sessions: Sequence[SessionInfo]) -> str:
    named = ", ".join(f"{each.id} ({each.title!r})" for each in sessions[:MOST])
    return f"{named}, …" if len(sessions) > MOST else named
