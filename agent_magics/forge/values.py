"""Values on their way into a tool's example and out of it, as JSON can hold them."""

from __future__ import annotations

import json
import math
import sys
from collections.abc import Mapping
from typing import Any, cast

from agent_magics.forge.tree.signature import OBJECTS
from agent_magics.talk import JSON
from agent_magics.tools.result import json_text

DEEPEST = 40

LARGEST = 20_000
"""Characters of a value that a test remembers."""


def plain(value: Any) -> JSON:
    """A value as JSON: frames as columns, arrays as lists, everything else as the model would read it."""
    return json.loads(json_text(_unpacked(value)))


def _unpacked(value: Any, deep: int = 0) -> Any:
    pandas, numpy = sys.modules.get("pandas"), sys.modules.get("numpy")
    if pandas is not None and isinstance(value, pandas.DataFrame):
        return value.to_dict("list")
    if pandas is not None and isinstance(value, pandas.Series | pandas.Index):
        return value.to_list()
    if numpy is not None and isinstance(value, numpy.ndarray | numpy.generic):
        return value.tolist()
    if deep < DEEPEST and isinstance(value, dict):
        items = cast("dict[object, Any]", value).items()
        return {key: _unpacked(each, deep + 1) for key, each in items}
    if deep < DEEPEST and isinstance(value, list | tuple):
        return [_unpacked(each, deep + 1) for each in cast("list[Any]", value)]
    return value


def same(one: JSON, other: JSON) -> bool:
    """Whether two values are equal, floats to nine digits."""
    match one, other:
        case bool(), _:
            return one is other
        case ((int() | float()), (int() | float())) if not isinstance(other, bool):
            return one == other or math.isclose(one, other, rel_tol=1e-9, abs_tol=1e-12)
        case list(), list():
            pairs = zip(cast("list[JSON]", one), cast("list[JSON]", other), strict=False)
            return len(cast("list[JSON]", one)) == len(cast("list[JSON]", other)) and all(
                same(*pair) for pair in pairs
            )
        case dict(), dict():
            mine, theirs = cast("dict[str, JSON]", one), cast("dict[str, JSON]", other)
            return mine.keys() == theirs.keys() and all(same(mine[key], theirs[key]) for key in mine)
        case _:
            return type(one) is type(other) and one == other


def materials(arguments: Mapping[str, JSON], objects: Mapping[str, str]) -> dict[str, Any]:
    """Arguments of an example with frames and arrays made of their JSON.

    Parameters
    ----------
    objects : mapping
        Argument -> what it takes: ``DataFrame``, ``Series``, ``ndarray`` ...
    """
    return {name: _made(value, objects.get(name, "")) for name, value in arguments.items()}


def _made(value: JSON, kind: str) -> Any:
    if kind not in OBJECTS:
        return value
    if kind in ("ndarray", "NDArray"):
        import numpy as np

        return np.asarray(value)
    import pandas as pd

    match kind:
        case "DataFrame":
            return pd.DataFrame(value)
        case "Series":
            return pd.Series(value)
        case _:
            return pd.Index(value)


def brief(value: Any, most: int = 200) -> str:
    """A value in a line."""
    text = " ".join(json_text(plain(value)).split())
    return text if len(text) <= most else text[: most - 1] + "…"
