"""Reading the one text inside a JSON object while the object still arrives."""

from __future__ import annotations

import json
import re

from agent_magics.providers.halves import whole

_ESCAPE = re.compile(r"\\(?:u[0-9a-fA-F]{4}|[^u])")
_PLAIN = re.compile(r'[^"\\]+')
_FIRST_HALF = re.compile(r"\\u[dD][89abAB][0-9a-fA-F]{2}")
_ESCAPE_LENGTH = 6


class TextField:
    """The text of the field ``name``, if it is the first of its object, piece by piece.

    >>> field = TextField("answer")
    >>> [field.feed(piece) for piece in ('{"ans', 'wer": "It', ' is \\\\u00e', '9.', '"}')]
    ['', 'It', ' is ', 'é.', '']
    """

    def __init__(self, name: str) -> None:
        self._start = re.compile(rf'\s*\{{\s*"{name}"\s*:\s*"')
        self._raw = ""
        self._at = 0
        self._open = False
        self._closed = False

    def feed(self, piece: str) -> str:
        """What ``piece`` adds to the text."""
        self._raw += piece
        if self._closed or not (self._open or self._opens()):
            return ""
        while self._step():
            pass
        said, self._raw, self._at = self._raw[: self._at], self._raw[self._at :], 0
        return whole(json.loads(f'"{said}"', strict=False))

    def _opens(self) -> bool:
        if found := self._start.match(self._raw):
            self._open, self._raw = True, self._raw[found.end() :]
        return self._open

    def _step(self) -> bool:
        """Go on over one run of plain characters or one whole escape; false when there is no more of it."""
        if found := _PLAIN.match(self._raw, self._at):
            self._at = found.end()
            return True
        if self._raw[self._at : self._at + 1] == '"':
            self._closed = True
            return False
        if not (found := _ESCAPE.match(self._raw, self._at)):
            return False
        if _FIRST_HALF.match(self._raw, self._at) and len(self._raw) < found.end() + _ESCAPE_LENGTH:
            return False  # the second half of the character is still to come
        self._at = found.end()
        return True
