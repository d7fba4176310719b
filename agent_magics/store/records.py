"""Facts <-> the text that is stored: the codec's JSON, without keys, with a sum that tells of changes."""

from __future__ import annotations

import dataclasses
import json
import re
from collections.abc import Callable, Sequence
from functools import cache
from typing import Any, Literal, get_args, get_origin, get_type_hints
from zlib import crc32

from agent_magics import talk
from agent_magics.errors import ConfigError
from agent_magics.talk.codec import decode, encode

Mask = Callable[[str], str]

_32_BITS = 0xFFFFFFFF
_STRING = re.compile(r'"[^"\\]*(?:\\.[^"\\]*)*"')


def pack(thing: object, mask: Mask) -> str:
    """A talk dataclass as text; every text in it has gone through ``mask``.

    Strings are masked in the JSON, one by one: what a model sends may be nested deeper than Python recurses.
    """
    plain = encode(thing, sparse=True)
    text = _masked(json.dumps(plain, ensure_ascii=False, separators=(",", ":")), mask)
    try:
        text.encode()
    except UnicodeEncodeError:  # halves of characters: only as escapes
        return _masked(json.dumps(plain, separators=(",", ":")), mask, ascii_only=True)
    return text


def checksum(record: str | bytes, whose: str, place: int = 0) -> int:
    """A sum over a record, whose it is and where it stands there: a change in any of these is noticed."""
    data = record.encode() if isinstance(record, str) else record
    return crc32(data, (crc32(whose.encode()) + place) & _32_BITS)


def check_all(rows: Sequence[tuple[bytes, int]], whose: str) -> None:
    """Check records and their sums, which follow each other from place 1 on.

    Raises
    ------
    ValueError
        If one is not what was written, or not where.
    """
    start = crc32(whose.encode())
    for place, (record, total) in enumerate(rows, 1):
        if crc32(record, (start + place) & _32_BITS) != total:
            raise ValueError(f"Record {place} of {len(rows)} is damaged, or one before it is lost.")


def unpack(records: Sequence[bytes]) -> list[Any]:
    """What was packed, record by record. The JSON is read in one go: there may be many thousands.

    Raises
    ------
    ConfigError
        If one is newer than this version, or not a record.
    """
    made = [decode(each) for each in json.loads(f"[{b','.join(records).decode()}]")]
    if len(made) != len(records):
        raise ConfigError("A record is not one record.")
    return made


def key(text: str) -> str:
    """A text to look up by, also where it has halves of characters, which SQLite can't hold."""
    return text.encode("utf-8", "backslashreplace").decode()


def _masked(text: str, mask: Mask, *, ascii_only: bool = False) -> str:
    words = _words()

    def one(found: re.Match[str]) -> str:
        if found[0] in words:
            return found[0]
        said = json.loads(found[0], strict=False)
        kept = mask(said)
        return found[0] if kept == said else json.dumps(kept, ensure_ascii=ascii_only)

    return _STRING.sub(one, text)


@cache
def _words() -> frozenset[str]:
    """The format's own words, quoted. Somebody's key may be ``"provider"``; the format must not break."""
    words = {"v", "type"}
    for kind in vars(talk).values():
        if isinstance(kind, type) and dataclasses.is_dataclass(kind):
            words |= {kind.__name__, *(field.name for field in dataclasses.fields(kind))}
            hints = get_type_hints(kind).values()
            words |= {word for hint in hints if get_origin(hint) is Literal for word in get_args(hint)}
    return frozenset(f'"{word}"' for word in words)
