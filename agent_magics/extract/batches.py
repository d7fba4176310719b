"""Many rows through a vendor's batch API: half the price, within a day.

Theory of operation
-------------------
:class:`Batched` is a provider whose answers take long: a request is packed into the next batch, and awaits
its answer. So rows are asked, read, validated and repaired as always; a repair is a request of a following
batch. A batch is sent when it is full, or when nobody has brought a request for a moment.

A request is known by the hash of its body. The ledger says in which batch it is, so a second run, which asks
the same, waits for the batches of the first one and pays nothing twice. Two rows that ask the same are one
request. When a batch was sent and its id never heard (a crash, a dropped connection), the vendor is asked for
it before anything is sent again. OpenAI finds it by its name. Anthropic has no names: batches of the same
size, made since, are waited for, and known by their requests' ids. What can't be excluded: a batch that shows
up in the vendor's list only after we looked, or was deleted or archived there, is paid twice.
"""

from __future__ import annotations

import asyncio
import hashlib
import json
import secrets
import tempfile
import time
from collections.abc import AsyncGenerator, Awaitable, Callable, Coroutine, Mapping, Sequence
from contextlib import aclosing
from dataclasses import dataclass, field
from typing import IO, Any, TypeVar

from agent_magics.errors import AgentMagicsError, ProviderError, RateLimited
from agent_magics.extract.held import Hold, hold_of
from agent_magics.extract.ledger import Ledger, Sent
from agent_magics.extract.paced import PATIENCE
from agent_magics.extract.source import Reading
from agent_magics.ports import Batches, BatchState, Provider
from agent_magics.talk import JSON, Message, ProviderEvent, ToolSpec, Usage

ROWS = 10_000
"""Rows in a batch, at most."""

SETTLE = 0.5
_FIRST_LOOK, _LONGEST_LOOK, _SLOWER = 0.5, 60.0, 1.3
"""Seconds between two looks at a batch, and how they grow."""

T = TypeVar("T")


@dataclass
class _Packet:
    """Requests that are not sent yet, in a file."""

    name: str = field(default_factory=lambda: secrets.token_hex(8))
    lines: IO[bytes] = field(default_factory=tempfile.TemporaryFile)
    keys: list[str] = field(default_factory=list[str])
    size: int = 0


@dataclass
class _Open:
    """A batch at the vendor, and whose answers are awaited."""

    sent: Sent
    keys: set[str] = field(default_factory=set[str])
    state: BatchState = field(default_factory=lambda: BatchState(ended=False))


class Batched:
    """``inner``, asked through its vendor's batch API. Lives on one event loop.

    Parameters
    ----------
    rows : int
        The most requests in a batch.
    reading : Reading
        The rows that are still to come.
    """

    def __init__(self, inner: Provider, api: Batches, ledger: Ledger, reading: Reading, rows: int) -> None:
        self.name, self.model, self.window = inner.name, inner.model, inner.window
        self.paused = 0.0
        self._inner = inner
        self._api = api
        self._ledger = ledger
        self._reading = reading
        self._rows = min(rows, api.most)
        self._waiting: dict[str, list[asyncio.Future[Sequence[ProviderEvent]]]] = {}
        self._packet: _Packet | None = None
        self._open: dict[str, _Open] = {}
        self._answered: set[str] = set()
        self._tasks: set[asyncio.Task[None]] = set()
        self._tending = False

    def holds(self, schema: Mapping[str, JSON]) -> Hold:
        """How ``inner`` can be held to the schema."""
        return hold_of(self._inner, schema)

    def fetch(
        self,
        messages: Sequence[Message],
        tools: Sequence[ToolSpec],
        *,
        schema: Mapping[str, JSON] | None = None,
    ) -> AsyncGenerator[ProviderEvent]:
        return self._fetch(messages, tools, schema)

    async def once(
        self,
        messages: Sequence[Message],
        tools: Sequence[ToolSpec],
        *,
        schema: Mapping[str, JSON] | None = None,
    ) -> Sequence[ProviderEvent]:
        """The answer, when its batch has ended."""
        request = self._api.request(messages, tools, schema)
        key = hashlib.blake2b(json.dumps(request, sort_keys=True).encode(), digest_size=16).hexdigest()
        future: asyncio.Future[Sequence[ProviderEvent]] = asyncio.get_running_loop().create_future()
        self._waiting.setdefault(key, []).append(future)
        if len(self._waiting[key]) == 1:
            sent = self._ledger.find(key)
            if sent is None:
                self._pack(key, request)
            else:
                self._watch(sent, {key})
        return await future

    async def aclose(self) -> None:
        """Leave the batches to the vendor."""
        tasks = [*self._tasks]
        for task in tasks:
            task.cancel()
        if tasks:
            await asyncio.wait(tasks)

    @property
    def at_vendor(self) -> tuple[int, int, int]:
        """How many batches are open, how many of their requests are answered, and how many they hold."""
        batches = [*self._open.values()]
        return len(batches), sum(one.state.answered for one in batches), sum(one.sent.size for one in batches)

    @property
    def ids(self) -> list[str]:
        """The open batches, as the vendor calls them."""
        return [one.sent.id or f"(sent as {one.sent.name})" for one in [*self._open.values()]]

    def settle(self) -> None:
        """Every row has its outcome: what was answered is not needed any more."""
        self._ledger.drop(self._answered)

    # -- out ----------------------------------------------------------------------------------------

    async def _fetch(
        self, messages: Sequence[Message], tools: Sequence[ToolSpec], schema: Mapping[str, JSON] | None
    ) -> AsyncGenerator[ProviderEvent]:
        for event in await self.once(messages, tools, schema=schema):
            yield event

    def _pack(self, key: str, request: dict[str, JSON]) -> None:
        packet = self._packet = self._packet or _Packet()
        line = self._api.line(f"{packet.name}-{key}", request)
        if packet.keys and packet.size + len(line) > self._api.largest:
            self._send()
            self._pack(key, request)
            return
        packet.lines.write(line)
        packet.keys.append(key)
        packet.size += len(line)
        if len(packet.keys) >= self._rows:
            self._send()
        elif not self._tending:
            self._tending = True
            self._begin(self._tend())

    async def _tend(self) -> None:
        """Send what was packed when nothing is added any more and no row is on its way."""
        before = 0
        while self._packet is not None:
            await asyncio.sleep(SETTLE)
            now = self._packet.size if self._packet else 0
            if now and now == before and not self._reading.busy:
                self._send()
            before = now
        self._tending = False

    def _send(self) -> None:
        packet, self._packet = self._packet, None
        if packet is None:
            return
        try:
            batch = _Open(self._ledger.begin(packet.name, packet.keys), set(packet.keys))
        except AgentMagicsError as error:
            for key in packet.keys:
                self._answer(key, error)
            return
        self._open[packet.name] = batch
        self._begin(self._follow(batch, packet))

    def _watch(self, sent: Sent, keys: set[str]) -> None:
        if sent.name in self._open:
            self._open[sent.name].keys |= keys
        else:
            batch = self._open[sent.name] = _Open(sent, keys)
            self._begin(self._follow(batch, None))

    def _begin(self, work: Coroutine[Any, Any, None]) -> None:
        task = asyncio.get_running_loop().create_task(work)
        self._tasks.add(task)
        task.add_done_callback(self._tasks.discard)

    # -- at the vendor ------------------------------------------------------------------------------

    async def _follow(self, batch: _Open, packet: _Packet | None) -> None:
        try:
            if packet is not None:
                with packet.lines:
                    await self._create(batch.sent, packet)
            elif not batch.sent.id and not await self._found(batch.sent):
                self._ledger.forget(batch.sent)
                raise _never_made(self.name)
            await self._until_ended(batch)
            while batch.keys:
                number = 0
                while number != len(batch.keys):  # a second run brings its rows bit by bit
                    number = len(batch.keys)
                    await asyncio.sleep(SETTLE / 5)
                await self._patiently(lambda: self._deliver(batch))
        except Exception as error:  # whatever it is, no row may wait for ever
            for key in batch.keys:
                self._answer(key, error)
        finally:
            self._open.pop(batch.sent.name, None)

    async def _create(self, sent: Sent, packet: _Packet) -> None:
        async def attempt() -> None:
            nonlocal tried
            if tried and await self._found(sent):
                return  # it had arrived, although we did not hear so
            try:
                self._ledger.named(sent, await self._api.create(packet.name, packet.lines))
            except RateLimited:
                raise
            except ProviderError:
                tried = True
                raise

        tried = False
        try:
            await self._patiently(attempt)
        except ProviderError as error:
            if not error.retryable or isinstance(error, RateLimited):  # a plain no: nothing was made
                self._ledger.forget(sent)
                raise
            # It may have been made: rows must not be sent again before the next run has looked.
            raise ProviderError(error.what, error.why, error.remedy) from error

    async def _found(self, sent: Sent) -> bool:
        """Look for a batch whose id we never heard."""
        known = {one.id for one in self._ledger.open()}
        listed = await self._patiently(lambda: self._api.candidates(sent.name, sent.size, sent.since))
        for identity, sure in listed:
            if identity in known:
                continue
            if not sure:
                await self._until_ended(_Open(Sent("", identity, 0, 0.0)))
            if sure or await self._patiently(lambda at=identity: self._holds(at, sent.name)):
                self._ledger.named(sent, identity)
                return True
        return False

    async def _holds(self, identity: str, name: str) -> bool:
        async with aclosing(self._api.results(identity)) as results:
            async for custom_id, _ in results:
                return custom_id.startswith(f"{name}-")
        return False

    async def _until_ended(self, batch: _Open) -> None:
        pause = _FIRST_LOOK
        while True:
            batch.state = await self._patiently(lambda: self._api.state(batch.sent.id))
            if batch.state.failed is not None:
                self._ledger.forget(batch.sent)
                raise batch.state.failed
            if batch.state.ended:
                return
            await asyncio.sleep(pause)
            pause = min(_LONGEST_LOOK, pause * _SLOWER)

    async def _patiently(self, call: Callable[[], Awaitable[T]]) -> T:
        """Try until it works, as live rows do: as long as the vendor says, for 15 minutes at most.

        A batch goes on whether or not we can see it, so a dropped connection is not given up sooner.
        """
        end, pause = time.monotonic() + PATIENCE, _FIRST_LOOK
        while True:
            try:
                return await call()
            except ProviderError as error:
                wait = error.retry_after or pause
                told = isinstance(error, RateLimited) and error.retry_after is not None
                if not (error.retryable or told) or time.monotonic() + wait > end:
                    raise
            self.paused = time.monotonic() + wait
            await asyncio.sleep(wait)
            pause = min(_LONGEST_LOOK, pause * 2)

    async def _deliver(self, batch: _Open) -> None:
        wanted, failed = frozenset(batch.keys), dict[str, Exception]()
        async with aclosing(self._api.results(batch.sent.id)) as results:
            async for custom_id, answer in results:
                key = custom_id.rpartition("-")[2]
                if key in wanted and key in batch.keys:
                    if isinstance(answer, Exception):
                        failed[key] = answer
                    else:
                        batch.keys.discard(key)
                        self._answer(key, answer)
        failed = {key: failed.get(key, _unanswered(self.name)) for key in wanted & batch.keys}
        batch.keys -= failed.keys()
        if failed:
            self._ledger.drop(failed)  # who asks again is to get a new answer
        for key, error in failed.items():
            self._answer(key, error)

    def _answer(self, key: str, answer: Sequence[ProviderEvent] | Exception) -> None:
        futures = [each for each in self._waiting.pop(key, []) if not each.done()]
        if isinstance(answer, Exception):
            for future in futures:
                future.set_exception(answer)
            return
        self._answered.add(key)
        once = [event for event in answer if not isinstance(event, Usage)]
        for at, future in enumerate(futures):
            future.set_result(once if at else answer)  # what was asked once is counted once


def _never_made(vendor: str) -> ProviderError:
    return ProviderError(f"{vendor} has no such batch.", "It was never made.", "", retryable=True)


def _unanswered(vendor: str) -> ProviderError:
    return ProviderError(
        f"{vendor} left out a request of a batch.",
        "Neither an answer nor an error came for it.",
        "Run it again: what is in the checkpoint is kept.",
        retryable=True,
    )
