"""Arrays and frames in the host, rebuilt from a child's description and bytes; every number is checked first.

Nothing is looked up by a name that the child chose: types come from the tables here. Every Arrow array passes
``validate(full=True)`` before pandas sees it, which reads each offset and each byte of text.
"""

from __future__ import annotations

import math
import re
from collections.abc import Callable, Sequence
from typing import Any, cast

from agent_magics.sandbox.columns import ARRAY_KINDS, NULLABLE, PLAIN_TYPES

DEEPEST_COLUMN = 3
MOST_COLUMNS = 10_000
MOST_OBJECTS = 5_000_000  # values that become Python objects, about 60 bytes each
MOST_ROWS = 1 << 40
LARGEST_CODE_POINT = 0x10FFFF
DTYPE = re.compile(rf"[<|][{ARRAY_KINDS}][0-9]{{1,9}}(\[(Y|M|W|D|h|m|s|ms|us|ns)\])?")
TIMESTAMP = re.compile(r"timestamp\[(s|ms|us|ns)(?:, tz=([A-Za-z0-9_+:/-]{1,64}))?\]")
DECIMAL = re.compile(r"decimal128\((\d{1,2}), (-?\d{1,2})\)")
FIRST_SECOND, LAST_SECOND = -62_135_596_800, 253_402_300_799  # of the years 1 and 9999, since 1970
PER_SECOND = {"s": 1, "ms": 10**3, "us": 10**6, "ns": 10**9}
NOT_A_TIME = -(1 << 63)
VARIABLE = frozenset({"string", "large_string", "binary", "large_binary"})
CHEAP = re.compile(r"u?int\d+|float|double|halffloat|timestamp.*|duration.*")

Buffers = Sequence[memoryview]


class Refused(Exception):
    """Why a reply is not taken; reads on after "The reply was refused:"."""


def rebuild(attachment: dict[str, Any], buffers: Buffers) -> Any:
    """The value of one attachment."""
    match attachment:
        case {"as": "float", "text": "nan" | "inf" | "-inf" as text}:
            return float(text)
        case {"as": "bytes", "buffer": place}:
            return bytes(_buffer(place, buffers))
        case {"as": "array", "dtype": str(dtype), "shape": [*shape], "buffer": place}:
            return _array(dtype, shape, _buffer(place, buffers))
        case {"as": "series", "name": str() | int() | None as name, "data": column, "index": index}:
            series = _Columns(buffers).column(column)
            return _indexed(series, index, buffers).rename(name)
        case {"as": "index", "index": index}:
            return _within_bounds(_Columns(buffers).axis(index))
        case {"as": "frame", "rows": int(rows), "data": [*columns], "index": index, "columns": labels}:
            return _frame(rows, columns, index, labels, buffers)
        case _:
            raise Refused("an attachment is of an unknown kind")


def _buffer(place: Any, buffers: Buffers) -> memoryview:
    if type(place) is not int or not 0 <= place < len(buffers):
        raise Refused("a buffer is missing")
    return buffers[place]


def _count(value: Any) -> int:
    if type(value) is not int or not 0 <= value < MOST_ROWS:
        raise Refused("a length is no length")
    return value


def _within_bounds(empty: Any) -> Any:
    """What takes no bytes can be of any length; whoever lists it would pay."""
    if len(empty) > MOST_OBJECTS:
        raise Refused(f"it is longer than {MOST_OBJECTS:,} rows and holds nothing")
    return empty


def _array(dtype: str, shape: list[Any], data: memoryview) -> Any:
    import numpy as np

    if not DTYPE.fullmatch(dtype) or len(shape) > 32:
        raise Refused("an array's dtype or shape is none that we take")
    kind = np.dtype(dtype)
    if kind.itemsize == 0 or math.prod(_count(side) for side in shape) * kind.itemsize != len(data):
        raise Refused("an array's shape does not fit its bytes")
    flat = np.frombuffer(data, dtype=kind)
    if kind.kind == "b" and (flat.view(np.uint8) > 1).any():
        raise Refused("an array of truth values holds something else")  # numpy would count beyond its bounds
    if kind.kind == "U" and (flat.view(np.uint32) > LARGEST_CODE_POINT).any():
        raise Refused("an array of text holds what is no character")
    return flat.reshape(shape)


def _frame(rows: int, columns: list[Any], index: Any, labels: Any, buffers: Buffers) -> Any:
    import pandas as pd

    if len(columns) > MOST_COLUMNS:
        raise Refused(f"a frame has more than {MOST_COLUMNS:,} columns")
    builder = _Columns(buffers)
    built = {place: builder.column(column) for place, column in enumerate(columns)}
    if any(len(series) != _count(rows) for series in built.values()):
        raise Refused("a frame's columns differ in length")
    frame: Any = pd.DataFrame(built, index=pd.RangeIndex(rows), copy=False)
    header = builder.axis(labels)
    if len(header) != len(columns):
        raise Refused("a frame's labels do not fit its columns")
    frame.columns = header
    return _indexed(frame if columns else _within_bounds(frame), index, buffers)


def _indexed(rows: Any, index: Any, buffers: Buffers) -> Any:
    axis = _Columns(buffers).axis(index)
    if len(axis) != len(rows):
        raise Refused("an index does not fit its rows")
    rows.index = axis
    return rows


class _Columns:
    """Builds Arrow arrays and the pandas objects around them, counting what becomes Python objects."""

    def __init__(self, buffers: Buffers) -> None:
        try:
            import pyarrow as pa
        except ImportError as error:
            raise Refused("frames need pyarrow, which agent-magics[frames] installs") from error
        self._pa: Any = pa
        self._buffers = buffers
        self._objects = 0

    def column(self, described: Any) -> Any:
        """A Series without its name and index."""
        match described:
            case {"array": {} as array, "dtype": str() | None as dtype} if dtype is None or dtype in NULLABLE:
                built = self.array(cast("dict[str, Any]", array), depth=0)
            case _:
                raise Refused("a column is malformed")
        built.validate(full=True)
        series = built.to_pandas(use_threads=False)
        if series.dtype.kind == "M":
            _require_calendar(series)
        return series if dtype is None else series.astype(dtype)

    def axis(self, described: Any) -> Any:
        """A row or column index."""
        import pandas as pd

        match described:
            case {"range": [int(start), int(stop), int(step)], "names": [name]} if step:
                for bound in (start, stop, step):
                    _count(abs(bound))
                return pd.RangeIndex(start, stop, step, name=_name(name))
            case {"labels": [*labels], "names": [name]}:
                if not all(isinstance(label, (str, int)) for label in labels):
                    raise Refused("a label is neither text nor a number")
                return pd.Index(labels, name=_name(name))
            case {"levels": [level], "names": [name]}:
                return pd.Index(self.column(level), name=_name(name))
            case {"levels": [_, _, *_] as levels, "names": [*names]} if len(levels) == len(names) <= 32:
                arrays = [self.column(level) for level in cast("list[Any]", levels)]
                if len({len(array) for array in arrays}) != 1:
                    raise Refused("an index's levels differ in length")
                return pd.MultiIndex.from_arrays(arrays, names=[_name(name) for name in names])
            case _:
                raise Refused("an index is malformed")

    def array(self, described: dict[str, Any], *, depth: int) -> Any:
        """An Arrow array; not yet validated."""
        match described:
            case {"type": str(kind), "length": length, "offset": offset} if depth <= DEEPEST_COLUMN:
                length, offset = _count(length), _count(offset)
            case _:
                raise Refused("a column's type is none that we take")
        if not CHEAP.fullmatch(kind):
            self._objects += length
        if self._objects > MOST_OBJECTS:
            raise Refused(f"it holds more than {MOST_OBJECTS:,} values that are no plain numbers")
        match kind, described:
            case "null", _:
                return self._pa.nulls(length)
            case "dictionary", {"indices": {} as indices, "values": {} as values, "ordered": bool(ordered)}:
                return self._dictionary(indices, values, ordered, depth)
            case (("list" | "large_list"), {"items": {} as items, "buffers": [_, _]}):
                inner = self.array(cast("dict[str, Any]", items), depth=depth + 1)
                outer = self._pa.list_(inner.type) if kind == "list" else self._pa.large_list(inner.type)
                return self._build(outer, length, offset, described["buffers"], children=[inner])
            case _, {"buffers": [*places]} if len(places) == (3 if kind in VARIABLE else 2):
                return self._build(self._type(kind), length, offset, places)
            case _:
                raise Refused("a column's buffers do not fit its type")

    def _dictionary(self, indices: Any, values: Any, ordered: bool, depth: int) -> Any:
        keys = self.array(indices, depth=depth + 1)
        if not self._pa.types.is_integer(keys.type):
            raise Refused("a category's codes are no integers")
        words = self.array(values, depth=depth + 1)
        keys.validate(full=True)
        words.validate(full=True)
        return self._pa.DictionaryArray.from_arrays(keys, words, ordered=ordered, safe=True)

    def _build(self, kind: Any, length: int, offset: int, places: list[Any], children: Any = None) -> Any:
        buffers = [
            None if place is None else self._pa.py_buffer(_buffer(place, self._buffers)) for place in places
        ]
        if length and any(buffer is None for buffer in buffers[1:]):
            raise Refused("a column's values are missing")
        return self._pa.Array.from_buffers(kind, length, buffers, offset=offset, children=children)

    def _type(self, kind: str) -> Any:
        if timestamp := TIMESTAMP.fullmatch(kind):
            return self._pa.timestamp(timestamp[1], tz=timestamp[2])
        if decimal := DECIMAL.fullmatch(kind):
            return self._pa.decimal128(int(decimal[1]), int(decimal[2]))
        if kind not in PLAIN_TYPES:
            raise Refused("a column's type is none that we take")
        make = _FACTORIES.get(kind)
        return make(self._pa) if make else getattr(self._pa, kind)()


_FACTORIES: dict[str, Callable[[Any], Any]] = {
    "bool": lambda pa: pa.bool_(),
    "halffloat": lambda pa: pa.float16(),
    "float": lambda pa: pa.float32(),
    "double": lambda pa: pa.float64(),
    "date32[day]": lambda pa: pa.date32(),
    "date64[ms]": lambda pa: pa.date64(),
    "time32[s]": lambda pa: pa.time32("s"),
    "time32[ms]": lambda pa: pa.time32("ms"),
    "time64[us]": lambda pa: pa.time64("us"),
    "time64[ns]": lambda pa: pa.time64("ns"),
    "duration[s]": lambda pa: pa.duration("s"),
    "duration[ms]": lambda pa: pa.duration("ms"),
    "duration[us]": lambda pa: pa.duration("us"),
    "duration[ns]": lambda pa: pa.duration("ns"),
}


def _require_calendar(moments: Any) -> None:
    """Moments outside of the years 1 to 9999 are numbers to pandas, and an exception once they are shown."""
    counts = moments.astype("int64")
    counts = counts[counts != NOT_A_TIME]
    first, last = (bound * PER_SECOND[moments.dt.unit] for bound in (FIRST_SECOND, LAST_SECOND))
    if ((counts < first) | (counts > last)).any():
        raise Refused("a moment in it lies outside of the years 1 to 9999")


def _name(name: Any) -> str | int | None:
    if name is not None and not isinstance(name, (str, int)):
        raise Refused("an index's name is neither text nor a number")
    return name
