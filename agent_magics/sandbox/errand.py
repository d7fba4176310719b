"""Errands, on the child's side: what only the host can do, asked for over one socket.

The child has no network and writes no file. With a grant it sends a request over a socket that it was born
with, and the host, which judges every request anew (:mod:`.errands`), sends an answer back.

A message, in both directions: the length of a JSON object (4 bytes, big-endian), the object, the length of
the payload (4 bytes), the payload.
"""

from __future__ import annotations

import json
import os
from typing import Any


class Refused(PermissionError):
    """The host did not do it, and says why."""


class Line:
    """The child's end of the socket."""

    def __init__(self, descriptor: int) -> None:
        self._descriptor = descriptor

    def ask(self, errand: str, payload: bytes = b"", **details: Any) -> tuple[dict[str, Any], bytes]:
        """Have one errand done; raises :class:`Refused` with the host's reason if it was not."""
        request = json.dumps({"errand": errand, **details}).encode()
        self._write(b"".join((_length(request), request, _length(payload), payload)))
        answer = json.loads(self._read(int.from_bytes(self._read(4), "big")))
        content = self._read(int.from_bytes(self._read(4), "big"))
        if "refused" in answer:
            raise Refused(answer["refused"])
        return answer, content

    def _write(self, data: bytes) -> None:
        left = memoryview(data)
        while left:
            left = left[os.write(self._descriptor, left) :]

    def _read(self, count: int) -> bytes:
        found = bytearray()
        while len(found) < count:
            piece = os.read(self._descriptor, count - len(found))
            if not piece:
                raise Refused("The host has ended this call.")
            found += piece
        return bytes(found)


class Scratch:
    """A folder in the host's care: plain names, no folders in it, bounded in number and size.

    Examples
    --------
    >>> scratch.write("notes.txt", "one")  # doctest: +SKIP
    >>> scratch.read_text("notes.txt")  # doctest: +SKIP
    'one'
    """

    def __init__(self, line: Line) -> None:
        self._line = line

    def write(self, name: str, data: str | bytes) -> None:
        """Write a file, replacing an earlier one."""
        self._line.ask("write", data.encode() if isinstance(data, str) else bytes(data), name=name)

    def read(self, name: str) -> bytes:
        """The bytes of a file; raises if there is none."""
        return self._line.ask("read", name=name)[1]

    def read_text(self, name: str) -> str:
        """The text of a file."""
        return self.read(name).decode()

    def names(self) -> list[str]:
        """The names of the files, sorted."""
        return self._line.ask("names")[0]["names"]

    def delete(self, name: str) -> None:
        """Remove a file; raises if there is none."""
        self._line.ask("delete", name=name)


def functions(descriptor: int, *, http: bool, scratch: bool) -> dict[str, Any]:
    """The names that a tool finds defined, by what was granted."""
    line = Line(descriptor)

    def http_get(url: str) -> dict[str, Any]:
        """GET a page: ``status``, ``url``, ``content_type`` and ``text``."""
        answer, content = line.ask("http_get", url=url)
        return {**answer, "text": content.decode(answer.pop("charset"), "replace")}

    granted: dict[str, Any] = {}
    if http:
        granted["http_get"] = http_get
    if scratch:
        granted["scratch"] = Scratch(line)
    return granted


def _length(data: bytes) -> bytes:
    return len(data).to_bytes(4, "big")
