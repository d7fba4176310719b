"""Fakes of the ports, shipped so that plugin authors test as we do.

They stand in for a model, a person and a screen, and they are deterministic. They are for the logic of a
turn only: what a vendor sends is tested against servers, what a person clicks in a browser.

>>> from agent_magics import Session
>>> session = Session(provider=ScriptedProvider(["Hello!"]))
>>> session.ask("hi").reply
'Hello!'
"""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, TypeVar

from agent_magics.talk import (
    JSON,
    Approval,
    ApprovalAsked,
    Decision,
    Event,
    Message,
    ProviderEvent,
    Saying,
    Stop,
    ToolCall,
    ToolSpec,
    Turn,
    Usage,
    fold,
)

T = TypeVar("T")


@dataclass(frozen=True)
class Hang:
    """A scripted moment in which nothing arrives, until the request is cancelled."""


Reply = str | ToolCall | Hang | BaseException | Iterable["ProviderEvent | Hang | BaseException"]
"""One scripted reply: a text, a single call, a silence, an error to raise, or the events in order."""


class ScriptedProvider:
    """A provider that plays replies from a list, one a request, and remembers what it was sent.

    Parameters
    ----------
    replies : iterable of Reply or callable
        What to answer, request by request. A callable is given the messages and returns a reply. When the
        list is used up the last reply is played again.
    repeat : bool
        Whether a used-up list repeats its last reply; otherwise one more request is an ``AssertionError``.

    Attributes
    ----------
    requests : list of (messages, tools)
        Every request, as it was sent.
    closed : int
        How many requests were closed before their end.
    """

    name = "scripted"
    model = "script"
    window = 0

    def __init__(
        self,
        replies: Iterable[Reply | Callable[[Sequence[Message]], Reply]] = ("",),
        *,
        repeat: bool = True,
    ) -> None:
        self._replies = list(replies)
        self._repeat = repeat
        self.requests: list[tuple[list[Message], list[ToolSpec]]] = []
        self.closed = 0

    async def fetch(
        self,
        messages: Sequence[Message],
        tools: Sequence[ToolSpec],
        *,
        schema: Mapping[str, JSON] | None = None,
    ) -> AsyncIterator[ProviderEvent]:
        reply = self._next(messages)
        self.requests.append((list(messages), list(tools)))  # a message is never changed once it was sent
        finished = False
        try:
            for event in _events(reply):
                if isinstance(event, Hang):
                    await asyncio.Event().wait()
                elif isinstance(event, BaseException):
                    raise event
                else:
                    yield event
            finished = True
        finally:
            self.closed += not finished

    async def aclose(self) -> None:
        """Nothing to give back."""

    def _next(self, messages: Sequence[Message]) -> Any:
        at = len(self.requests)
        if at >= len(self._replies) and not self._repeat:
            raise AssertionError(f"request {at + 1} of a script with {len(self._replies)} replies")
        reply = self._replies[min(at, len(self._replies) - 1)]
        return reply(messages) if callable(reply) else reply


def _events(reply: Any) -> Iterable[Any]:
    match reply:
        case str():
            return [Saying(text=reply), Usage(input=1, output=1), Stop(reason="end")]
        case ToolCall():
            return [reply, Stop(reason="tool_calls")]
        case BaseException() | Hang():
            return [reply]
        case _:
            return reply


class FakeAsker:
    """A person who answers from a list and remembers what was asked; silent when the list is used up."""

    def __init__(self, *answers: Decision | Approval) -> None:
        self._answers = list(answers)
        self.asked: list[ApprovalAsked] = []

    async def ask(self, request: ApprovalAsked) -> Approval:
        self.asked.append(request)
        if not self._answers:
            await asyncio.Event().wait()
        answer = self._answers.pop(0)
        return answer if isinstance(answer, Approval) else Approval(decision=answer, by="you")


class FakeWorkbench:
    """A namespace without a notebook: work runs at once, where it is asked for."""

    def __init__(self, **namespace: Any) -> None:
        self._namespace = namespace

    @property
    def namespace(self) -> dict[str, Any]:
        return self._namespace

    async def run(self, work: Callable[[], T]) -> T:
        return work()


@dataclass
class RecordingView:
    """A view that keeps every event."""

    events: list[Event] = field(default_factory=list[Event])

    def __call__(self, event: Event, /) -> None:
        self.events.append(event)

    def of(self, *kinds: type[Any]) -> list[Any]:
        """The events of these kinds, in order."""
        return [event for event in self.events if isinstance(event, kinds)]

    @property
    def text(self) -> str:
        """What was said, whole."""
        return "".join(event.text for event in self.of(Saying))

    @property
    def turn(self) -> Turn:
        """The turn that these events tell."""
        return fold(self.events)
