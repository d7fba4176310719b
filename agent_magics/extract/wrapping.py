"""An object around a schema that is not an object's: what vendors and tools want to be asked for."""

from __future__ import annotations

import json
from typing import Any, cast

from agent_magics.talk import JSON

VALUE = "value"
"""The key under which a provider answers when the schema itself is not an object's."""

_ROOT = "schema"


def is_object(schema: dict[str, JSON]) -> bool:
    """Whether a value must be an object, and the top says so itself."""
    mixed = any(word in schema for word in ("anyOf", "oneOf", "allOf", "$ref", "$dynamicRef", "not", "if"))
    return schema.get("type") == "object" and not mixed


def wrap(schema: dict[str, JSON]) -> dict[str, JSON]:
    """An object with the schema's value in it. Definitions move to the top, so that references hold."""
    inner = {key: value for key, value in schema.items() if key not in ("$defs", "definitions", "$schema")}
    kept = {key: schema[key] for key in ("$defs", "definitions") if key in schema}
    defs = dict(kept.get("$defs", {}))
    if '"#"' in json.dumps(schema):
        name = _ROOT
        while name in defs:
            name += "_"
        place = f"#/$defs/{name}"
        inner, kept = _redirected(inner, place), _redirected(kept, place)
        defs = {**kept.get("$defs", {}), name: inner}
        inner = {"$ref": place}
    wrapped: dict[str, JSON] = {
        "type": "object",
        "properties": {VALUE: inner},
        "required": [VALUE],
        "additionalProperties": False,
    }
    return {**wrapped, **kept, **({"$defs": defs} if defs else {})}


def _redirected(schema: Any, place: str) -> Any:
    if isinstance(schema, dict):
        parts = cast("dict[str, Any]", schema)
        return {
            key: place if key == "$ref" and part == "#" else _redirected(part, place)
            for key, part in parts.items()
        }
    return (
        [_redirected(part, place) for part in cast("list[Any]", schema)]
        if isinstance(schema, list)
        else schema
    )
