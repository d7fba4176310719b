"""What ``variables`` and ``inspect`` tell, whatever form they tell it in.

Tools differ: one lists objects with a ``name``, another maps names to types, a third prints a table as text.
The rules need only names, and for a table its columns and which of them hold numbers.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any, cast

from agent_magics.providers.loose import items, obj
from agent_magics.talk import JSON

_ROW = re.compile(
    r"^\s*(?:\d+\s+)?(?P<name>[^\s:,|]+(?: [^\s:,|]+){0,3}?)[\s:,|]+(?:[\d,]+ non-null\s+)?"
    r"(?P<type>(?:u?int|float)\d*|object|str(?:ing)?|bool|category|datetime\S*|timedelta\S*)\b",
    re.IGNORECASE | re.MULTILINE,
)
_NUMERIC = re.compile(r"\b(?:u?int|float|double|decimal|number)\d*\b", re.IGNORECASE)
_TIME = re.compile(r"\b(?:datetime|timestamp|date)\w*", re.IGNORECASE)
_TABLE = re.compile(r"\b(?:data ?frame|table)\b", re.IGNORECASE)


@dataclass(frozen=True, kw_only=True)
class Column:
    """A column of a table; ``type`` is empty where nothing tells it."""

    name: str
    type: str = ""
    values: tuple[str, ...] = ()

    @property
    def is_numeric(self) -> bool:
        return not self.type or bool(_NUMERIC.search(self.type))

    @property
    def is_time(self) -> bool:
        return bool(_TIME.search(self.type))


@dataclass(frozen=True, kw_only=True)
class Variable:
    """A name of the notebook, and what is told about it."""

    name: str
    about: str = ""

    @property
    def is_table(self) -> bool:
        return bool(_TABLE.search(self.about))


def variables(value: JSON) -> list[Variable]:
    """The variables that a listing tells of."""
    value = obj(value).get("variables", value)
    if isinstance(value, dict):
        return [
            Variable(name=str(name), about=str(about))
            for name, about in cast("dict[str, Any]", value).items()
        ]
    if isinstance(value, str):
        return [Variable(name=line.split()[0], about=line) for line in value.splitlines() if line.split()]
    return [found for each in items(value) if (found := _variable(each))]


def columns(value: JSON) -> list[Column]:
    """The columns that a look at a table tells of, in order."""
    if isinstance(value, str):
        return [Column(name=match["name"], type=match["type"]) for match in _ROW.finditer(value[:20_000])]
    told = _find(value, "columns") or _find(value, "dtypes") or _find(value, "schema")
    if isinstance(told, dict):
        return [Column(name=str(name), type=str(kind)) for name, kind in cast("dict[str, Any]", told).items()]
    found = [_column(each) for each in items(told)]
    return found or (columns("\n".join(_texts(value))) if isinstance(value, dict) else [])


def _variable(each: JSON) -> Variable | None:
    if isinstance(each, str):
        name = re.match(r"[^\W\d]\w*", each)
        return Variable(name=name.group(), about=each) if name else None
    told = obj(each)
    about = " ".join(str(value) for key, value in told.items() if key != "name")
    return Variable(name=str(told["name"]), about=about) if "name" in told else None


def _column(each: JSON) -> Column:
    told = obj(each)
    if not told:
        return Column(name=str(each))
    kind = told.get("dtype") or told.get("type") or ""
    return Column(
        name=str(told.get("name") or told.get("column") or next(iter(told))),
        type=str(kind),
        values=tuple(map(str, items(told.get("values")))),
    )


def _find(value: JSON, key: str, depth: int = 4) -> JSON:
    """The first non-empty value under ``key``, at any depth."""
    told = obj(value)
    if told.get(key):
        return told[key]
    inner = (_find(each, key, depth - 1) for each in told.values()) if depth else iter(())
    return next((found for found in inner if found), None)


def _texts(value: JSON) -> Iterator[str]:
    for each in obj(value).values():
        if isinstance(each, str):
            yield each
