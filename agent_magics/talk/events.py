"""The words of a running turn.

There are two families. **Deltas** are played and thrown away: a panel shows them, nothing stores them.
**Facts** are kept: the store, the trace, the settled output and the tests all rebuild the turn from them
with the same :func:`~agent_magics.talk.fold.fold`. So a fact holds everything that it states, and a delta
may be lost without harm.

A provider speaks the small subset :data:`ProviderEvent`; the loop says the rest.

One turn, as it is told::

    TurnBegan
      RequestSent  (Thinking | Saying)*  ReplyReceived          one step: a provider call ...
        ToolCalled  (ApprovalAsked ApprovalGiven)?  ToolReturned    ... and the calls that it asked for
      RequestSent  ...
    TurnEnded                                                   last, and once
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Literal

from agent_magics.talk.content import (
    JSON,
    Decision,
    Image,
    Opaque,
    Retry,
    ToolCall,
    ToolResult,
    Usage,
)

StopReason = Literal["end", "tool_calls", "max_tokens", "refusal", "context_full"]
"""Why a provider stopped, in our words; each provider maps its vendor's."""

# -- deltas ---------------------------------------------------------------------------------------


@dataclass(frozen=True, kw_only=True, slots=True)
class Thinking:
    """The model thinks aloud: the next piece of text."""

    text: str


@dataclass(frozen=True, kw_only=True, slots=True)
class Saying:
    """The model answers: the next piece of text."""

    text: str


@dataclass(frozen=True, kw_only=True, slots=True)
class ToolProgress:
    """A running tool says how far it is."""

    id: str
    text: str


@dataclass(frozen=True, kw_only=True, slots=True)
class Retrying:
    """A request failed and is sent again in ``delay`` seconds; ``attempt`` of ``tries`` comes next."""

    attempt: int
    tries: int
    delay: float
    why: str


@dataclass(frozen=True, kw_only=True, slots=True)
class Compacting:
    """The model sums up earlier messages, so that the next request fits; what was done is noticed then."""


# -- what only a provider says -------------------------------------------------------------------


@dataclass(frozen=True, kw_only=True, slots=True)
class Stop:
    """The provider's reply is complete, and why it ended."""

    reason: StopReason
    detail: str = ""


# -- facts ---------------------------------------------------------------------------------------


@dataclass(frozen=True, kw_only=True, slots=True)
class TurnBegan:
    """A person's prompt was taken. ``at`` is seconds since the epoch, here and in every fact.

    ``replaces`` is the id of the turn whose place this one takes, where a cell ran again; ``into`` is the
    variable that its reply is bound to. ``after`` is the fingerprint of the turns that it follows, and
    ``origin`` says where it is played from, if it is not run.
    ``wanted`` is the JSON Schema that the answer must keep, where there is one.
    """

    turn: str
    prompt: str
    provider: str
    model: str
    at: float
    cell: str = ""
    images: tuple[Image, ...] = ()
    replaces: str = ""
    into: str = ""
    origin: str = ""
    after: str = ""
    wanted: Mapping[str, JSON] | None = None


@dataclass(frozen=True, kw_only=True, slots=True)
class RequestSent:
    """The model was asked, for the ``step``-th time in this turn (from 0)."""

    step: int
    provider: str
    model: str
    at: float


@dataclass(frozen=True, kw_only=True, slots=True)
class ReplyReceived:
    """The model's reply to one request, whole, or as far as it came (``stop`` says which).

    ``stop`` is a provider's :data:`StopReason`, or ``"cancelled"`` or ``"failed"`` for a partial reply.
    ``first`` is the number of seconds until the first token, ``retries`` are the tries that failed before.
    """

    step: int
    text: str
    thinking: str
    calls: tuple[ToolCall, ...]
    stop: str
    usage: Usage
    seconds: float
    at: float
    opaque: tuple[Opaque, ...] = ()
    first: float = 0.0
    thought: float = 0.0
    retries: tuple[Retry, ...] = ()


@dataclass(frozen=True, kw_only=True, slots=True)
class ToolCalled:
    """A call goes to its tool. ``shown`` is the tool's own name, or ``name?`` when there is none."""

    call: ToolCall
    shown: str
    at: float


@dataclass(frozen=True, kw_only=True, slots=True)
class ApprovalAsked:
    """A person is asked about a call.

    Parameters
    ----------
    id : str
        The short random id that the second way without widgets uses: ``%agent /approve ID``.
    call : ToolCall
        What would run.
    tool : str
        The tool's own name.
    kind : {"catalog", "generated"}
        Whose tool it is; it decides which answers are offered.
    reason : str
        Why it asks.
    source : str
        The full text that would run, where there is one.
    sha256 : str
        The hash of everything that is shown; the answer is bound to it.
    facts : tuple of (str, str)
        Label and text of what else the person should know, in order.
    """

    id: str
    call: ToolCall
    tool: str
    kind: Literal["catalog", "generated"]
    reason: str
    source: str
    sha256: str
    at: float
    facts: tuple[tuple[str, str], ...] = ()


@dataclass(frozen=True, kw_only=True, slots=True)
class ApprovalGiven:
    """Somebody or something answered. ``by`` is ``you``, ``policy``, ``timeout`` or ``interrupt``.

    ``id`` and ``sha256`` are empty where a setting answered and nothing was asked.
    """

    id: str
    call_id: str
    decision: Decision
    by: str
    sha256: str
    seconds: float
    at: float
    comment: str = ""


@dataclass(frozen=True, kw_only=True, slots=True)
class ToolReturned:
    """A call has its result. ``stopped`` marks the synthetic result of a call that was left behind."""

    id: str
    result: ToolResult
    seconds: float
    at: float
    stopped: bool = False


@dataclass(frozen=True, kw_only=True, slots=True)
class StageDone:
    """A stage of tool making has its verdict (``check``, ``compile``, ``schema``, ``probe`` ...).

    Where a model of its own wrote something in this stage, ``model`` names it as ``provider:model`` and
    ``usage`` are its tokens.
    """

    id: str
    tool: str
    stage: str
    ok: bool
    detail: str = ""
    seconds: float = 0.0
    at: float = 0.0
    model: str = ""
    usage: Usage = field(default_factory=Usage)


@dataclass(frozen=True, kw_only=True, slots=True)
class ToolMade:
    """A tool that the model wrote was admitted: this source, under this version."""

    id: str
    name: str
    version: int
    sha256: str
    source: str
    at: float
    schema: Mapping[str, JSON] = field(default_factory=dict[str, JSON])


@dataclass(frozen=True, kw_only=True, slots=True)
class Noticed:
    """Something that the reader should know and that stops nothing: a line in the panel and in the record."""

    text: str
    at: float


@dataclass(frozen=True, kw_only=True, slots=True)
class TurnEnded:
    """The turn is over: ``stop`` is one of :data:`~agent_magics.talk.turn.STOPS`, ``error`` three lines."""

    stop: str
    reply: str
    usage: Usage
    seconds: float
    at: float
    error: str = ""


ProviderEvent = Thinking | Saying | ToolCall | Usage | Opaque | Stop | Retrying
"""What a provider's ``fetch`` may yield; as plain dicts these are ``{"type": "saying", "text": ...}`` and so
on, with ``doing`` for a tool call. Anything else is ignored."""

Delta = Thinking | Saying | ToolProgress | Retrying | Compacting
Fact = (
    TurnBegan
    | RequestSent
    | ReplyReceived
    | ToolCalled
    | ApprovalAsked
    | ApprovalGiven
    | ToolReturned
    | StageDone
    | ToolMade
    | Noticed
    | TurnEnded
)
Event = Delta | Fact
