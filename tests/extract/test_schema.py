"""X2: every way to write a schema, and what a value must keep."""

from __future__ import annotations

import dataclasses
import json
import pickle
import typing
from datetime import date
from types import SimpleNamespace
from typing import Literal

import pytest
import typing_extensions
from pydantic import BaseModel, Field, field_validator

from agent_magics.errors import ConfigError, UsageError
from agent_magics.extract import Schema


class Bug(BaseModel):
    """A bug in a source text."""

    file: str
    line: int = Field(gt=0)
    title: str | None = None

    @field_validator("file")
    @classmethod
    def is_source(cls, file: str) -> str:
        if not file.endswith(".py"):
            raise ValueError("not a Python file")
        return file


class Tree(BaseModel):
    name: str
    kids: list[Tree] = []


@dataclasses.dataclass
class Point:
    x: int
    y: float = 0.0


class Person(typing.TypedDict):
    name: str
    born: typing.NotRequired[date]
    place: Point


class Modern(typing_extensions.TypedDict):
    name: str


SOURCES = {
    "a dict": {"type": "object", "properties": {"x": {"type": "integer"}}, "required": ["x"]},
    "its text": '{"type": "object", "properties": {"x": {"type": "integer"}}, "required": ["x"]}',
    "a dataclass": Point,
    "the short form": "x int",
    "a name": "Point",
    "a name in a module": "shapes.Point",
}
NAMESPACE = {"Point": Point, "shapes": SimpleNamespace(Point=Point), "short": "x int", "Bug": Bug}


@pytest.mark.parametrize("source", SOURCES.values(), ids=SOURCES)
def test_every_source_makes_a_schema_that_takes_and_refuses_the_same(source):
    schema = Schema.of(source, namespace=NAMESPACE)
    assert [] == schema.problems({"x": 1})
    assert ["x: 'one' is not of type 'integer'"] == schema.problems({"x": "one"})


def test_a_file_is_read_also_by_its_path_as_text(tmp_path):
    path = tmp_path / "größe.json"
    path.write_text(json.dumps(SOURCES["a dict"]))
    for source in (path, str(path)):
        assert ["'x' is a required property"] == Schema.of(source).problems({})


@pytest.mark.parametrize(
    ("written", "said"), [("{", "is not JSON"), ("[1]", "is no JSON Schema"), (None, "can't be read")]
)
def test_a_file_that_is_no_schema_says_so_in_three_lines(tmp_path, written, said):
    path = tmp_path / "s.json"
    if written is not None:
        path.write_text(written)
    with pytest.raises(ConfigError, match=said) as caught:
        Schema.of(path)
    assert 3 == len(str(caught.value).splitlines())


def test_a_name_of_the_notebook_may_hold_any_of_them():
    assert ["x: 'one' is not of type 'integer'"] == Schema.of("short", namespace=NAMESPACE).problems(
        {"x": "one"}
    )
    listed = Schema.of("list[Bug]", namespace=NAMESPACE)
    assert ["0: 'line' is a required property"] == listed.problems([{"file": "a.py"}])


def test_a_name_that_is_not_there_is_no_field_by_accident():
    with pytest.raises(UsageError, match="no 'Bugs' to take as a schema") as caught:
        Schema.of("Bugs", namespace=NAMESPACE)
    assert 'written "Bugs str"' in str(caught.value)


def test_a_model_keeps_its_bounds_its_validators_and_a_field_called_title():
    schema = Schema.of(Bug)
    assert {"file", "line", "title"} == set(schema.json["properties"])
    assert ["line: 0 is less than or equal to the minimum of 0"] == schema.problems(
        {"file": "a.py", "line": 0}
    )
    assert ["file: Value error, not a Python file"] == schema.problems({"file": "a.txt", "line": 1})
    assert [] == schema.problems({"file": "a.py", "line": 1, "title": None})


def test_a_typed_dict_of_either_kind_keeps_which_keys_may_be_missing():
    schema = Schema.of(Person)
    assert [] == schema.problems({"name": "Ada", "place": {"x": 1}})
    assert ["born: 'long ago' is not a 'date'"] == schema.problems(
        {"name": "Ada", "place": {"x": 1}, "born": "long ago"}
    )
    assert ["'name' is a required property"] == Schema.of(Modern).problems({})


def test_other_hints_are_taken_too():
    assert [] == Schema.of(list[Literal["low", "high"]]).problems(["low"])
    assert ["0: 'mid' is not one of ['low', 'high']"] == Schema.of(list[Literal["low", "high"]]).problems(
        ["mid"]
    )


@pytest.mark.parametrize("thing", [7, print, SimpleNamespace, None], ids=repr)
def test_what_is_no_schema_is_refused_with_what_would_be_one(thing):
    with pytest.raises(UsageError, match="can't be taken as a schema"):
        Schema.of(thing)


def test_recursion_is_kept_and_asked_for_inside_an_object():
    schema = Schema.of(Tree)
    deep = {"name": "a", "kids": [{"name": "b", "kids": [{"name": 3}]}]}
    assert ["kids/0/kids/0/name: 3 is not of type 'string'"] == schema.problems(deep)
    wanted = Schema(schema.wanted)
    assert [] == wanted.problems({"value": {"name": "a", "kids": [{"name": "b"}]}})
    assert wanted.problems({"value": deep})


@pytest.mark.parametrize(
    "schema",
    [
        {"type": "array", "items": {"anyOf": [{"type": "integer"}, {"$ref": "#"}]}},
        {"$ref": "#/$defs/n", "$defs": {"n": {"type": "array", "items": {"$ref": "#/$defs/n"}}}},
        {"type": "array", "items": {"$ref": "#/definitions/n"}, "definitions": {"n": {"type": "array"}}},
        {"anyOf": [{"type": "array"}, {"$ref": "#/$defs/schema"}], "$defs": {"schema": {"type": "null"}}},
    ],
    ids=["the top in itself", "$defs", "definitions", "a name that is taken"],
)
def test_references_hold_when_a_schema_moves_into_an_object(schema):
    mine, wanted = Schema(schema), Schema(Schema(schema).wanted)
    for value in ([], [[]], [[[]]], "no", {}):
        assert bool(mine.problems(value)) == bool(wanted.problems({"value": value}))


@pytest.mark.parametrize(
    ("schema", "said"),
    [
        ({"type": "text"}, "'text' is not valid"),
        ({"properties": {"a": {"minLength": -1}}}, "fault is at properties/a/minLength"),
        ({"$ref": "#/$defs/gone"}, "'#/\\$defs/gone', which is not in it"),
        ({"items": {"$ref": "https://example.org/s.json"}}, "Nothing is fetched"),
        ({"$schema": "https://example.org/mine"}, "language of its own"),
    ],
)
def test_a_schema_that_is_not_in_order_says_where_before_anybody_is_asked(schema, said):
    with pytest.raises(ConfigError, match=said):
        Schema.of(schema)


@pytest.mark.parametrize("source", ["a int", Bug, list[Point], Person], ids=str)
def test_a_schema_can_be_sent_to_another_process(source):
    schema = Schema.of(source)
    told = schema.problems({"file": "a.txt", "line": 1})
    assert told
    assert told == pickle.loads(pickle.dumps(schema)).problems({"file": "a.txt", "line": 1})


def test_unicode_keys_are_keys_like_others():
    schema = Schema.of('名前, größe int, "two words" bool')
    value = {"名前": "あ", "größe": 3, "two words": True}
    assert [] == schema.problems(value)
    assert ["größe: None is not of type 'integer'"] == schema.problems({**value, "größe": None})


def test_nulls_are_taken_out_only_where_a_key_may_be_missing_and_not_null():
    schema = Schema.of(
        {
            "type": "object",
            "properties": {
                "must": {"type": "integer"},
                "may": {"type": "integer"},
                "null": {"type": ["integer", "null"]},
                "list": {"type": "array", "items": {"properties": {"may": {"type": "string"}}}},
                "choice": {"anyOf": [{"type": "integer"}, {"type": "string"}]},
            },
            "required": ["must"],
        }
    )
    given = {"must": None, "may": None, "null": None, "list": [{"may": None}], "choice": None}
    assert {"must": None, "null": None, "list": [{}]} == schema.settled(given)
