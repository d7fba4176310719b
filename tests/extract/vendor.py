"""A vendor on this machine that fails on purpose: Chat Completions over plain sockets.

    python -m tests.extract.vendor PORT

The scenario stands in the address, so that any client can be led through it:

    /extract-LATENCY-REFUSED-BROKEN-DROPPED-NEVER/v1/chat/completions

LATENCY in milliseconds; then percentages: requests refused with 429 and ``retry-after: 1``; rows whose first
answer breaks the schema; rows whose first connection is dropped; rows that break the schema for ever. A row
is the number in the first ``row N`` of the request. What happens is drawn by hashing row and attempt, so it
is the same for every client. ``GET /stats`` counts, ``POST /reset`` begins anew.

The answer to row N is ``{"name": "name-N", "amount": N.5, "tags": ["t", "N % 7"]}``.
"""

from __future__ import annotations

import asyncio
import hashlib
import json
import re
import sys
import time
from collections import Counter
from contextlib import suppress
from typing import Any, cast

ROW = re.compile(rb"row (\d+)")
LENGTH = re.compile(rb"content-length: *(\d+)", re.IGNORECASE)

SCHEMA = {
    "type": "object",
    "properties": {
        "name": {"type": "string"},
        "amount": {"type": "number"},
        "tags": {"type": "array", "items": {"type": "string"}},
    },
    "required": ["name", "amount", "tags"],
    "additionalProperties": False,
}


def prompt(row: int) -> str:
    """The text of a row."""
    return f"Extract the fields from row {row} : item number {row} costs {row}.5"


def expected(row: int) -> dict[str, Any]:
    """The value of a row."""
    return {"name": f"name-{row}", "amount": row + 0.5, "tags": ["t", str(row % 7)]}


def never_fits(row: int, percent: float) -> bool:
    """Whether every answer to the row breaks the schema."""
    return _drawn("never", row, 0, percent)


def _drawn(what: str, row: int, attempt: int, percent: float) -> bool:
    digest = hashlib.blake2b(f"{what}:{row}:{attempt}".encode(), digest_size=4).digest()
    return int.from_bytes(digest, "big") % 10_000 < percent * 100


class Vendor:
    """The vendor: its counts and its answers."""

    def __init__(self) -> None:
        self.reset()

    def reset(self) -> None:
        self.counts: Counter[str] = Counter()
        self.attempts: Counter[int] = Counter()
        self.answered: Counter[int] = Counter()
        self.open = self.most = 0
        self.sent: list[float] = []

    def stats(self) -> dict[str, Any]:
        """What has happened since the last reset."""
        return {
            **self.counts,
            "most": self.most,
            "rows": len(self.attempts),
            "answered": len(self.answered),
            "seconds": self.sent[-1] - self.sent[0] if self.sent else 0.0,
            "cpu": time.process_time(),
        }

    async def answer(self, path: str, body: bytes) -> bytes | None:
        """The whole response; ``None`` drops the connection."""
        if path == "/stats":
            return _response(200, self.stats())
        if path == "/reset":
            self.reset()
            return _response(200, {})
        scenario = [float(number) for number in path.split("/")[1].split("-")[1:]]
        latency, refused, broken, dropped, never = [*scenario, 0.0, 0.0, 0.0, 0.0][:5]
        self.counts["requests"] += 1
        self.sent.append(time.monotonic())
        self.open += 1
        self.most = max(self.most, self.open)
        try:
            return await self._answer(body, latency / 1000, refused, broken, dropped, never)
        finally:
            self.open -= 1

    async def _answer(
        self, body: bytes, latency: float, refused: float, broken: float, dropped: float, never: float
    ) -> bytes | None:
        found = ROW.search(body)
        row = int(found[1]) if found else -1
        attempt = self.attempts[row]
        self.attempts[row] += 1
        if _drawn("refused", row, attempt, refused):
            self.counts["refused"] += 1
            error = {"message": "Rate limit reached", "type": "requests", "code": "rate_limit_exceeded"}
            return _response(429, {"error": error}, "retry-after: 1\r\n")
        await asyncio.sleep(latency)
        first = self.answered[row] == 0
        self.answered[row] += 1
        if first and _drawn("dropped", row, 0, dropped):
            self.counts["dropped"] += 1
            return None
        value: Any = expected(row)
        if never_fits(row, never) or (first and _drawn("broken", row, 0, broken)):
            self.counts["broken"] += 1
            value = {"name": f"name-{row}", "amount": "n/a", "tags": "t"}
        return _said(json.loads(body), json.dumps(value))


def _said(request: dict[str, Any], text: str) -> bytes:
    """The answer as the client wants it: as a stream, as a call of its tool, or plainly."""
    usage = {"prompt_tokens": 50, "completion_tokens": 30, "total_tokens": 80}
    message: dict[str, Any] = {"role": "assistant", "content": text}
    finish = "stop"
    if request.get("tools") and "response_format" not in request:
        name = request["tools"][0]["function"]["name"]
        call = {"id": "call_1", "type": "function", "function": {"name": name, "arguments": text}}
        message, finish = {"role": "assistant", "content": None, "tool_calls": [call]}, "tool_calls"
    common = {"id": "c", "created": 1, "model": "fixed"}
    if request.get("stream"):
        chunks = [
            {**common, "object": "chat.completion.chunk", "choices": [{"index": 0, **part}]}
            for part in ({"delta": message, "finish_reason": None}, {"delta": {}, "finish_reason": finish})
        ]
        last = {**common, "object": "chat.completion.chunk", "choices": [], "usage": usage}
        events = b"".join(b"data: " + json.dumps(one).encode() + b"\n\n" for one in [*chunks, last])
        return _whole(200, events + b"data: [DONE]\n\n", "content-type: text/event-stream\r\n")
    choice = {"index": 0, "message": message, "finish_reason": finish, "logprobs": None}
    return _response(200, {**common, "object": "chat.completion", "choices": [choice], "usage": usage})


def _response(status: int, body: Any, more: str = "") -> bytes:
    return _whole(status, json.dumps(body).encode(), f"content-type: application/json\r\n{more}")


def _whole(status: int, body: bytes, headers: str) -> bytes:
    return f"HTTP/1.1 {status} X\r\n{headers}content-length: {len(body)}\r\n\r\n".encode() + body


class Connection(asyncio.Protocol):
    """One client's connection; requests come one after the other."""

    def __init__(self, vendor: Vendor) -> None:
        self._vendor = vendor
        self._data = b""
        self._tasks: set[asyncio.Task[None]] = set()

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        self._transport = cast("asyncio.Transport", transport)  # uvloop's is no subclass
        self._vendor.counts["connections"] += 1

    def data_received(self, data: bytes) -> None:
        self._data += data
        head, found, rest = self._data.partition(b"\r\n\r\n")
        if not found:
            return
        length = LENGTH.search(head)
        size = int(length[1]) if length else 0
        if len(rest) < size:
            return
        self._data = rest[size:]
        task = asyncio.ensure_future(self._serve(head.split(b" ", 2)[1].decode(), rest[:size]))
        self._tasks.add(task)
        task.add_done_callback(self._tasks.discard)

    async def _serve(self, path: str, body: bytes) -> None:
        answer = await self._vendor.answer(path, body)
        if answer is None:
            self._transport.abort()
        elif not self._transport.is_closing():
            self._transport.write(answer)


async def serve(port: int = 0, vendor: Vendor | None = None) -> asyncio.Server:
    """Begin to serve on loopback."""
    known = vendor or Vendor()
    loop = asyncio.get_running_loop()
    return await loop.create_server(lambda: Connection(known), "127.0.0.1", port, backlog=2048)


async def _main(port: int) -> None:
    server = await serve(port)
    print(server.sockets[0].getsockname()[1], flush=True)
    await server.serve_forever()


if __name__ == "__main__":
    with suppress(ImportError):
        import uvloop

        uvloop.install()
    with suppress(KeyboardInterrupt):
        asyncio.run(_main(int(sys.argv[1]) if len(sys.argv) > 1 else 0))
