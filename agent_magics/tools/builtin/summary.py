"""A short look at any Python value: its kind, its shape, and a little of what is in it.

The value's own code runs as little as possible: a broken ``__repr__`` or ``__len__`` costs a phrase, never
the call. Frames and arrays are known by their shape, not by their library, which need not be installed.
"""

from __future__ import annotations

import reprlib
from collections.abc import Mapping
from contextlib import suppress
from itertools import islice
from typing import Any, cast

from agent_magics.talk import JSON

_REPR = reprlib.Repr()
_REPR.maxstring = _REPR.maxother = 120
_REPR.maxlist = _REPR.maxdict = _REPR.maxset = _REPR.maxtuple = 6

ROWS = 5
COLUMNS = 100


def brief(value: Any) -> str:
    """One line: ``1,284 × 4``, ``'a short text'``, ``3 items``. Takes every value there is; never raises."""
    try:
        return _brief(value)
    except Exception as error:  # a value's own code may do anything
        return f"<{type(value).__name__}: it can't be looked at ({type(error).__name__})>"


def describe(value: Any) -> dict[str, JSON]:
    """What ``inspect`` tells: type, shape, columns with types and numbers, the first rows or a short repr.

    Takes every value there is; never raises.
    """
    try:
        return _describe(value)
    except Exception as error:
        told = brief(value)
        return {
            "type": type(value).__name__,
            "value": told,
            "brief": told,
            "note": f"more could not be found out ({type(error).__name__})",
        }


def _brief(value: Any) -> str:
    if is_frame(value):
        rows, columns = value.shape
        return f"{rows:,} × {columns}"
    if is_array(value) and value.shape != ():
        return f"{' × '.join(f'{side:,}' for side in value.shape)} {value.dtype}"
    return " ".join(_REPR.repr(value).split())


def _describe(value: Any) -> dict[str, JSON]:
    if is_frame(value):
        return _frame(value)
    if is_array(value) and value.shape != ():
        return _array(value)
    kind = cast("type[object]", type(value))
    told: dict[str, JSON] = {"type": kind.__name__, "value": brief(value), "brief": brief(value)}
    if issubclass(kind, str):
        return {**told, "length": len(value), "value": value[:2_000]}
    if issubclass(kind, Mapping):
        return {**told, "length": len(value), "keys": [str(key) for key in islice(value, 50)]}
    if callable(value):
        return {**told, "documentation": str(getattr(value, "__doc__", None) or "")[:2_000]}
    with suppress(Exception):  # no length, or one that can't be asked
        told["length"] = len(value)
    return told


def is_frame(value: Any) -> bool:
    """Whether it is a table: a pandas or polars DataFrame, or one that looks like it."""
    return _has(value, "columns", "shape", "head")


def is_array(value: Any) -> bool:
    """Whether it is an array or a column: it has a shape and a dtype."""
    return _has(value, "shape", "dtype")


def _has(value: Any, *names: str) -> bool:
    """Asked of the class, so that a value's own ``__getattr__`` has no say."""
    kind = cast("type[object]", type(value))
    return all(hasattr(kind, name) for name in names)


def _frame(frame: Any) -> dict[str, JSON]:
    rows, count = frame.shape
    columns = frame.items() if _has(frame, "items") else ((name, frame[name]) for name in frame.columns)
    return {
        "type": type(frame).__name__,
        "rows": rows,
        "columns": [_column(name, column) for name, column in islice(columns, COLUMNS)],
        "head": str(frame.head(ROWS)),
        "brief": f"{rows:,} × {count}",
    }


def _array(array: Any) -> dict[str, JSON]:
    told: dict[str, JSON] = {
        "type": type(array).__name__,
        "shape": list(array.shape),
        "dtype": str(array.dtype),
        "value": brief(array),
        "brief": brief(array),
    }
    with suppress(Exception):
        told["head"] = str(array.head(ROWS) if _has(array, "head") else array[:ROWS])[:2_000]
    with suppress(Exception):
        if _is_number(array):
            told |= _numbers(array)
    return told


def _column(name: Any, column: Any) -> dict[str, JSON]:
    told: dict[str, JSON] = {"name": str(name), "dtype": str(column.dtype)}
    try:
        told |= _numbers(column) if _is_number(column) else _distinct(column)
    except Exception as error:  # mixed or unhashable values: the type is still worth telling
        told["note"] = f"not summarised ({type(error).__name__})"
    return told


def _is_number(column: Any) -> bool:
    kind = str(column.dtype).lower()
    return kind.startswith(("int", "uint", "float"))


def _numbers(values: Any) -> dict[str, JSON]:
    return {key: _number(getattr(values, key)()) for key in ("mean", "min", "max")}


def _number(value: Any) -> JSON:
    return value.item() if hasattr(value, "item") else value


def _distinct(column: Any) -> dict[str, JSON]:
    values = column.dropna().unique() if hasattr(column, "dropna") else column.drop_nulls().unique()
    listed = list(values)
    return {"distinct": len(listed), "values": [str(value)[:40] for value in listed[:8]]}
