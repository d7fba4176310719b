"""Data on its way out, on the child's side: JSON with attachments, written so that the host need not trust
it.

A body is the length of a header (4 bytes, big-endian), the header (JSON), and buffers, each at a multiple of
64 bytes from the start. The header holds ``value``, a JSON tree, and ``attached``, a list of what JSON can't
hold and where in the tree it belongs::

    {"value": {"table": null, "mean": null},
     "attached": [{"at": ["table"], "as": "frame", ...}, {"at": ["mean"], "as": "float", "text": "nan"}],
     "buffers": [[128, 8000], ...]}

A failed call's header holds ``fault`` instead. :mod:`.unwrap` reads this in the host.
"""

from __future__ import annotations

import dataclasses
import datetime as dt
import decimal
import enum
import fractions
import json
import math
import pathlib
import sys
import uuid
from collections import deque
from collections.abc import Callable, ItemsView, KeysView, Mapping, Sequence, ValuesView
from collections.abc import Set as AbstractSet
from typing import Any, cast

from agent_magics.sandbox import columns

ALIGNMENT = 64
DEEPEST = 60
LONGEST_INTEGER = 14_000  # bits; Python refuses to print or read more than 4,300 digits
ACCEPTED = "Return numbers, text, lists, dicts, dates, arrays or DataFrames."


class Unreturnable(Exception):
    """The function returned something that does not leave the sandbox."""


class Wrapper:
    """Wraps one value."""

    def __init__(self) -> None:
        self._attached: list[dict[str, Any]] = []
        self._buffers: list[memoryview] = []

    def wrap(self, value: Any) -> list[bytes | memoryview]:
        """The body for a returned value, in pieces.

        Raises
        ------
        Unreturnable
            If there is something in it that does not travel.
        """
        tree = self._tree(value, ())
        return assemble({"value": tree, "attached": self._attached}, self._buffers)

    def _tree(self, value: Any, at: tuple[str | int, ...]) -> Any:
        if len(at) > DEEPEST:
            raise Unreturnable(f"The value is nested more than {DEEPEST} deep, or holds itself.")
        match value:
            case None | bool():
                return value
            case enum.Enum():
                return self._tree(value.value, at)
            case str():
                return str.__str__(value).encode("utf-8", "replace").decode()
            case int():
                return self._integer(int(value))
            case float():
                return self._float(float(value), at)
            case list() | tuple():
                items = cast("Sequence[Any]", value)
                return [self._tree(item, (*at, index)) for index, item in enumerate(items)]
            case Mapping():
                return self._mapping(cast("Mapping[Any, Any]", value), at)
            case set() | frozenset():
                return self._tree(_ordered(cast("AbstractSet[Any]", value)), at)
            case bytes() | bytearray():
                return self._attach(at, {"as": "bytes", "buffer": self._buffer(memoryview(value))})
            case _:
                return self._object(value, at)

    def _integer(self, value: int) -> int:
        if value.bit_length() > LONGEST_INTEGER:
            raise Unreturnable("The value holds an integer of more than 4,300 digits. Return it as text.")
        return value

    def _float(self, value: float, at: tuple[str | int, ...]) -> Any:
        if math.isfinite(value):
            return value
        return self._attach(at, {"as": "float", "text": str(value)})

    def _mapping(self, value: Mapping[Any, Any], at: tuple[str | int, ...]) -> dict[str, Any]:
        tree: dict[str, Any] = {}
        for key, item in value.items():
            name = _key(key)
            if name in tree:
                raise Unreturnable(f"Two keys of a dict read {name!r} as text. Return a list of pairs.")
            tree[name] = self._tree(item, (*at, name))
        return tree

    def _object(self, value: Any, at: tuple[str | int, ...]) -> Any:
        if dataclasses.is_dataclass(value) and not isinstance(value, type):
            names = [field.name for field in dataclasses.fields(value)]
            return self._tree({name: getattr(value, name) for name in names}, at)
        for test, convert in _KNOWN:
            if test(value):
                return self._tree(convert(value), at)
        attachment = columns.describe(value, self._buffer)
        if attachment is not None:
            return self._attach(at, attachment)
        kind = cast("type", type(value))
        raise Unreturnable(f"A value of type {kind.__module__}.{kind.__qualname__} came back. {ACCEPTED}")

    def _attach(self, at: tuple[str | int, ...], attachment: dict[str, Any]) -> None:
        self._attached.append({"at": at, **attachment})

    def _buffer(self, data: memoryview) -> int:
        self._buffers.append(data)
        return len(self._buffers) - 1


def assemble(header: dict[str, Any], buffers: list[memoryview]) -> list[bytes | memoryview]:
    """A body in pieces: header first, then each buffer behind its padding."""
    places: list[list[int]] = []
    end = 0
    for buffer in buffers:
        start = -(-end // ALIGNMENT) * ALIGNMENT
        places.append([start, buffer.nbytes])
        end = start + buffer.nbytes
    text = json.dumps({**header, "buffers": places}, ensure_ascii=False, allow_nan=False).encode()
    text += b" " * (-(4 + len(text)) % ALIGNMENT)  # buffers count from here, aligned in the whole body
    pieces: list[bytes | memoryview] = [len(text).to_bytes(4, "big"), text]
    end = 0
    for buffer, (start, size) in zip(buffers, places, strict=True):
        pieces += [bytes(start - end), buffer]
        end = start + size
    return pieces


def fault(kind: str, message: str, line: int | None = None) -> list[bytes | memoryview]:
    """The body for a failed call."""
    said = message[:2000].encode("utf-8", "replace").decode()
    return assemble({"fault": {"kind": kind, "message": said, "line": line}}, [])


def _key(key: Any) -> str:
    match key:
        case str():
            return str.__str__(key).encode("utf-8", "replace").decode()
        case None | bool() | int() | float() | dt.date() | decimal.Decimal() | uuid.UUID():
            return str(key)
        case tuple():
            return ", ".join(_key(part) for part in cast("tuple[Any, ...]", key))
        case enum.Enum():
            return _key(key.value)
        case _ if _is_numpy_scalar(key):
            return str(key)
        case _:
            raise Unreturnable(f"A dict key of type {type(key).__name__} came back. Use text as keys.")


def _ordered(items: AbstractSet[Any]) -> list[Any]:
    try:
        return sorted(items)
    except TypeError:
        return list(items)


def _is_numpy_scalar(value: Any) -> bool:
    numpy = sys.modules.get("numpy")
    return numpy is not None and isinstance(value, numpy.generic)


def _numpy_scalar(value: Any) -> Any:
    return str(value) if value.dtype.kind in "mM" else value.item()


def _is_missing(value: Any) -> bool:
    pandas = sys.modules.get("pandas")
    return pandas is not None and (value is pandas.NaT or value is pandas.NA)


def _has_isoformat(value: Any) -> bool:
    return isinstance(value, (dt.date, dt.time))


def _reads_as_text(value: Any) -> bool:
    pandas = sys.modules.get("pandas")
    plain = (decimal.Decimal, fractions.Fraction, uuid.UUID, pathlib.PurePath, dt.timedelta, complex)
    return isinstance(value, plain) or (
        pandas is not None and isinstance(value, (pandas.Period, pandas.Interval))
    )


_KNOWN: tuple[tuple[Callable[[Any], bool], Callable[[Any], Any]], ...] = (
    (_is_missing, lambda value: None),
    (_is_numpy_scalar, _numpy_scalar),
    (_has_isoformat, lambda value: value.isoformat()),
    (_reads_as_text, str),
    (lambda value: isinstance(value, (range, deque, KeysView, ValuesView, ItemsView)), list),
)
