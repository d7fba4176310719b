"""What a call comes back with: a value or a fault, never an exception through the caller's loop.

The kinds of fault, and who says so:

==================  ====================================================================================
``syntax``          the source does not compile
``function``        the source runs but defines no function of that name
``arguments``       an argument is of a kind that does not travel into the sandbox
``exception``       the function raised; the message has the exception, its line and that line's text
``timeout``         the call was not done in the time promised
``memory``          the call needed more memory than it was given
``output``          the call printed without end, or wrote a file beyond every bound
``crashed``         the process died by a signal (a segmentation fault, an abort)
``no_reply``        the process ended, or closed its reply, without handing back a value
``refused_reply``   a value came back that is not taken: of an unknown kind, too large, or malformed
``level``           this machine can't confine the call as asked, and nobody opted in to less
``cancelled``       the caller took the call back
``unavailable``     the sandbox's own process could not be started or was lost
==================  ====================================================================================

Every message is a sentence or two that a model can react to: what happened, and what to change.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Literal, get_args

from agent_magics.errors import AgentMagicsError

Kind = Literal[
    "syntax",
    "function",
    "arguments",
    "exception",
    "timeout",
    "memory",
    "output",
    "crashed",
    "no_reply",
    "refused_reply",
    "level",
    "cancelled",
    "unavailable",
]

KINDS: frozenset[str] = frozenset(get_args(Kind))


class SandboxError(AgentMagicsError):
    """The sandbox was used in a way that it can't answer: an unknown capability, a limit that is no limit.

    What happens *inside* a call is never raised; it is the outcome's ``error``.
    """


@dataclass(frozen=True, kw_only=True)
class Fault:
    """Why a call has no value.

    Attributes
    ----------
    kind : str
        One of :data:`KINDS`.
    message : str
        What happened and what to change, for a person or a model.
    line : int, optional
        The line of the source (from 1) that the fault points at, where one is known.
    """

    kind: Kind
    message: str
    line: int | None = None


@dataclass(frozen=True, kw_only=True)
class Outcome:
    """What one call came to.

    Attributes
    ----------
    value : object
        What the function returned, rebuilt in this process from data alone; ``None`` if it failed.
    error : Fault, optional
        Why there is no value.
    seconds : float
        Wall time of the whole call.
    stdout : str
        What the code printed, at most 64 KiB of it.
    """

    value: Any = None
    error: Fault | None = None
    seconds: float = 0.0
    stdout: str = ""

    @property
    def ok(self) -> bool:
        """Whether there is a value."""
        return self.error is None
