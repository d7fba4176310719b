"""The doors: what the loop needs from the world, as Protocols on one page.

The loop in ``agent`` knows no vendor, no notebook and no file. Whoever composes a session (the notebook, the
terminal, a script, a test) hands it objects of these shapes; :mod:`agent_magics.testing` ships small fakes
of them.
"""

from __future__ import annotations

from collections.abc import AsyncGenerator, AsyncIterator, Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import IO, Any, Protocol, TypeVar, runtime_checkable

from agent_magics.talk import (
    JSON,
    Approval,
    ApprovalAsked,
    Event,
    HistoryFact,
    Memory,
    Message,
    ProviderEvent,
    SessionInfo,
    ToolSpec,
)

T = TypeVar("T")


@runtime_checkable
class Provider(Protocol):
    """A model, or anything that answers like one (rules, a replayed record, a planner around another one).

    ``fetch`` opens one request and yields events as they arrive: any number of ``Thinking``, ``Saying``,
    ``ToolCall``, ``Usage`` and ``Opaque``, at most one ``Stop``, last. It raises a
    :class:`~agent_magics.errors.ProviderError` when it fails; closing the generator ends the request at once.

    Attributes
    ----------
    name, model : str
        The registered name (``"openai"``) and the vendor's model name; together they are ``name:model``.
    window : int
        The model's context window in tokens; 0 when unknown.
    """

    name: str
    model: str
    window: int

    def fetch(
        self,
        messages: Sequence[Message],
        tools: Sequence[ToolSpec],
        *,
        schema: Mapping[str, JSON] | None = None,
    ) -> AsyncIterator[ProviderEvent]:
        """Ask the model. ``schema`` asks for an answer that is JSON of that JSON Schema."""
        ...

    async def aclose(self) -> None:
        """Give back sockets and child processes. The provider may be used again; it then opens new ones."""
        ...


@runtime_checkable
class Once(Protocol):
    """A provider that can also answer in one piece: for a caller who shows nothing and keeps its own pace.

    One call is one request. Nothing is tried again, no wait is kept: a caller who has a thousand rows knows
    better what a refusal means for the others. The events are those of ``fetch``.
    """

    async def once(
        self,
        messages: Sequence[Message],
        tools: Sequence[ToolSpec],
        *,
        schema: Mapping[str, JSON] | None = None,
    ) -> Sequence[ProviderEvent]:
        """Ask the model once, and return everything it said."""
        ...


@dataclass(frozen=True, kw_only=True, slots=True)
class BatchState:
    """How far a batch at a vendor is.

    Attributes
    ----------
    answered, size : int
        Requests that are done, well or not, and all of them.
    failed : Exception or None
        Why the vendor took none of it.
    """

    ended: bool
    answered: int = 0
    size: int = 0
    failed: Exception | None = None


class Batches(Protocol):
    """A vendor's batch API: many requests sent together, answered within a day.

    ``name`` is ours, made before a batch is created, so that one whose id was never heard can be found.
    Nothing here is tried again; every method raises a :class:`~agent_magics.errors.ProviderError` when it
    fails.

    Attributes
    ----------
    account : str
        The vendor and its address.
    most, largest : int
        Requests and bytes that one batch may hold.
    """

    account: str
    most: int
    largest: int

    def request(
        self, messages: Sequence[Message], tools: Sequence[ToolSpec], schema: Mapping[str, JSON] | None
    ) -> dict[str, JSON]:
        """What ``fetch`` would send, but for the stream."""
        ...

    def line(self, custom_id: str, request: dict[str, JSON]) -> bytes:
        """A request as it stands in a batch's file: on one line, with its end."""
        ...

    async def create(self, name: str, lines: IO[bytes]) -> str:
        """Send a file of lines; returns the batch's id."""
        ...

    async def candidates(self, name: str, size: int, since: float) -> list[tuple[str, bool]]:
        """Batches that may be the one called ``name``, and whether that is sure."""
        ...

    async def state(self, batch: str) -> BatchState: ...

    def results(self, batch: str) -> AsyncGenerator[tuple[str, Sequence[ProviderEvent] | Exception]]:
        """Each request's id with its answer, or the error it got; in any order."""
        ...

    async def cancel(self, batch: str) -> None: ...


class Providers(Protocol):
    """Where providers are found by name."""

    def build(self, spec: str, **options: Any) -> Provider:
        """The provider for ``"name"``, ``"name:model"`` or ``"auto"``."""
        ...

    def names(self) -> list[str]:
        """The registered and installed names, sorted."""
        ...

    def why(self, spec: str) -> str:
        """One sentence: why ``build(spec)`` chose what it chose."""
        ...


class Asker(Protocol):
    """Somebody who can be asked for an approval."""

    async def ask(self, request: ApprovalAsked) -> Approval:
        """Wait for the answer. Cancelled when the turn is; never answers for a person by itself."""
        ...


class Judge(Protocol):
    """Whoever decides whether an answer will do.

    Attributes
    ----------
    wanted : dict
        The JSON Schema that it must keep.
    reply : str
        The answer that was taken, as JSON.
    """

    @property
    def wanted(self) -> Mapping[str, JSON]: ...

    @property
    def reply(self) -> str: ...

    def judge(self, text: str) -> str:
        """What the model is to be told; nothing if the answer will do.

        Raises
        ------
        ExtractionError
            If it will not do, and the model is not asked again.
        """
        ...

    def failed(self) -> Exception:
        """The error of an answer that would not do."""
        ...


class Workbench(Protocol):
    """The user's own session: the one place where a tool may touch the namespace and the display."""

    @property
    def namespace(self) -> dict[str, Any]:
        """The user's variables."""
        ...

    async def run(self, work: Callable[[], T]) -> T:
        """Run ``work`` on the main thread, between two of its own steps, and return what it returns."""
        ...


class Forge(Protocol):
    """Where tools are written and kept, as the commands see it. Texts are Markdown."""

    def make_one(self, description: str) -> Provider:
        """A planner that makes one tool and says what came of it."""
        ...

    def made(self) -> str:
        """The name of the tool that was kept last in this turn or the last one; perhaps empty."""
        ...

    def function(self, name: str) -> Callable[..., Any]:
        """A kept tool as a Python function, each call of it confined."""
        ...

    def listing(self) -> str: ...

    def describe(self, name: str) -> str: ...

    def diff(self, name: str, old: int, new: int) -> str: ...

    def roll_back(self, name: str, version: int) -> str: ...

    def delete(self, name: str) -> str: ...


class Store(Protocol):
    """Where the facts of sessions outlive the process. Safe to be called from any thread.

    Every method raises a :class:`~agent_magics.errors.StoreError` when it fails.
    """

    def append(self, session: str, *facts: HistoryFact) -> None:
        """Keep these facts, all of them or none; when this returns they survive the process."""
        ...

    def load(self, session: str) -> list[HistoryFact]:
        """All facts of a session, in order; empty if there is none of that id."""
        ...

    def enroll(self, info: SessionInfo) -> None:
        """Make a session known, or replace what is known of it."""
        ...

    def sessions(self) -> list[SessionInfo]:
        """All sessions, the one used last first."""
        ...

    def session(self, session: str) -> SessionInfo | None:
        """What is known of one; ``None`` if nothing is. Quick, however many there are."""
        ...

    def forget(self, session: str) -> None:
        """Delete a session and its facts."""
        ...


@runtime_checkable
class Memories(Protocol):
    """Where remembered facts are kept, for all open notebooks of one user at once."""

    def remember(self, memory: Memory) -> None:
        """Keep one. Raises a ``UsageError`` if it is too long, or its scope is full."""
        ...

    def forget_memory(self, which: str) -> Memory:
        """Delete one and return it. Raises a ``UsageError`` if there is none of that id."""
        ...

    def move_memories(self, notebook: str, to: str) -> None:
        """Let one notebook's be another's, the oldest first; those that find no room there stay."""
        ...

    def memories(self, notebook: str = "") -> list[Memory]:
        """The user's and this notebook's, oldest first, as they are on disk now."""
        ...


class Keys(Protocol):
    """Where vendors' keys are kept, as ``/key`` sees them: by a vendor's name. No key is ever returned."""

    def names(self) -> Sequence[str]:
        """The vendors."""
        ...

    def variable(self, name: str) -> str:
        """The environment variable of a vendor's key. A ``UsageError`` about it doesn't repeat the name."""
        ...

    def where(self, name: str) -> str:
        """Where a key was found; empty if there is none."""
        ...

    def keep(self, name: str, value: str) -> str:
        """Keep a key; where, as the end of a sentence."""
        ...

    def forget(self, name: str) -> str:
        """Forget a key; what came of it, in a sentence or two."""
        ...

    def overruled(self, name: str) -> str:
        """What will win over the kept key in the next process; empty if nothing does."""
        ...


class View(Protocol):
    """Whoever watches a turn: a panel, a terminal, a test. Called on the loop's thread; must not block."""

    def __call__(self, event: Event, /) -> None: ...
