"""One exchange with a vendor: send, decode, and try again while nothing has been heard.

Here is the rule of retries. A request is sent up to three times in all, as long as no event of its answer
has been passed on: after that a restart would say things twice, so the failure ends the reply. Between the
tries a :class:`~agent_magics.talk.Retrying` tells how long the wait is.
"""

from __future__ import annotations

import asyncio
import json
import random
from collections.abc import AsyncGenerator, AsyncIterator, Callable, Iterable
from contextlib import aclosing
from typing import Any, Protocol, cast

from agent_magics.errors import ProviderError
from agent_magics.providers import failures
from agent_magics.providers.halves import Halves
from agent_magics.providers.sse import FramesFactory
from agent_magics.providers.wire import Request, Wire
from agent_magics.talk import ProviderEvent, Retrying, Stop

TRIES = 3
_FIRST_PAUSE = 0.5
_LONGEST_PAUSE = 8.0
_DRAIN = 0.5

DONE = "[DONE]"


class Reply(Protocol):
    """A vendor's protocol, decoded event by event. Pure: payloads in, our events out.

    Attributes
    ----------
    complete : bool
        Whether the vendor's last word was read. Set from outside when the stream says ``[DONE]``.
    """

    complete: bool

    def read(self, payload: dict[str, Any], /) -> Iterable[ProviderEvent]:
        """What this payload says."""
        ...

    def end(self) -> Iterable[ProviderEvent]:
        """What was held back until the end: calls, tokens, the stop. Called once.

        Raises
        ------
        ProviderError
            If the stream ended before the reply did.
        """
        ...


async def exchange(
    wire: Wire, request: Request, frames: FramesFactory, reply: Callable[[], Reply]
) -> AsyncGenerator[ProviderEvent]:
    """Send ``request`` and yield its answer's events, retrying while none has come."""
    for attempt in range(1, TRIES + 1):
        heard = False
        try:
            async with aclosing(_once(wire, request, frames, reply())) as events:
                async for event in events:
                    heard = True
                    yield event
            return
        except failures.ContextFull as error:
            yield Stop(reason="context_full", detail=error.why)
            return
        except ProviderError as error:
            if heard or not error.retryable or attempt == TRIES:
                raise
            pause = pause_before(attempt + 1, error.retry_after, random.random())  # noqa: S311 (spreads load)
            yield Retrying(attempt=attempt + 1, tries=TRIES, delay=pause, why=error.what)
        await asyncio.sleep(pause)


async def once(
    wire: Wire, request: Request, frames: FramesFactory, reply: Callable[[], Reply]
) -> list[ProviderEvent]:
    """The events of ``request``'s answer, sent a single time: who asks keeps a pace of their own."""
    try:
        return [event async for event in _once(wire, request, frames, reply())]
    except failures.ContextFull as error:
        return [Stop(reason="context_full", detail=error.why)]


async def whole(
    wire: Wire, request: Request, reply: Reply, as_payload: Callable[[dict[str, Any]], dict[str, Any]]
) -> list[ProviderEvent]:
    """The events of an answer that comes in one piece; ``as_payload`` puts it as the stream would."""
    try:
        body = await wire.read(request)
    except failures.ContextFull as error:
        return [Stop(reason="context_full", detail=error.why)]
    try:
        answer = json.loads(body)
    except ValueError:
        answer = None
    if not isinstance(answer, dict):
        raise failures.garbage(request.vendor, body.decode("utf-8", "replace"))
    halves, said = Halves(), cast("dict[str, Any]", answer)
    events = (
        [*halves.mend(reply.read(as_payload(said)))] if b"\\u" in body else [*reply.read(as_payload(said))]
    )
    return [*events, *reply.end()]


def pause_before(attempt: int, announced: float | None, spread: float) -> float:
    """Seconds to wait before try number ``attempt`` (from 2).

    What the vendor announced is kept, plus up to a tenth so that many waiting rows don't come back as one;
    otherwise 0.5 s, doubled each time, of which a random half is taken off. ``spread`` is in [0, 1).

    >>> pause_before(2, None, 0.0), pause_before(3, None, 0.0), pause_before(2, 3.0, 0.0)
    (0.5, 1.0, 3.0)
    """
    if announced is not None:
        return announced * (1 + 0.1 * spread)
    return min(_LONGEST_PAUSE, _FIRST_PAUSE * 2 ** (attempt - 2)) * (1 - 0.5 * spread)


async def _once(
    wire: Wire, request: Request, frames: FramesFactory, reply: Reply
) -> AsyncGenerator[ProviderEvent]:
    decoder, halves, beginning, framed = frames(), Halves(), b"", False
    async with aclosing(wire.stream(request)) as chunks:
        async for chunk in chunks:
            beginning = beginning or chunk
            for frame in decoder.feed(chunk):
                framed = True
                for event in _read(request.vendor, frame, reply, halves):
                    yield event
            if reply.complete:
                break
        else:
            for frame in decoder.end():
                if framed and not _is_whole(frame):
                    raise failures.dropped(request.vendor, f"It ended within {failures.cut(frame, 80)!r}.")
                framed = True
                for event in _read(request.vendor, frame, reply, halves):
                    yield event
        if beginning and not framed:
            raise failures.garbage(request.vendor, beginning.decode("utf-8", "replace"))
        for event in reply.end():
            yield event
        await _drain(chunks)


def _read(vendor: str, frame: str, reply: Reply, halves: Halves) -> Iterable[ProviderEvent]:
    if frame == DONE:
        reply.complete = True
        return ()
    try:
        payload = json.loads(frame)
    except ValueError:
        raise failures.garbage(vendor, frame) from None
    if not isinstance(payload, dict):
        raise failures.garbage(vendor, frame)
    events = reply.read(payload)  # pyright: ignore[reportUnknownArgumentType] (an object, as just checked)
    return halves.mend(events) if halves or "\\u" in frame else events


def _is_whole(frame: str) -> bool:
    try:
        return frame == DONE or isinstance(json.loads(frame), dict)
    except ValueError:
        return False


async def _drain(chunks: AsyncIterator[bytes]) -> None:
    """Read the stream to its end, so that the connection can be used again; some servers keep it open."""
    try:
        async with asyncio.timeout(_DRAIN):
            async for _ in chunks:
                pass
    except (TimeoutError, ProviderError):
        return  # the answer is complete, whatever becomes of its connection
