"""One request to the model: its deltas are played as they come, and its reply is collected.

However a request ends (whole, failed, cancelled), the step is recorded with as much of it as arrived. Calls
count only in a whole reply: what was asked for before a failure is never run.
"""

from __future__ import annotations

import asyncio
import json
import time
from collections.abc import AsyncGenerator, AsyncIterator, Callable, Sequence
from contextlib import aclosing
from dataclasses import dataclass, field, replace
from typing import Any, cast

from agent_magics.masking import masked
from agent_magics.ports import Provider
from agent_magics.talk import (
    Event,
    Message,
    Noticed,
    Opaque,
    ProviderEvent,
    ReplyReceived,
    RequestSent,
    Retry,
    Retrying,
    Saying,
    Stop,
    Thinking,
    ToolCall,
    ToolSpec,
    Usage,
)
from agent_magics.talk.text import whole
from agent_magics.tools.tasks import in_task

REASON = 200
"""Characters of a failed try's reason that are kept."""

CUT_OFF = "The reply was cut off by its length limit, so this call was not run."


async def request_reply(
    provider: Provider,
    messages: Sequence[Message],
    tools: Sequence[ToolSpec],
    *,
    step: int,
    emit: Callable[[Event], None],
    taken: set[str],
) -> ReplyReceived:
    """Ask once, play what comes, and return the reply.

    ``taken`` are the ids of earlier calls; those of this reply will differ, and are added.

    Raises
    ------
    ProviderError
        If the request fails; the partial reply has been recorded before.
    """
    reply = _Collected(step=step)
    emit(RequestSent(step=step, provider=provider.name, model=provider.model, at=time.time()))

    def left_behind() -> None:
        emit(Noticed(text=f"{provider.name} did not end its request at once: left behind.", at=time.time()))

    try:
        await in_task(_play(provider.fetch(messages, tools), reply, emit), left_behind=left_behind)
    except BaseException as error:
        reply.over = True
        emit(reply.partial("cancelled" if isinstance(error, asyncio.CancelledError) else "failed"))
        raise
    received = reply.whole(taken)
    emit(received)
    return received


async def _play(
    fetched: AsyncIterator[ProviderEvent], reply: _Collected, emit: Callable[[Event], None]
) -> None:
    async with aclosing(_generator(fetched)) as events:
        async for event in events:
            if reply.over:  # it was left behind, and goes on
                return
            reply.take(event, emit)


def _generator(events: AsyncIterator[ProviderEvent]) -> AsyncGenerator[ProviderEvent, None]:
    """The registry hands out providers whose ``fetch`` is an async generator: it can be closed."""
    return cast("AsyncGenerator[ProviderEvent, None]", events)


@dataclass(kw_only=True)
class _Collected:
    """A reply while it arrives."""

    step: int
    over: bool = False
    began: float = field(default_factory=time.monotonic)
    first: float = 0.0
    thought: float = 0.0
    text: list[str] = field(default_factory=list[str])
    thinking: list[str] = field(default_factory=list[str])
    calls: list[ToolCall] = field(default_factory=list[ToolCall])
    opaque: list[Opaque] = field(default_factory=list[Opaque])
    retries: list[Retry] = field(default_factory=list[Retry])
    usage: Usage = field(default_factory=Usage)
    stop: str = ""

    def take(self, event: Any, emit: Callable[[Event], None]) -> None:
        """One provider event. The common kinds come first: a long answer is tens of thousands of them."""
        if not self.first:
            self.first = time.monotonic() - self.began
        if isinstance(event, Saying):
            self.text.append(event.text)
            emit(event)
        elif isinstance(event, Thinking):
            self.thinking.append(event.text)
            self.thought = time.monotonic() - self.began
            emit(event)
        else:
            self._take_rare(event, emit)

    def _take_rare(self, event: Any, emit: Callable[[Event], None]) -> None:
        match event:
            case ToolCall():
                self.calls.append(_sendable(event))
            case Usage():
                self.usage = event
            case Opaque():
                self.opaque.append(event)
            case Stop():
                self.stop = event.reason
            case Retrying():
                self.first = 0.0
                after = time.monotonic() - self.began
                self.retries.append(Retry(after=after, delay=event.delay, why=event.why[:REASON]))
                emit(event)
            case _:  # a provider may say more than we know
                pass

    def whole(self, taken: set[str]) -> ReplyReceived:
        stop = self.stop or ("tool_calls" if self.calls else "end")
        calls = _unique(self.calls, taken)
        if stop == "max_tokens":
            calls = [replace(call, problem=call.problem or CUT_OFF) for call in calls]
        return self._received(stop, calls)

    def partial(self, stop: str) -> ReplyReceived:
        return self._received(stop, [])

    def _received(self, stop: str, calls: list[ToolCall]) -> ReplyReceived:
        return ReplyReceived(
            step=self.step,
            # Here, and not only where it is told: what is shown of a call is what runs.
            text=masked(whole("".join(self.text))),
            thinking=masked(whole("".join(self.thinking))),
            calls=tuple(map(masked, calls)),
            opaque=tuple(each for each in self.opaque if masked(each) is each),  # a mended one is refused
            stop=stop,
            usage=self.usage,
            seconds=time.monotonic() - self.began,
            first=self.first,
            thought=self.thought,
            retries=tuple(self.retries),
            at=time.time(),
        )


def _sendable(call: ToolCall) -> ToolCall:
    """The call with arguments that every later request can carry: JSON, and whole characters."""
    try:
        text = json.dumps(dict(call.arguments), ensure_ascii=False, allow_nan=False)
    except (TypeError, ValueError, RecursionError) as error:
        return replace(call, arguments={}, problem=call.problem or f"The arguments are not JSON: {error}.")
    mended = whole(text)
    arguments = call.arguments if mended == text else json.loads(mended)
    return replace(call, name=whole(call.name), arguments=arguments)


def _unique(calls: list[ToolCall], taken: set[str]) -> list[ToolCall]:
    """Calls with ids of their own: results are matched by id, and some vendors send none or the same."""
    unique: list[ToolCall] = []
    for call in calls:
        name, number = call.id or "call", len(taken)
        fresh = name if call.id else f"{name}_{number}"
        while fresh in taken:
            number += 1
            fresh = f"{name}_{number}"
        taken.add(fresh)
        unique.append(call if fresh == call.id else replace(call, id=fresh))
    return unique
