"""The shape that a JSON Schema asks for, as far as the rules need it: type, bounds, references."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from agent_magics.providers.loose import items, obj
from agent_magics.talk import JSON

Schema = Mapping[str, Any]


def resolved(schema: Schema, root: Schema) -> Schema:
    """A schema behind its references, and of several alternatives the first that is not null."""
    for _ in range(8):
        if "$ref" in schema:
            rest = {key: value for key, value in schema.items() if key != "$ref"}
            schema = {**referenced(str(schema["$ref"]), root), **rest}
        elif several := alternatives(schema):
            rest = {key: value for key, value in schema.items() if key not in ("anyOf", "oneOf")}
            schema = {**rest, **next((each for each in several if each.get("type") != "null"), several[0])}
        else:
            break
    return schema


def referenced(reference: str, root: Schema) -> Schema:
    """The part of ``root`` that a ``$ref`` inside it points to; an empty schema if there is none."""
    target: Any = root
    for step in reference.removeprefix("#").strip("/").split("/"):
        if step:
            target = obj(target).get(step.replace("~1", "/").replace("~0", "~"))
    return obj(target)


def alternatives(schema: Schema) -> list[Schema]:
    """The schemas of ``anyOf`` or ``oneOf``."""
    return [obj(option) for option in items(schema.get("anyOf")) or items(schema.get("oneOf"))]


def options(schema: Schema) -> list[Schema]:
    """The alternatives of a schema but null, each with what is said beside them; so for a list of types."""
    rest = {key: value for key, value in schema.items() if key not in ("anyOf", "oneOf", "type")}
    if several := alternatives(schema):
        return [{**rest, **option} for option in several if option.get("type") != "null"]
    return [{**rest, "type": each} for each in items(schema.get("type")) if each != "null"]


def merged(schema: Schema, root: Schema) -> Schema:
    """A schema behind its references, with the parts of its ``allOf`` in it."""
    whole = dict(resolved(schema, root))
    for part in items(whole.pop("allOf", None)):
        each = resolved(obj(part), root)
        joined = {
            "properties": {**obj(whole.get("properties")), **obj(each.get("properties"))},
            "required": list(dict.fromkeys([*items(whole.get("required")), *items(each.get("required"))])),
        }
        whole = {**whole, **each, **{key: value for key, value in joined.items() if value}}
    return whole


def kind(schema: Schema) -> str:
    """The type; of several the first that is not null; what has none is told by its other words."""
    told = schema.get("type")
    several = [each for each in items(told) if each != "null"]
    if several or isinstance(told, str):
        return str(several[0] if several else told)
    if "properties" in schema:
        return "object"
    return "array" if "items" in schema or "prefixItems" in schema else "string"


def in_bounds(value: JSON, schema: Schema) -> bool:
    """Whether a number keeps the bounds of its schema; everything else does."""
    if isinstance(value, bool) or not isinstance(value, int | float):
        return True
    return (
        value >= schema.get("minimum", value)
        and value <= schema.get("maximum", value)
        and ("exclusiveMinimum" not in schema or value > schema["exclusiveMinimum"])
        and ("exclusiveMaximum" not in schema or value < schema["exclusiveMaximum"])
    )
