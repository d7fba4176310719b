"""The short form: what it stands for, and where it is wrong."""

from __future__ import annotations

import pytest

from agent_magics.errors import UsageError
from agent_magics.extract.short import short_schema

STRING, INTEGER = {"type": "string"}, {"type": "integer"}


def field(form: str) -> object:
    [schema] = short_schema(form)["properties"].values()
    return schema


@pytest.mark.parametrize(
    ("form", "schema"),
    [
        ("a", STRING),
        ("a int", INTEGER),
        ("a: Integer", INTEGER),
        ("a float", {"type": "number"}),
        ("a date", {"type": "string", "format": "date"}),
        ("a any", {}),
        ("a int?", {"type": ["integer", "null"]}),
        ("a? int", {"type": ["integer", "null"]}),
        ("a?", {"type": ["string", "null"]}),
        ("a [str]", {"type": "array", "items": STRING}),
        ("a [[int]]?", {"type": ["array", "null"], "items": {"type": "array", "items": INTEGER}}),
        ("a low|high", {"enum": ["low", "high"]}),
        ("a 'very low' | high?", {"enum": ["very low", "high", None]}),
        ("a 1|2|3", {"enum": [1, 2, 3]}),
        ("a int|str", {"anyOf": [INTEGER, STRING]}),
        ("a int 'in years'", {**INTEGER, "description": "in years"}),
        ('a "in words"', {**STRING, "description": "in words"}),
    ],
)
def test_a_field_stands_for_its_schema(form, schema):
    assert schema == field(form)


def test_all_fields_are_wanted_and_no_others():
    expected = {
        "type": "object",
        "properties": {"name": STRING, "age": INTEGER},
        "required": ["name", "age"],
        "additionalProperties": False,
    }
    for form in ("name, age int", "name\n  age: int\n", "{name, age int}", " name , age int, "):
        assert expected == short_schema(form)


def test_objects_and_lists_nest_and_stand_on_top():
    bug = short_schema("file, line int")
    assert {"type": "array", "items": bug} == short_schema("[{file, line int}]")
    assert bug == short_schema("worst {file, line int}")["properties"]["worst"]
    assert {"type": "array", "items": STRING} == short_schema("[str]")


@pytest.mark.parametrize(
    ("form", "place", "why"),
    [
        ("", 1, "a field's name is missing"),
        ("name, age itn", 11, "there is no type 'itn'"),
        ("tags [str", 10, "']' is missing"),
        ("tags [name, age]", 7, "there is no type 'name'"),
        ("a int b", 7, "a comma is missing before 'b'"),
        ("a, a int", 4, "the field 'a' is there twice"),
        ("a 'open", 3, "this quotation mark has no end"),
        ("[str] int", 7, "'int' was not expected here"),
        ("a low|", 7, "a type or a value is missing"),
        ("who {", 6, "a field's name is missing"),
    ],
)
def test_a_mistake_is_shown_at_its_place(form, place, why):
    with pytest.raises(UsageError) as caught:
        short_schema(form)
    what, where, example = str(caught.value).splitlines()
    assert why in what
    assert where.startswith(f"At character {place}: ")
    assert "⟨here⟩" in where
    assert example.startswith("For example")
