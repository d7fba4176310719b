"""P8: a schema in each vendor's words takes no answer that the schema itself would refuse to want."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given, settings
from jsonschema import Draft202012Validator

from agent_magics.extract import Schema
from agent_magics.providers.demo.filling import fill
from agent_magics.providers.schemas import (
    ANTHROPIC,
    GEMINI,
    OPENAI,
    Dialect,
    Inexpressible,
    grammar_form,
    in_dialect,
    is_strict,
    strict_form,
    without_nulls,
)
from tests.providers.demo.anything import schemas

STRING, INTEGER = {"type": "string"}, {"type": "integer"}


def object_of(required: list[str] | None = None, **properties: Any) -> dict[str, Any]:
    return {
        "type": "object",
        "properties": properties,
        "required": list(properties) if required is None else required,
        "additionalProperties": False,
    }


PERSON = {
    "type": "object",
    "title": "Person",
    "properties": {
        "name": {"type": "string", "minLength": 1, "description": "in full"},
        "age": {"type": "integer", "minimum": 0},
        "mail": {"type": "string", "format": "email"},
        "home": {"$ref": "#/$defs/place", "description": "where"},
        "kind": {"const": "person"},
    },
    "required": ["name"],
    "$defs": {"place": {"type": "object", "properties": {"city": STRING}}},
}


def test_openai_gets_closed_objects_with_all_keys_and_null_for_the_optional_ones():
    form, binds = strict_form(PERSON)
    nullable = {"anyOf": [{"$ref": "#/$defs/place"}, {"type": "null"}]}
    city = {"type": ["string", "null"]}
    kind = {"enum": ["person", None], "type": ["string", "null"]}
    expected = object_of(
        name={"type": "string", "description": "in full (minLength: 1)"},
        age={"type": ["integer", "null"], "minimum": 0},
        mail={"type": ["string", "null"], "format": "email"},
        home=nullable,
        kind=kind,
    ) | {"$defs": {"place": object_of(city=city)}}
    assert (expected, True) == (form, binds)
    assert is_strict(form)


def test_anthropic_keeps_optional_keys_and_says_the_rules_that_it_does_not_know():
    form = in_dialect(PERSON, ANTHROPIC)
    assert {"type": "integer", "description": "(minimum: 0)"} == form["properties"]["age"]
    assert (["name"], False) == (form["required"], form["additionalProperties"])


def test_gemini_gets_no_const_and_keeps_open_objects():
    form = in_dialect(PERSON, GEMINI)
    assert {"enum": ["person"], "type": "string"} == form["properties"]["kind"]
    assert {"$ref": "#/$defs/place"} == form["properties"]["home"]
    assert {"type": "string", "description": '(format: "email")'} == form["properties"]["mail"]
    assert "additionalProperties" not in form


OPEN = {
    "free keys": {"type": "object", "additionalProperties": INTEGER},
    "anything": {"type": "object", "properties": {"x": {}}},
    "a list of anything": {"type": "object", "properties": {"x": {"type": "array"}}},
    "places of their own": object_of(x={"type": "array", "prefixItems": [STRING, INTEGER]}),
    "patterns of keys": {"type": "object", "patternProperties": {"^x": INTEGER}},
    "elsewhere": object_of(x={"$ref": "https://example.org/x"}),
}


@pytest.mark.parametrize("schema", OPEN.values(), ids=OPEN)
def test_what_has_no_strict_form_is_sent_as_it_is_and_only_advises(schema):
    assert (schema, False) == strict_form(schema)
    with pytest.raises(Inexpressible):
        in_dialect(schema, ANTHROPIC)


def test_recursion_is_fine_for_openai_and_none_of_anthropics():
    tree = object_of(kids={"type": "array", "items": {"$ref": "#"}})
    assert (tree, True) == strict_form(tree)
    with pytest.raises(Inexpressible, match="refers to itself"):
        in_dialect(tree, ANTHROPIC)
    twice = object_of(a={"$ref": "#/$defs/p"}, b={"$ref": "#/$defs/p"}) | {
        "$defs": {"p": object_of(x=STRING)}
    }
    assert twice == in_dialect(twice, ANTHROPIC)


def test_unions_and_parts_become_what_every_vendor_knows():
    schema = object_of(
        x={"oneOf": [STRING, INTEGER]},
        y={"allOf": [object_of(a=STRING)]},
        z={"enum": [1, "two", None]},
    )
    form, binds = strict_form(schema)
    assert binds
    assert {
        "x": {"anyOf": [STRING, INTEGER]},
        "y": object_of(a=STRING),
        "z": {"enum": [1, "two", None], "type": ["integer", "string", "null"]},
    } == form["properties"]


@pytest.mark.parametrize(
    ("pattern", "put"),
    [
        (r"^\d{2}$", "^[0-9]{2}$"),
        (r"^a\w*$", "^a[A-Za-z0-9_]*$"),
        ("abc", None),
        ("^(?=x)x$", None),
        (r"^\bx$", None),
        (r"^[\d.]+$", None),
    ],
)
def test_a_grammar_gets_the_patterns_that_it_can_be_made_of(pattern, put):
    form = grammar_form({"type": "string", "pattern": pattern, "maxLength": 5_000, "minLength": 2})
    assert {"type": "string", "minLength": 2, **({"pattern": put} if put else {})} == form


def test_nulls_of_keys_that_need_not_be_there_are_nothing():
    assert {"a": None, "c": 1} == without_nulls({"a": None, "b": None, "c": 1}, {"required": ["a"]})


@pytest.mark.parametrize("dialect", [OPENAI, ANTHROPIC, GEMINI], ids=["openai", "anthropic", "gemini"])
@settings(deadline=None)  # the machine may be busy
@given(schema=schemas)
def test_every_form_is_a_schema_and_what_fills_it_can_be_settled_into_the_users_own(dialect: Dialect, schema):
    try:
        form = in_dialect(schema, dialect)
    except Inexpressible:
        return
    Draft202012Validator.check_schema(form)
    mine = Schema(schema)
    right = fill(schema, "nothing of use").value
    if dialect is GEMINI and not mine.problems(right):
        assert not list(Draft202012Validator(form).iter_errors(right))
