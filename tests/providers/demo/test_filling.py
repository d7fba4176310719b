"""Filling a schema from a text: what is there is found, what isn't is left out, and the whole is valid."""

from __future__ import annotations

import asyncio
import json
from typing import Any

import pytest
from hypothesis import HealthCheck, assume, given, settings
from hypothesis import strategies as st
from jsonschema import Draft202012Validator

from agent_magics.providers.demo import DemoProvider
from agent_magics.providers.demo.filling import fill
from agent_magics.talk import Saying, Thinking
from tests.providers.demo.anything import chatter, schemas

PERSON: dict[str, Any] = {
    "type": "object",
    "properties": {
        "name": {"type": "string"},
        "age": {"type": "integer"},
        "city": {"type": "string"},
        "email": {"type": "string", "format": "email"},
        "active": {"type": "boolean"},
    },
    "required": ["name", "age"],
}
EMAIL = {"type": "string", "format": "email"}
PLACE = {"type": "object", "properties": {"city": {"type": "string"}}, "required": ["city"]}
names = st.from_regex(r"[A-Z][a-z]{3,8}", fullmatch=True).map(lambda name: f"Q{name.lower()}")


@settings(max_examples=200, suppress_health_check=[HealthCheck.too_slow])
@given(schemas, chatter | st.text(max_size=60))
def test_whatever_the_schema_and_the_text_the_value_is_valid(schema, text):
    value = fill(schema, text).value
    errors = [error.message for error in Draft202012Validator(schema).iter_errors(value)]
    assert [] == errors
    assert value == json.loads(json.dumps(value))


@settings(max_examples=40)
@given(name=names, age=st.integers(1, 110), city=names, active=st.booleans())
def test_the_fields_are_those_of_the_text(name, age, city, active):
    assume(name != city)
    state = "active" if active else "not active"
    text = f"{name} is {age} years old and lives in {city}. Mail: {name.lower()}@example.org. Is {state}."
    expected = {
        "name": name,
        "age": age,
        "city": city,
        "email": f"{name.lower()}@example.org",
        "active": active,
    }
    assert expected == fill(PERSON, text).value


@settings(max_examples=40)
@given(
    st.lists(
        st.tuples(names, st.integers(1, 99), names), min_size=2, max_size=6, unique_by=lambda row: row[0]
    )
)
def test_records_become_rows_however_they_are_written(people):
    expected = [{"name": name, "age": age, "city": city} for name, age, city in people]
    schema = {"type": "array", "items": {**PERSON, "required": ["name", "age", "city"]}}
    table = "name,age,city\n" + "\n".join(f"{name},{age},{city}" for name, age, city in people)
    markdown = "| Name | Age | City |\n|---|---|---|\n" + "\n".join(
        f"| {n} | {a} | {c} |" for n, a, c in people
    )
    bullets = "\n".join(f"- name: {name}, age: {age}, city: {city}" for name, age, city in people)
    sentences = " ".join(f"{name} is {age} years old and lives in {city}." for name, age, city in people)
    for text in (table, markdown, bullets, sentences):
        assert expected == fill(schema, text).value, text


@pytest.mark.parametrize(
    "text",
    [
        "Ada Lovelace was born in 1815, Alan Turing in 1912 and Grace Hopper in 1906.",
        "Ada Lovelace was born in 1815. Alan Turing was born in 1912, and Grace Hopper in 1906.",
    ],
)
def test_a_sentence_may_tell_of_several(text):
    person = {"properties": {"name": {"type": "string"}, "born": {"type": ["integer", "null"]}}}
    expected = [("Ada Lovelace", 1815), ("Alan Turing", 1912), ("Grace Hopper", 1906)]
    found: Any = fill({"type": "array", "items": {"type": "object", **person}}, text).value
    assert expected == [(each["name"], each["born"]) for each in found]


def test_a_sentence_of_one_stays_whole():
    found: Any = fill({"type": "array", "items": PERSON}, "Ann Lee is 34 years old, and lives in Bonn.").value
    assert [{"name": "Ann Lee", "age": 34, "city": "Bonn"}] == found


def test_bugs_are_found_with_file_line_and_issue():
    schema = {
        "type": "object",
        "properties": {"bugs": {"type": "array", "items": {"$ref": "#/$defs/bug"}}},
        "required": ["bugs"],
        "$defs": {
            "bug": {
                "type": "object",
                "properties": {
                    "file": {"type": "string"},
                    "line": {"type": "integer"},
                    "issue": {"type": "string"},
                },
                "required": ["file", "line", "issue"],
            }
        },
    }
    text = "src/main.py line 12: division by zero\nutil.py line 40: unused variable x"
    assert {
        "bugs": [
            {"file": "src/main.py", "line": 12, "issue": "division by zero"},
            {"file": "util.py", "line": 40, "issue": "unused variable x"},
        ]
    } == fill(schema, text).value


@pytest.mark.parametrize(
    "field, schema, text, expected",
    [
        ("due", {"type": "string", "format": "date"}, "It is due on 3 May 2024.", "2024-05-03"),
        ("website", {"type": "string", "format": "uri"}, "See https://x.org/a, please.", "https://x.org/a"),
        ("priority", {"enum": ["low", "high"]}, "This is of high priority", "high"),
        ("weight_kg", {"type": "number"}, "It weighs 500 g.", 0.5),
        ("height", {"type": "number", "description": "Height in metres"}, "She is 6 ft tall", 1.8288),
        ("price", {"type": "number"}, "3 apples for $12.50", 12.5),
        ("apples", {"type": "integer"}, "3 apples for $12.50", 3),
        ("tags", {"type": "array", "items": {"type": "string"}}, "Tags: red and blue", ["red", "blue"]),
        ("numbers", {"type": "array", "items": {"type": "number"}}, "I saw 3, 4.5 and 7", [3, 4.5, 7]),
        ("emails", {"type": "array", "items": EMAIL}, "a@b.de, c@d.org", ["a@b.de", "c@d.org"]),
        ("colours", {"type": "array", "items": {"enum": ["red", "blue"]}}, "blue or red?", ["blue", "red"]),
        ("nickname", {"type": ["string", "null"]}, "…", None),
        ("code", {"type": "string", "pattern": "^[A-Z]{2}-\\d+$"}, "order AB-17 of today", "AB-17"),
        ("where", PLACE, "in Bonn", {"city": "Bonn"}),
        ("scores", {"type": "object", "additionalProperties": {"type": "number"}}, "ann: 1", {"ann": 1}),
        ("who", {"anyOf": [{"type": "integer"}, EMAIL]}, "ask a@b.de", "a@b.de"),
        ("file", {"type": "string"}, "src/store.py, line 7: the file is never closed.", "src/store.py"),
    ],
)
def test_a_field_is_found_by_its_form(field, schema, text, expected):
    whole = {"type": "object", "properties": {field: schema}, "required": [field]}
    assert {field: expected} == fill(whole, text).value


def test_a_number_serves_one_field_only():
    schema = {"type": "object", "properties": {"age": {"type": "integer"}, "rank": {"type": "integer"}}}
    assert {"age": 34} == fill(schema, "He is 34 years old").value
    assert {"age": 34, "rank": 2} == fill(schema, "He is 34 years old, and number 2").value


def test_what_nothing_speaks_for_is_left_out_or_told():
    found = fill(PERSON, "…")
    assert {"name": "", "age": 0} == found.value
    assert ("name", "age") == found.unfounded


def test_a_schema_that_contains_itself_comes_to_an_end():
    node = {
        "type": "object",
        "properties": {"value": {"type": "integer"}, "next": {"$ref": "#"}},
        "required": ["value"],
    }
    assert {"value": 1, "next": {"value": 2, "next": {"value": 3}}} == fill(node, "1 2 3").value


def answered(schema, *messages):
    async def collect():
        return [event async for event in DemoProvider(pace=0).fetch(messages, [], schema=schema)]

    return asyncio.run(collect())


def test_the_json_comes_in_pieces_and_the_thinking_says_what_is_missing():
    told = answered(PERSON, {"role": "user", "content": "Bob lives in Bonn"})
    said = [event.text for event in told if isinstance(event, Saying)]
    assert {"name": "Bob", "age": 0, "city": "Bonn"} == json.loads("".join(said))
    assert len(said) > 3
    assert "Nothing in the text speaks for age." in "".join(
        event.text for event in told if isinstance(event, Thinking)
    )


def test_a_complaint_about_the_answer_is_not_the_text():
    told = answered(
        PERSON,
        {"role": "user", "content": "Bob is 40"},
        {"role": "assistant", "content": '{"name": 1}'},
        {"role": "user", "content": "That is not valid: 1 is not of type 'string'"},
    )
    said = "".join(event.text for event in told if isinstance(event, Saying))
    assert {"name": "Bob", "age": 40} == json.loads(said)
