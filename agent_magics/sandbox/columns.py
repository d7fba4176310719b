"""Arrays and frames as described buffers, on the child's side; :mod:`.rebuild` is the host's.

A frame leaves as Arrow arrays: for each column a type by name and its plain buffers, as Arrow lays them out
in memory. The IPC format is not used, on purpose: no flatbuffers, no compression, no extension types, no
metadata, so the host reads nothing but numbers, bounds and bytes.

A numpy array leaves as its dtype, shape and bytes, and needs no Arrow.
"""

from __future__ import annotations

import sys
from collections.abc import Callable
from typing import Any

ARRAY_KINDS = "biufcmMUS"
NULLABLE = frozenset({
    "Int8", "Int16", "Int32", "Int64", "UInt8", "UInt16", "UInt32", "UInt64", "Float32", "Float64", "boolean",
})  # fmt: skip
PLAIN_TYPES = frozenset({
    "bool", "int8", "int16", "int32", "int64", "uint8", "uint16", "uint32", "uint64", "halffloat", "float",
    "double", "string", "large_string", "binary", "large_binary", "date32[day]", "date64[ms]",
    "time32[s]", "time32[ms]", "time64[us]", "time64[ns]",
    "duration[s]", "duration[ms]", "duration[us]", "duration[ns]",
})  # fmt: skip

AddBuffer = Callable[[memoryview], int]


class NoArrow(Exception):
    """A frame came back, and pyarrow is not installed."""

    def __str__(self) -> str:
        return (
            "A DataFrame came back, and pyarrow is not installed, which carries frames out of the sandbox. "
            "Return df.to_dict('records'), or install agent-magics[frames]."
        )


class NoColumn(Exception):
    """A column is of a type that does not leave the sandbox."""


def describe(value: Any, add: AddBuffer) -> dict[str, Any] | None:
    """The attachment for an array, Series, Index or DataFrame; ``None`` for anything else."""
    numpy, pandas = sys.modules.get("numpy"), sys.modules.get("pandas")
    if numpy is not None and isinstance(value, numpy.ndarray):
        return _array(value, add)
    if pandas is None:
        return None
    if isinstance(value, pandas.DataFrame):
        columns = [_column(value.iloc[:, place], add) for place in range(value.shape[1])]
        axes = {"index": _axis(value.index, add), "columns": _axis(value.columns, add)}
        return {"as": "frame", "rows": len(value), "data": columns, **axes}
    if isinstance(value, pandas.Series):
        name = _label(value.name)
        return {"as": "series", "name": name, "data": _column(value, add), "index": _axis(value.index, add)}
    if isinstance(value, pandas.Index):
        return {"as": "index", "index": _axis(value, add)}
    if isinstance(value, pandas.api.extensions.ExtensionArray):
        return describe(pandas.Series(value), add)
    return None


def _array(value: Any, add: AddBuffer) -> dict[str, Any]:
    import numpy as np

    if value.dtype.kind not in ARRAY_KINDS:
        raise NoColumn(f"An array of dtype {value.dtype} came back. Return it with .tolist().")
    plain: Any = np.ascontiguousarray(value, dtype=value.dtype.newbyteorder("<"))
    data = memoryview(plain.view(np.uint8).reshape(-1)) if plain.size else memoryview(b"")
    return {"as": "array", "dtype": plain.dtype.str, "shape": list(value.shape), "buffer": add(data)}


def _column(series: Any, add: AddBuffer) -> dict[str, Any]:
    """One column: its Arrow array, and the pandas dtype to go back to where Arrow alone would lose it."""
    pyarrow = _pyarrow()
    try:
        array = pyarrow.Array.from_pandas(series)
    except (pyarrow.ArrowInvalid, pyarrow.ArrowTypeError, pyarrow.ArrowNotImplementedError) as error:
        reason = str(error).partition("\n")[0]
        raise NoColumn(f"Column {series.name!r} mixes kinds of values ({reason}). Make it text.") from error
    dtype = str(series.dtype)
    return {"array": _arrow(array, add, depth=0), "dtype": dtype if dtype in NULLABLE else None}


def _axis(index: Any, add: AddBuffer) -> dict[str, Any]:
    """A row or column index: a range, plain labels, or Arrow arrays for its levels."""
    import pandas as pd

    names = [_label(name) for name in index.names]
    if isinstance(index, pd.RangeIndex):
        return {"range": [index.start, index.stop, index.step], "names": names}
    labels = list(index) if len(index) <= 1000 else []
    if labels and all(type(label) in (str, int, bool) for label in labels):
        return {"labels": labels, "names": names}
    levels = [index.get_level_values(place).to_series() for place in range(index.nlevels)]
    return {"levels": [_column(level, add) for level in levels], "names": names}


def _label(name: Any) -> str | int | None:
    return name if name is None or type(name) in (str, int) else str(name)


def _pyarrow() -> Any:
    pyarrow = sys.modules.get("pyarrow")  # loaded in the zygote, where it is installed
    if pyarrow is None:
        raise NoArrow
    return pyarrow


def _arrow(array: Any, add: AddBuffer, *, depth: int) -> dict[str, Any]:
    pa: Any = _pyarrow()
    if isinstance(array, pa.ChunkedArray):
        array = array.combine_chunks()
    if isinstance(array, pa.ChunkedArray):  # no chunk at all
        array = pa.array([], type=array.type)
    described = {"type": _type_name(array.type), "length": len(array), "offset": array.offset}
    if pa.types.is_dictionary(array.type):
        described["ordered"] = array.type.ordered
        described["indices"] = _arrow(array.indices, add, depth=depth + 1)
        described["values"] = _arrow(array.dictionary, add, depth=depth + 1)
        return described
    if pa.types.is_list(array.type) or pa.types.is_large_list(array.type):
        described["items"] = _arrow(array.values, add, depth=depth + 1)
    own = array.buffers()[
        : 3 if described["type"] in ("string", "large_string", "binary", "large_binary") else 2
    ]
    described["buffers"] = [None if buffer is None else add(memoryview(buffer)) for buffer in own]
    return described


def _type_name(kind: Any) -> str:
    pa: Any = _pyarrow()
    name = str(kind)
    if pa.types.is_dictionary(kind):
        return "dictionary"
    if pa.types.is_list(kind) or pa.types.is_large_list(kind):
        return "list" if pa.types.is_list(kind) else "large_list"
    if name in PLAIN_TYPES or pa.types.is_timestamp(kind) or pa.types.is_decimal128(kind):
        return name
    if pa.types.is_null(kind):
        return "null"
    raise NoColumn(f"A column of type {name} came back, which does not travel. Make it text.")
