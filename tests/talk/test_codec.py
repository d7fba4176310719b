"""Events and turns survive the way through JSON; what is not ours is refused."""

from __future__ import annotations

import dataclasses
import json

import pytest
from hypothesis import given

from agent_magics.errors import ConfigError
from agent_magics.talk import ApprovalGiven, Saying, ToolCall, ToolCalled, Turn, codec
from agent_magics.talk.codec import VERSION, decode, encode
from tests import strategies


@given(strategies.FACTS | strategies.DELTAS)
def test_every_event_comes_back_from_json_as_it_was(event):
    assert event == decode(json.loads(json.dumps(encode(event))))


@given(strategies.TURNS)
def test_every_turn_comes_back_from_json_as_it_was(turn):
    assert turn == decode(json.loads(json.dumps(encode(turn))))


def test_a_field_that_is_not_known_is_dropped():
    assert Saying(text="hi") == decode({"v": 1, "type": "Saying", "text": "hi", "colour": "red"})


def test_a_field_that_is_missing_takes_its_default():
    expected = ToolCall(id="c", name="f", arguments={}, problem="")
    assert expected == decode({"v": 1, "type": "ToolCall", "id": "c", "name": "f"})


def test_a_newer_format_is_refused_and_says_what_to_do():
    with pytest.raises(ConfigError) as error:
        decode({"v": VERSION + 1, "type": "Saying", "text": "hi"})
    assert "Upgrade agent-magics, or leave the record as it is." == error.value.remedy


@pytest.mark.parametrize(
    "data",
    [
        {},
        {"v": None, "type": "Saying", "text": "hi"},
        {"v": True, "type": "Saying", "text": "hi"},
        {"v": 1, "type": "Popen", "text": "hi"},
        {"v": 1, "type": ["Saying"], "text": "hi"},
        {"v": 1, "type": "Saying"},
        {"v": 1, "type": "Saying", "text": 5},
        {"v": 1, "type": "Saying", "text": None},
        {"v": 1, "type": "ToolCall", "id": "c", "name": "f", "arguments": [1]},
        {"v": 1, "type": "ToolCall", "id": "c", "name": "f", "arguments": 5},
        {"v": 1, "type": "ToolCalled", "call": "c", "shown": "f", "at": 1.0},
        {"v": 1, "type": "Turn", "id": "t", "prompt": "p", "steps": "abc"},
        {"v": 1, "type": "Turn", "id": "t", "prompt": "p", "notices": "abc"},
        {"v": 1, "type": "Turn", "id": "t", "prompt": "p", "steps": 5},
        {"v": 1, "type": "Usage", "input": "many"},
        {"v": 1, "type": "Usage", "input": True},
        {"v": 1, "type": "Usage", "input": 1.5},
        {"v": 1, "type": "Noticed", "text": "n", "at": True},
    ],
    ids=repr,
)
def test_a_record_that_is_not_of_this_format_is_refused(data):
    with pytest.raises(ConfigError):
        decode(data)


def test_a_decision_that_nobody_can_give_is_refused():
    given_ = encode(
        ApprovalGiven(id="a", call_id="c", decision="approve", by="you", sha256="", seconds=1.0, at=1.0)
    )
    with pytest.raises(ConfigError, match="damaged"):
        decode({**given_, "decision": "whatever"})


def test_arguments_nested_as_deep_as_json_allows_survive():
    deep = json.loads("[" * 400 + "]" * 400)
    event = ToolCalled(call=ToolCall(id="c", name="f", arguments={"deep": deep}), shown="f", at=1.0)
    assert event == decode(json.loads(json.dumps(encode(event))))


def test_a_record_that_is_nested_without_end_is_refused_not_a_crash():
    data: dict = {"v": 1, "type": "Turn", "id": "t", "prompt": "p"}
    deep: object = "x"
    for _ in range(5_000):
        deep = [deep]
    assert isinstance(decode({**data, "unknown": deep}), Turn)


@pytest.mark.parametrize("cls", codec._TYPES.values(), ids=lambda cls: cls.__name__)
def test_a_class_of_the_format_has_slots_and_computes_nothing(cls):
    """The codec and the fold write fields where they lie, past ``__init__``."""
    assert [field.name for field in dataclasses.fields(cls)] == list(cls.__slots__)
    assert not hasattr(cls, "__post_init__")


def test_a_default_that_can_be_changed_is_nobody_elses():
    one, two = (decode({"v": 1, "type": "ToolCall", "id": "c", "name": "f"}) for _ in range(2))
    assert one.arguments == two.arguments == {}
    assert one.arguments is not two.arguments
