"""The least value that a schema admits, for a field that must be there and that no text speaks for."""

from __future__ import annotations

import math
from typing import Any

from agent_magics.providers.demo.shape import Schema, alternatives, kind, merged, referenced
from agent_magics.providers.loose import items, obj
from agent_magics.talk import JSON

DEEPEST = 12
"""Levels after which a schema that contains itself is given up."""

_FORMS = {
    "date": "0001-01-01",
    "date-time": "0001-01-01T00:00:00Z",
    "time": "00:00:00Z",
    "email": "nobody@example.invalid",
    "uri": "about:blank",
    "uuid": "00000000-0000-0000-0000-000000000000",
    "ipv4": "127.0.0.1",
    "ipv6": "::",
    "duration": "P0D",
}


def neutral(schema: Schema, root: Schema, depth: int = 0) -> JSON:
    """The default, the constant, the first choice, null, or the least value of the type."""
    if depth > DEEPEST:
        return None
    if admits_null(schema, root) and "default" not in schema:
        return None
    schema = merged(schema, root)
    for word in ("default", "const"):
        if word in schema:
            return schema[word]
    if choices := items(schema.get("enum")):
        return choices[0]
    match kind(schema):
        case "object":
            properties = obj(schema.get("properties"))
            return {
                name: neutral(obj(properties.get(name)), root, depth + 1)
                for name in items(schema.get("required"))
            }
        case "array":
            return _array(schema, root, depth)
        case "integer":
            return _number(schema, 1)
        case "number":
            return _number(schema, 0)
        case "boolean":
            return False
        case "null":
            return None
        case _:
            least = _FORMS.get(str(schema.get("format")), "")
            return least.ljust(int(schema.get("minLength", 0)), "-")


def another(value: JSON, taken: list[Any]) -> JSON:
    """A value like ``value`` that isn't among ``taken``, where its type has more than one."""
    for step in range(1, len(taken) + 2):
        if value not in taken:
            break
        match value:
            case bool():
                value = not value
            case int() | float():
                value = value + step
            case str():
                value = f"{value}-"
            case _:
                break
    return value


def admits_null(schema: Schema, root: Schema) -> bool:
    """Whether null is a value of the schema."""
    told = schema.get("type")
    if told == "null" or "null" in items(told):
        return "enum" not in schema or None in items(schema["enum"])
    if "$ref" in schema:
        target = referenced(str(schema["$ref"]), root)
        return "$ref" not in target and admits_null(target, root)
    return any(option.get("type") == "null" for option in alternatives(schema)) or None in items(
        schema.get("enum")
    )


def _array(schema: Schema, root: Schema, depth: int) -> list[JSON]:
    first = [neutral(obj(each), root, depth + 1) for each in items(schema.get("prefixItems"))]
    least = int(schema.get("minItems", 0))
    inner = obj(schema.get("items"))
    filled: list[Any] = first[: max(least, 0)]
    while len(filled) < least:
        filled.append(neutral(inner, root, depth + 1))
    return filled


def _number(schema: Schema, step: int) -> int | float:
    """Zero, or what is nearest to it within the bounds."""
    multiple = schema.get("multipleOf")
    low = schema.get("minimum", -math.inf)
    high = schema.get("maximum", math.inf)
    above, below = schema.get("exclusiveMinimum", -math.inf), schema.get("exclusiveMaximum", math.inf)
    if low <= 0 <= high and above < 0 < below:
        return 0
    if max(low, above) >= 0:
        return _up(low, above, below, multiple or step)
    return -_up(-high, -below, -above, multiple or step)


def _up(low: float, above: float, below: float, step: float) -> int | float:
    """The least number from ``low`` on that lies over ``above``; on the grid of ``step`` if there is one."""
    if not step:
        return low if low > above else (above + below) / 2 if below < math.inf else above + 1
    least = math.ceil(low / step) * step if low > -math.inf else -math.inf
    beyond = (math.floor(above / step) + 1) * step if above > -math.inf else -math.inf
    return max(least, beyond)
