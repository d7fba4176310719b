"""Every error that agent_magics raises on purpose.

The tree::

    AgentMagicsError
    ├── UsageError            an option, a command or a prompt that can't be taken as it is
    ├── ConfigError           a setting, a file or an installation that is not as it should be
    ├── SessionError          the session can't do this now (closed, called from inside its own tool)
    ├── StoreError            the file of sessions can't be read or written
    ├── ProviderError         the model's side failed
    │   ├── UnknownProvider   no provider of that name is registered or installed
    │   ├── MissingKey        the vendor wants a key and none was found
    │   ├── Unreachable       no connection, or it dropped
    │   ├── RateLimited       the vendor said "not now"
    │   └── BadReply          what came back is not what the protocol promises
    ├── ToolError             a tool says in one sentence why it could not do its work
    ├── Halt                  a hook or a tool ends the turn
    ├── ExtractionError       no answer of the wanted schema came: refused, truncated, invalid, provider
    ├── TurnFailed            a turn did not end well, and the caller wanted to be told by an error
    └── BindingError          a turn could not bind the name that it promised

Each error answers three questions, one line each: what happened, why, and what to do. In a notebook these
three lines are all that is shown; a traceback helps nobody who did not write the code.

>>> print(MissingKey("No API key for 'anthropic'.", "$ANTHROPIC_API_KEY is empty.", "Set it, or use demo."))
No API key for 'anthropic'.
$ANTHROPIC_API_KEY is empty.
Set it, or use demo.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Literal

from agent_magics.masking import masked

if TYPE_CHECKING:
    from agent_magics.talk import Usage


class AgentMagicsError(Exception):
    """The root of the tree.

    Parameters
    ----------
    what : str
        What happened, one sentence. Values are quoted with ``!r``; known secrets are masked.
    why : str
        The cause, as far as it is known.
    remedy : str
        What the reader can do about it.
    """

    def __init__(self, what: str, why: str = "", remedy: str = "") -> None:
        super().__init__(masked(what))
        self.what = masked(what)
        self.why = masked(why)
        self.remedy = masked(remedy)

    def _render_traceback_(self) -> list[str]:
        """IPython shows this in place of a traceback."""
        return str(self).split("\n")

    def __str__(self) -> str:
        return "\n".join(line for line in (self.what, self.why, self.remedy) if line)


class UsageError(AgentMagicsError):
    """An option, a command or a prompt can't be taken as it was written."""


class ConfigError(AgentMagicsError):
    """A setting, a file or an installation is not as it should be."""


class SessionError(AgentMagicsError):
    """The session can't do this now: it is closed, or it was called from inside its own turn."""


class StoreError(AgentMagicsError):
    """The file of sessions can't be read or written: full, locked, damaged, newer, or not ours."""


class ProviderError(AgentMagicsError):
    """The model's side failed.

    Parameters
    ----------
    status : int, optional
        The HTTP status, where there was one.
    retry_after : float, optional
        Seconds that the vendor asked us to wait.
    retryable : bool
        Whether the same request may succeed if it is sent again.
    """

    def __init__(
        self,
        what: str,
        why: str = "",
        remedy: str = "",
        *,
        status: int | None = None,
        retry_after: float | None = None,
        retryable: bool = False,
    ) -> None:
        super().__init__(what, why, remedy)
        self.status = status
        self.retry_after = retry_after
        self.retryable = retryable


class UnknownProvider(ProviderError):
    """No provider of that name is registered or installed."""


class MissingKey(ProviderError):
    """The vendor wants a key and none was found."""


class Unreachable(ProviderError):
    """No connection could be made, or it dropped."""


class RateLimited(ProviderError):
    """The vendor said "not now"; ``retry_after`` says when, if it is known."""


class BadReply(ProviderError):
    """What came back is not what the protocol promises."""


class ToolError(AgentMagicsError):
    """A tool says in one sentence why it could not do its work; the model reads it."""


class Halt(AgentMagicsError):
    """Raised by a hook or a tool to end the turn; the turn's ``stop`` is ``halted``."""


class ExtractionError(AgentMagicsError):
    """No answer of the wanted schema came.

    Parameters
    ----------
    kind : {"refused", "truncated", "invalid", "provider"}
        The model refused; the answer was cut off; it never fitted the schema; the request failed, and
        ``__cause__`` is why.
    errors : sequence of str
        Which rules the last answer broke, each with its place: ``"bugs/0/line: 'x' is not of type ..."``.
    usage : Usage, optional
        The tokens of all attempts.
    attempts : int
        How many answers were asked for.
    """

    def __init__(
        self,
        what: str,
        why: str = "",
        remedy: str = "",
        *,
        kind: Literal["refused", "truncated", "invalid", "provider"] = "invalid",
        errors: Sequence[str] = (),
        usage: Usage | None = None,
        attempts: int = 0,
    ) -> None:
        super().__init__(what, why, remedy)
        self.kind = kind
        self.errors = list(errors)
        self.usage = usage
        self.attempts = attempts


class TurnFailed(AgentMagicsError):
    """A turn did not end well, and ``--strict`` asked for an error."""


class BindingError(AgentMagicsError):
    """A turn could not bind the name that ``--into`` or ``--schema`` asked for."""
