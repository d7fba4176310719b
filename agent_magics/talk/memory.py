"""What the agent was told to remember."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

MOST = 50
"""How many are kept in a scope."""

LONGEST = 300
"""Characters of one."""

Scope = Literal["user", "notebook"]


@dataclass(frozen=True, kw_only=True, slots=True)
class Memory:
    """One fact that is told to the model in every round: quoted, as data.

    Attributes
    ----------
    id : str
        Short, by which it is forgotten.
    text : str
        At most 300 characters.
    scope : {"user", "notebook"}
        For all of the user's notebooks, or for one.
    notebook : str
        That notebook's path, or the session's id where none is known; empty for ``user``.
    origin : str
        Where it comes from: ``you``, or the notebook and the prompt of the turn in which it was remembered.
    at : float
        Seconds since the epoch.
    """

    id: str
    text: str
    scope: Scope = "user"
    notebook: str = ""
    origin: str = ""
    at: float = 0.0
