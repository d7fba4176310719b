"""What is left when a turn has run: turns, their steps and calls, and the conversation they make."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

from agent_magics.talk.content import JSON, Image, Opaque, Retry, ToolCall, ToolResult, Usage

STOPS = (
    "done",
    "max_rounds",
    "no_progress",
    "too_many_failures",
    "budget",
    "refused_by_model",
    "truncated",
    "context_full",
    "provider_error",
    "halted",
    "cancelled",
)
"""How a turn can end; every turn ends with exactly one of these."""


@dataclass(frozen=True, kw_only=True, slots=True)
class Approval:
    """What was decided about a call, by whom, and the comment that the model was given.

    ``text`` is the person's own version of the source, where the decision is ``edit``. ``at`` is when the
    question was put, and ``seconds`` how long it waited.
    """

    decision: str
    by: str
    comment: str = ""
    seconds: float = 0.0
    text: str = ""
    at: float = 0.0


@dataclass(frozen=True, kw_only=True, slots=True)
class Stage:
    """A stage that a tool went through while it was made; see :class:`~agent_magics.talk.StageDone`."""

    tool: str
    name: str
    ok: bool
    detail: str = ""
    seconds: float = 0.0
    at: float = 0.0
    model: str = ""
    usage: Usage = field(default_factory=Usage)


@dataclass(frozen=True, kw_only=True, slots=True)
class CallRecord:
    """A tool call as it went: the call, its approval if one was needed, and its result.

    ``shown`` is the name to show (``name?`` for a tool that doesn't exist); ``result`` is ``None`` while the
    call runs. ``earlier`` are the answers before ``approval``: an edited source is asked about again.
    ``stages`` are those of a tool that was made, ``at`` is when the call began, and ``seconds`` its own time,
    without what it waited for a person.
    """

    call: ToolCall
    shown: str
    result: ToolResult | None = None
    approval: Approval | None = None
    seconds: float = 0.0
    stopped: bool = False
    made: str = ""
    earlier: tuple[Approval, ...] = ()
    stages: tuple[Stage, ...] = ()
    at: float = 0.0

    @property
    def approvals(self) -> tuple[Approval, ...]:
        """Every answer about this call, in order."""
        return (*self.earlier, self.approval) if self.approval else self.earlier

    @property
    def id(self) -> str:
        return self.call.id

    @property
    def name(self) -> str:
        return self.call.name

    @property
    def arguments(self) -> Mapping[str, JSON]:
        return self.call.arguments

    @property
    def ok(self) -> bool:
        return self.result is not None and self.result.ok


@dataclass(frozen=True, kw_only=True, slots=True)
class Step:
    """One provider call and the tool calls that it asked for.

    ``at`` is when the request was sent, ``seconds`` the provider's time, ``first`` the time to its first
    token, ``thought`` the part of it spent on thinking aloud; ``retries`` are the tries that failed before.
    """

    text: str = ""
    thinking: str = ""
    calls: tuple[CallRecord, ...] = ()
    stop: str = ""
    usage: Usage = field(default_factory=Usage)
    opaque: tuple[Opaque, ...] = ()
    seconds: float = 0.0
    first: float = 0.0
    thought: float = 0.0
    at: float = 0.0
    retries: tuple[Retry, ...] = ()


@dataclass(frozen=True, kw_only=True, slots=True)
class Turn:
    """One prompt and everything that came of it.

    Attributes
    ----------
    reply : str
        The model's last answer, perhaps partial: see ``stop``.
    stop : str
        One of :data:`STOPS`; empty while the turn runs.
    steps : tuple of Step
        The provider calls in order, each with its tool calls.
    usage : Usage
        Tokens of all steps, and of the models that wrote tools in them.
    error : str
        What went wrong, in up to three lines; empty when nothing did.
    notices : tuple of str
        Lines that the reader should know and that stopped nothing.
    images : tuple of Image
        The pictures that came with the prompt.
    origin : str
        Where the turn comes from if it was not run here: ``from file talk.ipynb``, ``replayed from …``.
    stale : bool
        Whether a turn above it has been run again since.
    into : str
        The variable that its reply was bound to.
    after : str
        The fingerprint of the turns that it followed; see :func:`~agent_magics.talk.transcript.fingerprint`.
    wanted : dict or None
        The JSON Schema that the answer must keep; then ``reply`` is JSON when the turn is done.
    """

    id: str
    prompt: str
    provider: str = ""
    model: str = ""
    steps: tuple[Step, ...] = ()
    reply: str = ""
    stop: str = ""
    usage: Usage = field(default_factory=Usage)
    error: str = ""
    notices: tuple[str, ...] = ()
    began: float = 0.0
    seconds: float = 0.0
    cell: str = ""
    images: tuple[Image, ...] = ()
    origin: str = ""
    stale: bool = False
    into: str = ""
    after: str = ""
    wanted: Mapping[str, JSON] | None = None

    @property
    def ok(self) -> bool:
        return self.stop == "done"

    @property
    def calls(self) -> tuple[CallRecord, ...]:
        """Every tool call of the turn, in order."""
        return tuple(call for step in self.steps for call in step.calls)

    def __str__(self) -> str:
        return self.reply


@dataclass(kw_only=True, slots=True)
class Conversation:
    """An ordered list of turns, with an id and a title."""

    id: str
    title: str = ""
    turns: list[Turn] = field(default_factory=list[Turn])
