"""Bytes -> events of a stream: Server-Sent Events, and JSON one a line. Pure and incremental.

A stream may be cut anywhere, also inside a character or between CR and LF, so the decoders work on bytes
and decode text only up to a line's end. Lines end at CR, LF or CRLF and nowhere else: U+2028 and U+0085 are
text (``str.splitlines`` and the HTTP library's own line reader split there, and cut JSON in two).

https://html.spec.whatwg.org/multipage/server-sent-events.html#parsing-an-event-stream
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Protocol


class Frames(Protocol):
    """An incremental decoder: what has arrived so far, as the texts of complete events."""

    def feed(self, data: bytes) -> list[str]:
        """The events that ``data`` completed."""
        ...

    def end(self) -> list[str]:
        """What is left when the stream is over: an event whose last line end never came."""
        ...


FramesFactory = Callable[[], Frames]


class SSE:
    """Server-Sent Events -> the text of each event's ``data``.

    Comments (pings), ``id:`` and ``retry:`` mean nothing here, and neither does ``event:``: every vendor
    repeats the event's type inside its JSON, and some servers leave the field out.
    """

    def __init__(self) -> None:
        self._rest = b""
        self._began = False
        self._ended_in_cr = False

    def feed(self, data: bytes) -> list[str]:
        if not data:
            return []
        if self._ended_in_cr or b"\r" in data:
            data = self._with_lf_only(data)
        whole = self._rest + data if self._rest else data
        end = whole.rfind(b"\n\n")
        if end < 0:
            self._rest = whole
            return []
        self._rest = whole[end + 2 :]
        return self._events(whole[:end])

    def end(self) -> list[str]:
        rest, self._rest = self._rest, b""
        return self._events(rest)

    def _with_lf_only(self, data: bytes) -> bytes:
        if self._ended_in_cr and data.startswith(b"\n"):
            data = data[1:]  # the second half of a CRLF whose first half already counted
        self._ended_in_cr = data.endswith(b"\r")
        return data.replace(b"\r\n", b"\n").replace(b"\r", b"\n")

    def _events(self, blocks: bytes) -> list[str]:
        text = blocks.decode("utf-8", "replace")
        if not self._began:
            self._began = True
            text = text.removeprefix("\ufeff")
        events: list[str] = []
        for block in text.split("\n\n"):
            if block.startswith("data: ") and "\n" not in block:  # nearly every block of a real stream
                events.append(block[6:])
            elif (event := _data(block)) is not None:
                events.append(event)
        return events


def _data(block: str) -> str | None:
    lines = [_value(line) for line in block.split("\n") if line == "data" or line.startswith("data:")]
    return "\n".join(lines) if any(lines) else None


def _value(line: str) -> str:
    return line[5:].removeprefix(" ")


class Lines:
    """JSON one a line (NDJSON) -> the text of each line that is not empty."""

    def __init__(self) -> None:
        self._rest = b""

    def feed(self, data: bytes) -> list[str]:
        whole = self._rest + data if self._rest else data
        # JSON text holds no bare CR, so CR, LF and CRLF can all be cut at, and empty pieces dropped.
        *lines, self._rest = whole.replace(b"\r", b"\n").split(b"\n")
        return [line.decode("utf-8", "replace") for line in lines if line and not line.isspace()]

    def end(self) -> list[str]:
        return self.feed(b"\n")
