"""Servers for the tests: one of ours that sends scripted bytes, and starters for those that others wrote."""

from __future__ import annotations

import asyncio
import json
import socket
import subprocess
import time
import urllib.error
import urllib.request
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Self

SSE_HEAD = b"HTTP/1.1 200 OK\r\ncontent-type: text/event-stream\r\ntransfer-encoding: chunked\r\n\r\n"


@dataclass(frozen=True)
class Chunk:
    """A piece of a chunked answer."""

    data: bytes


@dataclass(frozen=True)
class Drop:
    """Cut the connection in the middle."""


@dataclass(frozen=True)
class Hang:
    """Send nothing more, until the client goes away."""


END = b"0\r\n\r\n"
Step = bytes | Chunk | Drop | Hang


def sse(*payloads: Any, done: bool = True) -> list[Step]:
    """A whole streamed answer of these events, one a chunk."""
    events = [
        f"data: {one if isinstance(one, str) else json.dumps(one, ensure_ascii=False)}\n\n"
        for one in payloads
    ]
    if done:
        events.append("data: [DONE]\n\n")
    return [SSE_HEAD, *(Chunk(event.encode()) for event in events), END]


def answer(status: int, body: Any = None, **headers: str) -> list[Step]:
    """A whole answer that is not a stream."""
    data = body if isinstance(body, bytes) else json.dumps(body).encode()
    lines = [f"HTTP/1.1 {status} X", f"content-length: {len(data)}"]
    lines += [f"{name.replace('_', '-')}: {value}" for name, value in headers.items()]
    return ["\r\n".join(lines).encode() + b"\r\n\r\n" + data]


@dataclass
class Received:
    """One request as it came."""

    method: str
    path: str
    headers: dict[str, str]
    body: bytes
    at: float

    @property
    def json(self) -> Any:
        return json.loads(self.body)


@dataclass
class ScriptedServer:
    """Plays one script for each request, in order; the last one again and again.

    ``left`` is set when a client goes away while its answer hangs.
    """

    scripts: list[Sequence[Step]]
    requests: list[Received] = field(default_factory=list[Received])
    connections: int = 0
    left: asyncio.Event = field(default_factory=asyncio.Event)
    url: str = ""
    _server: asyncio.Server | None = None
    _serving: set[asyncio.Task[Any]] = field(default_factory=set[asyncio.Task[Any]])

    async def __aenter__(self) -> Self:
        self._server = await asyncio.start_server(self._serve, "127.0.0.1", 0)
        host, port = self._server.sockets[0].getsockname()
        self.url = f"http://{host}:{port}"
        return self

    async def __aexit__(self, *_: object) -> None:
        assert self._server
        self._server.close()
        await self._server.wait_closed()
        for task in self._serving:
            task.cancel()
        await asyncio.wait([*self._serving, asyncio.create_task(asyncio.sleep(0))], timeout=5)

    async def _serve(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        self.connections += 1
        task = asyncio.current_task()
        assert task
        self._serving.add(task)
        try:
            while request := await _request(reader):
                script = self.scripts[min(len(self.requests), len(self.scripts) - 1)]
                self.requests.append(request)
                if not await self._play(script, reader, writer):
                    return
        except ConnectionError:
            self.left.set()
        except asyncio.CancelledError:
            pass  # the test is over; asyncio's own streams would call this an error
        finally:
            self._serving.discard(task)
            writer.close()

    async def _play(
        self, script: Sequence[Step], reader: asyncio.StreamReader, writer: asyncio.StreamWriter
    ) -> bool:
        for step in script:
            match step:
                case Drop():
                    writer.transport.abort()
                    return False
                case Hang():
                    await asyncio.wait_for(reader.read(), 30)
                    self.left.set()
                    return False
                case Chunk(data):
                    writer.write(b"%x\r\n%s\r\n" % (len(data), data))
                case data:
                    writer.write(data)
            await writer.drain()
        return True


async def _request(reader: asyncio.StreamReader) -> Received | None:
    try:
        head = await reader.readuntil(b"\r\n\r\n")
    except asyncio.IncompleteReadError:
        return None
    first, *lines = head.decode("latin-1").split("\r\n")[:-2]
    headers = {name.lower(): value.strip() for name, _, value in (line.partition(":") for line in lines)}
    body = await reader.readexactly(int(headers.get("content-length", 0)))
    method, path, _ = first.split(" ")
    return Received(method, path, headers, body, time.monotonic())


def free_port() -> int:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return probe.getsockname()[1]


@contextmanager
def process(
    command: Sequence[str | Path],
    url: str,
    log: Path,
    limit: float = 60,
    env: Mapping[str, str] | None = None,
) -> Iterator[str]:
    """A server process that is up when ``url`` answers anything, and gone when the block ends."""
    with log.open("wb") as out:
        running = subprocess.Popen(
            [str(part) for part in command], stdout=out, stderr=out, stdin=subprocess.DEVNULL, env=env
        )
        try:
            _await_answer(running, url, log, limit)
            yield url
        finally:
            running.kill()
            running.wait(10)


def _await_answer(running: subprocess.Popen[bytes], url: str, log: Path, limit: float) -> None:
    deadline = time.monotonic() + limit
    while running.poll() is None and time.monotonic() < deadline:
        try:
            urllib.request.urlopen(url, timeout=2).close()
            return
        except urllib.error.HTTPError as error:
            error.close()
            return
        except OSError:
            running_for = deadline - time.monotonic()
            select_nothing(min(0.05, max(running_for, 0)))
    raise RuntimeError(f"{url} did not come up: {log.read_text(errors='replace')[-1000:]}")


def select_nothing(seconds: float) -> None:
    """Let the other process have the processor."""
    import select

    select.select([], [], [], seconds)


def call(url: str, payload: Any = None, method: str | None = None) -> Any:
    """Ask a test server's own control page."""
    data = None if payload is None else json.dumps(payload).encode()
    request = urllib.request.Request(url, data, {"content-type": "application/json"}, method=method)
    with urllib.request.urlopen(request, timeout=30) as reply:
        return json.loads(reply.read())
