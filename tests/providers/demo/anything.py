"""Strategies: any JSON Schema, any prompt, any history and any list of tools that a provider may be sent."""

from __future__ import annotations

import json
from typing import Any

from hypothesis import strategies as st

from agent_magics.talk import ToolSpec

# -- schemas -----------------------------------------------------------------------------------------

PART = {
    "type": "object",
    "properties": {"n": {"type": "integer"}, "more": {"$ref": "#/$defs/part"}},
    "required": ["n"],
}
"""A part that contains itself."""

_FIELDS = [
    "name",
    "age",
    "price",
    "due_date",
    "e-mail",
    "Größe",
    "tags",
    "items",
    "is_open",
    "x",
    "weight_kg",
]
_FORMATS = ["date", "date-time", "email", "uri", "uuid", "time"]
_CHATTER = """
Ann Lee is 34 years old and lives in Köln . ; , : - name: Bob age = 40 price $12.50 due 3 May 2024 a@b.de yes
https://x.org tags: red, green and blue 80 kg not open closed | 1 2.5 -7 { } " ' “ ” null ٣
"""


def _within(kind: str, low: int, span: int) -> dict[str, Any]:
    return {"type": kind, "minimum": low, "maximum": low + span}


def _object(properties: dict[str, Any], keep: int) -> dict[str, Any]:
    required = list(properties)[:keep]
    return {"type": "object", "properties": properties, "required": required, "additionalProperties": False}


def _list(each: dict[str, Any], least: int) -> dict[str, Any]:
    return {"type": "array", "items": each, "minItems": least}


def _tuple(parts: list[dict[str, Any]]) -> dict[str, Any]:
    return {"type": "array", "prefixItems": parts, "items": False, "minItems": len(parts)}


_scalars = st.one_of(
    st.builds(lambda least: {"type": "string", "minLength": least}, st.integers(0, 4)),
    st.builds(_within, st.sampled_from(["integer", "number"]), st.integers(-50, 50), st.integers(0, 50)),
    st.builds(lambda step: {"type": "integer", "multipleOf": step}, st.integers(1, 7)),
    st.builds(lambda above: {"type": "integer", "exclusiveMinimum": above}, st.integers(-9, 9)),
    st.builds(
        lambda kind: {"type": [kind, "null"]}, st.sampled_from(["string", "integer", "number", "boolean"])
    ),
    st.builds(lambda form: {"type": "string", "format": form}, st.sampled_from(_FORMATS)),
    st.builds(lambda options: {"enum": options}, st.lists(st.text(min_size=1) | st.integers(), min_size=1)),
    st.builds(lambda value: {"const": value}, st.text() | st.integers() | st.none()),
    st.sampled_from([{"type": "boolean"}, {"type": "null"}, {"$ref": "#/$defs/part"}]),
)


def _composed(inner: st.SearchStrategy[dict[str, Any]]) -> st.SearchStrategy[dict[str, Any]]:
    return st.one_of(
        st.builds(_object, st.dictionaries(st.sampled_from(_FIELDS), inner, max_size=4), st.integers(0, 4)),
        st.builds(_list, inner, st.integers(0, 2)),
        st.builds(_tuple, st.lists(inner, min_size=1, max_size=2)),
        st.builds(lambda options: {"anyOf": options}, st.lists(inner, min_size=1, max_size=3)),
    )


schemas = st.recursive(_scalars, _composed, max_leaves=8).map(
    lambda schema: {**schema, "$defs": {"part": PART}}
)
chatter = st.lists(st.sampled_from([*_CHATTER.split(), "\n"]), max_size=25).map(" ".join)

# -- requests ----------------------------------------------------------------------------------------

_SAID = """
convert 30 celsius to fahrenheit and round it how many words are in the title of a blorp is 3.7 metres mean
by per trips `df` "quoted" 'x' {braces} {{name}} now in Kelvin for 40 ? : ; $ ** __ 2024-02-30 1/0 ٣٠ ∞ ”
remember forget that I plot what palindrome leap year days between
"""
_CALLED = [
    "make_tool",
    "inspect",
    "variables",
    "run_python",
    "word_count",
    "count_vowels",
    "remember",
    "more",
    "",
]

json_values = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False) | st.text(),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=6), inner, max_size=3),
    max_leaves=6,
)
prompts = st.text() | st.lists(st.sampled_from([*_SAID.split(), "\u202e"]), max_size=14).map(" ".join)
_ids = st.sampled_from(["1", "2", "?"])
_arguments = st.dictionaries(st.sampled_from(["name", "code", "text", "x"]), json_values, max_size=2)
_calls = st.fixed_dictionaries(
    {"id": _ids, "name": st.sampled_from(_CALLED), "arguments": _arguments | st.text(max_size=5)}
)
_messages = st.one_of(
    st.builds(lambda said: {"role": "user", "content": said}, prompts),
    st.builds(
        lambda said, calls: {"role": "assistant", "content": said, "tool_calls": calls},
        st.text(max_size=20),
        st.lists(_calls, max_size=2),
    ),
    st.builds(
        lambda call, said: {"role": "tool", "tool_call_id": call, "content": said},
        _ids,
        st.text() | json_values.map(json.dumps),
    ),
)
histories = st.lists(_messages, max_size=7)


def _spec(name: str, properties: dict[str, Any]) -> ToolSpec:
    parameters = {"type": "object", "properties": properties, "required": list(properties)}
    return {"type": "function", "function": {"name": name, "description": "", "parameters": parameters}}


_broken = st.dictionaries(
    st.sampled_from(["type", "enum", "minimum", "anyOf", "$ref"]), json_values, max_size=2
)
_properties = st.dictionaries(st.sampled_from(["name", "code", "a b", "é", "x"]), _broken, max_size=2)
offers = st.lists(st.builds(_spec, st.sampled_from(_CALLED) | st.text(max_size=8), _properties), max_size=4)
