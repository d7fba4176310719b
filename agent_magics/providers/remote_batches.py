"""What the vendors' batch APIs have in common: JSON there and back, files sent and read in pieces."""

from __future__ import annotations

import json
from collections.abc import AsyncGenerator, AsyncIterator, Callable, Iterable, Mapping, Sequence
from contextlib import aclosing
from typing import IO, Any, cast

from agent_magics.providers import failures
from agent_magics.providers.exchange import Reply
from agent_magics.providers.halves import Halves
from agent_magics.providers.loose import dumps, items, obj
from agent_magics.providers.remote import Remote
from agent_magics.providers.sse import Lines
from agent_magics.talk import JSON, Message, ProviderEvent, Stop, ToolSpec

PIECE = 64 * 1024
PAGES = 20
"""Pages of a list that are looked through for one batch; newest first."""

Answer = Sequence[ProviderEvent] | Exception


class RemoteBatches:
    """The part of :class:`~agent_magics.ports.Batches` that vendors share."""

    def __init__(self, remote: Remote, root: str) -> None:
        self.account = f"{remote.name} {root}"
        self._remote = remote
        self._root = root

    def request(
        self, messages: Sequence[Message], tools: Sequence[ToolSpec], schema: Mapping[str, JSON] | None
    ) -> dict[str, JSON]:
        return self._remote.unstreamed(messages, tools, schema)

    async def ask(self, method: str, path: str, body: Mapping[str, JSON] | None = None) -> dict[str, Any]:
        """The vendor's object at ``path``."""
        sent = b"" if body is None else dumps(body).encode()
        kind = {"content-type": "application/json"} if body is not None else {}
        return await self.tell(method, path, sent, kind)

    async def tell(self, method: str, path: str, body: Any, headers: Mapping[str, str]) -> dict[str, Any]:
        request = self._remote.request(method, self._root + path, body, headers)
        answer = await self._remote.wire.read(request)
        try:
            return obj(json.loads(answer))
        except ValueError:
            raise failures.garbage(request.vendor, answer.decode("utf-8", "replace")) from None

    async def listed(self, path: str, after: str) -> AsyncGenerator[dict[str, Any]]:
        """The vendor's batches, newest first; ``after`` is its parameter for going on."""
        query = "?limit=100"
        for _ in range(PAGES):
            page = await self.ask("GET", path + query)
            batches = items(page.get("data"))
            for batch in map(obj, batches):
                yield batch
            if not batches or not page.get("has_more"):
                return
            query = f"?limit=100&{after}={obj(batches[-1]).get('id', '')}"

    async def jsonl(self, path: str) -> AsyncGenerator[dict[str, Any]]:
        """The objects of a file, line by line as it arrives."""
        lines = Lines()
        request = self._remote.request("GET", self._root + path)
        async with aclosing(self._remote.wire.stream(request)) as chunks:
            async for chunk in chunks:
                for line in lines.feed(chunk):
                    yield self._parsed(line)
        for line in lines.end():
            yield self._parsed(line)

    def _parsed(self, line: str) -> dict[str, Any]:
        try:
            return obj(json.loads(line))
        except ValueError:
            raise failures.garbage(self._remote.name, line) from None

    def decoded(self, payloads: Callable[[], Iterable[dict[str, Any]]]) -> Answer:
        """A whole answer's events, from what a stream would have said."""
        reply: Reply = self._remote.reply()
        try:
            events = [*Halves().mend(event for payload in payloads() for event in reply.read(payload))]
            return [*events, *reply.end()]
        except failures.ContextFull as error:
            return [Stop(reason="context_full", detail=error.why)]
        except failures.ProviderError as error:
            return error

    def refused(self, status: int, error: Any) -> Answer:
        """What one request got instead of an answer, as if it had been sent alone."""
        # Alone it would have been told when to come back; in a batch nothing is said about that.
        told = failures.refused(self._remote.name, status, {"retry-after": "1"}, dumps(error).encode())
        if isinstance(told, failures.ContextFull):
            return [Stop(reason="context_full", detail=told.why)]
        return cast("Answer", told)

    def undone(self, what: str) -> Exception:
        """The error of a request that was not even begun; it may be sent again."""
        return failures.ProviderError(
            f"{self._remote.name} did not answer a request of a batch.",
            f"The vendor's word for it is {what!r}.",
            "Run it again: what is in the checkpoint is kept.",
            retryable=True,
        )


async def pieces(file: IO[bytes], before: bytes = b"", after: bytes = b"") -> AsyncIterator[bytes]:
    """A file from its start, a piece at a time, between two texts."""
    file.seek(0)
    if before:
        yield before
    while piece := file.read(PIECE):
        yield piece
    if after:
        yield after


def length(file: IO[bytes]) -> int:
    return file.seek(0, 2)
