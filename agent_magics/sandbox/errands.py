"""Errands, on the host's side: the requests of one call, each judged anew, served by a thread of its own.

The socket is the only way from a running child to the host, so everything that comes over it is bounded: the
length of a request, their number, and the time, which ends with the call. See :mod:`.errand` for the
messages.
"""

from __future__ import annotations

import asyncio
import contextlib
import json
import socket
import threading
from typing import Any, cast

from agent_magics.sandbox.broker import Broker, FetchError, Page
from agent_magics.sandbox.capabilities import Grants
from agent_magics.sandbox.rebuild import Refused
from agent_magics.sandbox.scratch import LARGEST_FOLDER, ScratchError, ScratchFolder
from agent_magics.sandbox.unwrap import read_json

LONGEST_REQUEST = 16 << 10
MOST_ERRANDS = 200
MOST_FETCHES = 20


class Malformed(Exception):
    """What came over the socket is no request; nothing more is read from it."""


class Errands:
    """Serves one call's errands until it is closed.

    Parameters
    ----------
    grants : Grants
        What the call may ask for.
    broker : Broker
        Who fetches.
    folder : ScratchFolder, optional
        Where its files are.
    """

    def __init__(self, grants: Grants, broker: Broker, folder: ScratchFolder | None) -> None:
        self._grants, self._broker, self._folder = grants, broker, folder
        self._fetches = 0
        self._fetching: tuple[asyncio.AbstractEventLoop, asyncio.Task[Any]] | None = None
        self._ours, self._theirs = socket.socketpair()
        self._thread = threading.Thread(target=self._serve, name="sandbox-errands", daemon=True)
        self._thread.start()

    def child_end(self) -> int:
        """The descriptor that the child gets."""
        return self._theirs.fileno()

    def handed_over(self) -> None:
        """Close this process's copy of the child's end, once the child has its own."""
        self._theirs.close()

    @property
    def serving(self) -> bool:
        """Whether the service still goes on."""
        return self._thread.is_alive()

    def close(self) -> None:
        """End the service; a fetch that is under way is given up."""
        with contextlib.suppress(OSError):
            self._ours.shutdown(socket.SHUT_RDWR)
        self._theirs.close()
        if self._fetching is not None:
            loop, task = self._fetching
            with contextlib.suppress(RuntimeError):  # it ended meanwhile
                loop.call_soon_threadsafe(task.cancel)

    def _serve(self) -> None:
        with self._ours, contextlib.suppress(OSError, Malformed, asyncio.CancelledError):
            for _ in range(MOST_ERRANDS):
                request = self._receive()
                if request is None:
                    return
                self._answer(*request)

    def _receive(self) -> tuple[dict[str, Any], bytes] | None:
        head = self._read(4)
        if not head:
            return None
        length = int.from_bytes(head, "big")
        if length > LONGEST_REQUEST:
            raise Malformed
        try:
            request = read_json(self._read(length))
        except Refused as refusal:
            raise Malformed from refusal
        size = int.from_bytes(self._read(4), "big")
        if size > LARGEST_FOLDER or not isinstance(request, dict):
            raise Malformed
        return cast("dict[str, Any]", request), self._read(size)

    def _answer(self, request: dict[str, Any], payload: bytes) -> None:
        try:
            answer, content = self._do(request, payload)
        except (FetchError, ScratchError) as refusal:
            answer, content = {"refused": str(refusal)}, b""
        said = json.dumps(answer).encode()
        self._ours.sendall(
            b"".join((len(said).to_bytes(4, "big"), said, len(content).to_bytes(4, "big"), content))
        )

    def _do(self, request: dict[str, Any], payload: bytes) -> tuple[dict[str, Any], bytes]:
        match request:
            case {"errand": "http_get", "url": str(url)} if self._grants.hosts:
                return self._fetch(url)
            case {"errand": "write", "name": str(name)} if self._folder:
                self._folder.write(name, payload)
                return {}, b""
            case {"errand": "read", "name": str(name)} if self._folder:
                return {}, self._folder.read(name)
            case {"errand": "names"} if self._folder:
                return {"names": self._folder.names()}, b""
            case {"errand": "delete", "name": str(name)} if self._folder:
                self._folder.delete(name)
                return {}, b""
            case _:
                return {"refused": "this was not granted to the call"}, b""

    def _fetch(self, url: str) -> tuple[dict[str, Any], bytes]:
        self._fetches += 1
        if self._fetches > MOST_FETCHES:
            raise FetchError(f"a call may fetch {MOST_FETCHES} pages")
        page = asyncio.run(self._page(url))
        told = {
            "status": page.status,
            "url": page.url,
            "content_type": page.content_type,
            "charset": page.charset,
        }
        return told, page.body

    async def _page(self, url: str) -> Page:
        task = asyncio.current_task()
        assert task is not None
        self._fetching = asyncio.get_running_loop(), task
        try:
            return await self._broker.fetch(url, hosts=self._grants.hosts)
        finally:
            self._fetching = None

    def _read(self, count: int) -> bytes:
        found = bytearray()
        while len(found) < count:
            piece = self._ours.recv(min(count - len(found), 1 << 20))
            if not piece:
                if found:
                    raise Malformed
                return b""
            found += piece
        return bytes(found)
