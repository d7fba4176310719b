"""llama.cpp makes a grammar of every schema that we send it: real engine, weights of noise."""

from __future__ import annotations

import json
from collections.abc import AsyncGenerator
from pathlib import Path

import pytest

from agent_magics.extract import Schema
from agent_magics.ports import Provider
from agent_magics.providers import Registry
from agent_magics.talk import Saying, Stop

SHORT = {"type": "string", "maxLength": 4}
FLAG = {"type": "boolean"}
NODE = {
    "type": "object",
    "properties": {"flag": FLAG, "next": {"anyOf": [{"type": "null"}, {"$ref": "#/$defs/node"}]}},
    "required": ["flag"],
    "additionalProperties": False,
}
ENDS = {
    "keys that may be missing": {"type": "object", "properties": {"a": FLAG, "b": FLAG}, "required": ["a"]},
    "null or not": {"type": "object", "properties": {"a": {"type": ["boolean", "null"]}}, "required": ["a"]},
    "a choice of anything": {"enum": [1, "two", None, 3.5]},
    "a pattern": {"type": "string", "pattern": r"^\d{4}-\w$"},
    "formats": {
        "type": "object",
        "properties": {"d": {"type": "string", "format": "date"}},
        "required": ["d"],
    },
    "bounds": {"type": "integer", "minimum": 3, "maximum": 12},
    "a short list": {"type": "array", "items": FLAG, "minItems": 1, "maxItems": 2},
    "places": {"type": "array", "prefixItems": [FLAG, {"enum": ["x"]}], "items": False, "minItems": 2},
    "a union": {"oneOf": [FLAG, {"enum": ["x", "y"]}]},
    "all of": {
        "allOf": [{"$ref": "#/$defs/flagged"}],
        "$defs": {"flagged": {**NODE, "properties": {"flag": FLAG}}},
    },
    "const": {
        "type": "object",
        "properties": {"kind": {"const": "bug"}, "s": SHORT},
        "required": ["kind", "s"],
    },
    "unicode keys": {"type": "object", "properties": {"größe 名": FLAG}, "required": ["größe 名"]},
}
MAY_RUN_ON = {
    "recursion": {"$ref": "#/$defs/node", "$defs": {"node": NODE}},
    "itself": {"type": "array", "items": {"$ref": "#"}},
    "look-around": {"type": "string", "pattern": "^(?!x)a+$"},
    "no anchors": {"type": "string", "pattern": "ab"},
    "a very long bound": {"type": "string", "minLength": 100_000},
    "free keys": {"type": "object", "additionalProperties": FLAG},
    "anything": {"type": "object", "properties": {"x": {}, "y": True}},
    "rules that no grammar knows": {"type": "object", "not": {"required": ["x"]}, "minProperties": 1},
}


@pytest.fixture
async def model(tiny: Path) -> AsyncGenerator[Provider]:
    made = Registry().build(f"llama:{tiny}", temperature=0, max_tokens=150)
    yield made
    await made.aclose()


async def said(model: Provider, schema: Schema) -> tuple[str, str]:
    events = [
        event async for event in model.fetch([{"role": "user", "content": "go"}], (), schema=schema.wanted)
    ]
    [stop] = [event.reason for event in events if isinstance(event, Stop)]
    return "".join(event.text for event in events if isinstance(event, Saying)), stop


@pytest.mark.parametrize("name", ENDS)
async def test_even_noise_is_valid_when_it_is_bound(model, name):
    schema = Schema.of(ENDS[name])
    text, stop = await said(model, schema)
    value = json.loads(text)
    assert "end" == stop
    assert [] == schema.problems(value["value"] if schema.wrapped else value)


@pytest.mark.parametrize("name", MAY_RUN_ON)
async def test_no_schema_is_refused_by_the_engine(model, name):
    text, stop = await said(model, Schema.of(MAY_RUN_ON[name]))
    assert text
    assert stop in ("end", "max_tokens")
