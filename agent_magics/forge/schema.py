"""The schema of a tool: made from its function's type hints, or checked against them. Nothing is run for
it."""

from __future__ import annotations

import ast
import json
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from agent_magics.errors import ToolError
from agent_magics.forge.tree import signature
from agent_magics.talk import JSON

LONGEST = 20_000
"""Characters of a schema: it is sent with every request."""

_SIMPLE: dict[str, dict[str, JSON]] = {
    "str": {"type": "string"},
    "int": {"type": "integer"},
    "float": {"type": "number"},
    "bool": {"type": "boolean"},
    "list": {"type": "array"},
    "tuple": {"type": "array"},
    "set": {"type": "array"},
    "dict": {"type": "object"},
    "List": {"type": "array"},
    "Sequence": {"type": "array"},
    "Iterable": {"type": "array"},
    "Dict": {"type": "object"},
    "Mapping": {"type": "object"},
}


@dataclass(frozen=True, kw_only=True)
class Described:
    """A function as its schema describes it.

    Attributes
    ----------
    parameters : dict
        JSON Schema of the arguments.
    objects : frozenset of str
        Arguments that take a frame or an array: the model gives a variable's name, the function gets it.
    """

    parameters: dict[str, JSON]
    objects: frozenset[str]


def describe(source: str, name: str, given: Mapping[str, JSON]) -> Described:
    """The schema of a tool: the one that was given, or one from the hints.

    Raises
    ------
    ToolError
        If the given one is no JSON Schema, or describes other arguments; the message says what to change.
    """
    function = signature.function_of(ast.parse(source), name)
    if function is None:
        raise ToolError(f"The source defines no function {name!r}.")
    schema = (
        dict(given)
        if given.get("properties") or not signature.parameters(function)
        else _from_hints(function)
    )
    empty: dict[str, JSON] = {}
    schema = {"type": "object", "properties": empty, **schema, "additionalProperties": False}
    if problems := _problems(function, schema):
        raise ToolError(" ".join(problems))
    return Described(parameters=schema, objects=signature.objects(function))


def _problems(function: ast.FunctionDef, schema: Mapping[str, JSON]) -> list[str]:
    from jsonschema import Draft202012Validator
    from jsonschema.exceptions import SchemaError

    text = json.dumps(schema)
    if len(text) > LONGEST:
        return [f"The schema has {len(text):,} characters; at most {LONGEST:,} are sent with every request."]
    if '"$ref"' in text and '"$ref": "#' not in text:
        return ["The schema refers to another document; write everything into this one."]
    try:
        Draft202012Validator.check_schema(dict(schema))
    except SchemaError as error:
        where = "/".join(map(str, error.absolute_path)) or "its root"
        return [f"The schema is no JSON Schema: {error.message[:300]} (at {where})."]
    return signature.mismatches(function, schema)


def problems_of(arguments: Mapping[str, JSON], described: Described) -> list[str]:
    """Why arguments of an example don't fit; data for a frame or an array is not looked at."""
    from agent_magics.tools.validation import Validator

    properties: dict[str, Any] = dict(described.parameters["properties"])
    for name in described.objects & properties.keys():
        properties[name] = {"type": ["object", "array"]}
    return Validator({**described.parameters, "properties": properties}).problems(dict(arguments))


def _from_hints(function: ast.FunctionDef) -> dict[str, JSON]:
    properties = {arg.arg: _of_hint(arg.annotation, arg) for arg in signature.parameters(function)}
    return {"type": "object", "properties": properties, "required": signature.required(function)}


def _of_hint(hint: ast.expr | None, arg: ast.arg | None = None) -> dict[str, JSON]:
    if arg is not None and (kind := signature.hinted(arg)) in signature.OBJECTS:
        return {"type": "string", "description": f"Name of a notebook variable that holds a {kind}"}
    match hint:
        case ast.Name(id=name) | ast.Attribute(attr=name):
            return dict(_SIMPLE.get(name, {}))
        case ast.Constant(value=str(text)):
            return _of_hint(ast.parse(text, mode="eval").body)
        case ast.Subscript(value=ast.Name(id="Literal"), slice=ast.Tuple(elts=parts)):
            return {"enum": [part.value for part in parts if isinstance(part, ast.Constant)]}
        case ast.Subscript(value=ast.Name(id="list" | "List" | "Sequence" | "Iterable"), slice=inner):
            return {"type": "array", "items": _of_hint(inner)}
        case ast.Subscript(value=ast.Name(id="Optional"), slice=inner):
            return _or_null(_of_hint(inner))
        case ast.Subscript(value=value):
            return _of_hint(value)
        case ast.BinOp(op=ast.BitOr(), left=left, right=ast.Constant(value=None)):
            return _or_null(_of_hint(left))
        case ast.BinOp(op=ast.BitOr(), left=left, right=right):
            return {"anyOf": [_of_hint(left), _of_hint(right)]}
        case _:
            return {}


def _or_null(schema: dict[str, JSON]) -> dict[str, JSON]:
    return {"anyOf": [schema, {"type": "null"}]} if schema else {}
