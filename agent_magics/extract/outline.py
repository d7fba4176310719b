"""A schema in a few words, for models whose decoding is bound to it but who are not shown it.

The grammar holds them to the form, so they need to know only what each key means. A small model reads a whole
JSON Schema as something to talk about: SmolLM2 gets half as many fields right again when it is spared it.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, cast

from agent_magics.talk import JSON

_DEEPEST = 3


def outline(schema: Mapping[str, JSON]) -> str:
    """The keys with what is said of them.

    >>> outline({"type": "object", "properties": {"file": {}, "line": {"description": "from 1"}}})
    'file, line (from 1)'
    """
    return _said(dict(schema), dict(schema), 0)


def _said(schema: Any, root: dict[str, Any], depth: int) -> str:
    known = _resolved(schema, root)
    items = _object(known.get("items"))
    if items and depth < _DEEPEST:
        inside = _said(items, root, depth + 1)
        return f"a list, each with {inside}" if inside else "a list"
    properties = _object(known.get("properties"))
    if not properties or depth >= _DEEPEST:
        return ""
    return ", ".join(_field(name, part, root, depth) for name, part in properties.items())


def _field(name: str, schema: Any, root: dict[str, Any], depth: int) -> str:
    known = _resolved(schema, root)
    description = known.get("description")
    inside = _said(known, root, depth + 1)
    notes = "; ".join(each for each in (description, inside) if isinstance(each, str) and each)
    return f"{name} ({notes})" if notes else name


def _resolved(schema: Any, root: dict[str, Any]) -> dict[str, Any]:
    """A schema behind a reference, and of alternatives the first that has parts."""
    known = _object(schema)
    for _ in range(_DEEPEST):
        reference = known.get("$ref")
        if not isinstance(reference, str):
            break
        found: Any = root
        for part in reference.removeprefix("#").strip("/").split("/"):
            found = _object(found).get(part) if part else found
        known = {**_object(found), **{key: part for key, part in known.items() if key != "$ref"}}
    options: Any = known.get("anyOf") or known.get("oneOf")
    if isinstance(options, list):
        parts = [_object(option) for option in cast("list[Any]", options)]
        best = next((part for part in parts if part.keys() & {"$ref", "properties", "items"}), None)
        if best is not None:
            rest = {key: part for key, part in known.items() if key not in ("anyOf", "oneOf")}
            return {**_resolved(best, root), **rest}
    return known


def _object(value: Any) -> dict[str, Any]:
    return cast("dict[str, Any]", value) if isinstance(value, dict) else {}
