"""Whatever a tool returns, the model gets one JSON text that says whether it worked."""

from __future__ import annotations

import datetime as dt
import enum
import json
import math
import weakref
from collections import UserDict
from collections.abc import Mapping
from decimal import Decimal
from pathlib import Path
from types import MappingProxyType, SimpleNamespace
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from agent_magics.errors import ToolError
from agent_magics.tools import Results
from tests.strategies import JSON_VALUES, OBJECTS


class Broken:
    """Every way to look at it fails."""

    def __str__(self) -> str:
        raise RuntimeError("no text")

    __repr__ = __str__

    def __getattr__(self, name: str) -> Any:
        raise RuntimeError("no attribute")


class BrokenMapping(Mapping[str, int]):
    def __getitem__(self, key: str) -> int:
        raise RuntimeError("no item")

    def __iter__(self) -> Any:
        raise RuntimeError("no keys")

    def __len__(self) -> int:
        return 3


class BrokenList(list[int]):
    def __iter__(self) -> Any:
        raise RuntimeError("no items")


class Colour(enum.IntEnum):
    RED = 1


class Shouted(str):
    __slots__ = ()

    def __str__(self) -> str:
        raise RuntimeError("no text")


def circle() -> list[Any]:
    inner: list[Any] = []
    inner.append({"inner": inner})
    return inner


def deep(levels: int) -> Any:
    value: Any = "bottom"
    for _ in range(levels):
        value = [value]
    return value


def dead_proxy() -> Any:
    return weakref.proxy(type("Gone", (), {})())


ODD_VALUES = {
    "an object": object(),
    "a broken object": Broken(),
    "a broken mapping": BrokenMapping(),
    "a broken list": BrokenList([1]),
    "a broken value deep inside": {"a": [Broken(), {"b": Broken()}]},
    "a broken key": {Broken(): 1},
    "a broken key deep inside": {"a": {Broken(): 1}},
    "a text of a class of its own": Shouted("loud"),
    "an exception": ValueError("as a value"),
    "bytes": b"\xff\x00",
    "a set": {1, 2},
    "a frozen set of tuples": frozenset({(1, 2)}),
    "a tuple key": {(1, 2): 3},
    "keys of several kinds": {1: "a", None: "b", 2.5: "c"},
    "not a number": math.nan,
    "an infinity deep inside": {"a": [math.inf, -math.inf]},
    "an infinite key": {"a": {math.inf: 1}},
    "an enum": Colour.RED,
    "a decimal": Decimal("1.10"),
    "a date": dt.date(2026, 11, 30),
    "a path": Path("/tmp"),
    "a namespace": SimpleNamespace(a=1),
    "a view of a dict": MappingProxyType({"a": 1}),
    "a dict in a wrapper": UserDict({"a": UserDict({"b": 1})}),
    "a circle": circle(),
    "a very deep list": deep(10_000),
    "an integer of 6,000 digits": 10**6_000,
    "an integer of 6,000 digits deep inside": {"factorial": [10**6_000]},
    "half a character": "\ud800",
    "half a character deep inside": {"names": ["caf\udce9"], "\udce9": 1},
    "a generator": (number for number in range(3)),
    "a class": dict,
    "a function": deep,
    "a dead weak reference": dead_proxy(),
    "nothing": None,
}


@pytest.mark.parametrize("name", ODD_VALUES)
def test_a_value_that_json_cannot_hold_becomes_text(name):
    result = Results().wrap(ODD_VALUES[name])
    assert result.ok
    assert json.loads(result.text)["ok"] is True
    result.text.encode()
    result.brief.encode()


@given(JSON_VALUES)
def test_a_value_that_json_can_hold_arrives_as_it_is(value):
    result = Results().wrap(value)
    loaded = json.loads(result.text)
    if isinstance(value, dict):
        assert {**value, "ok": "error" not in value} == loaded
    else:
        assert {"result": value, "ok": True} == loaded


ANYTHING = st.recursive(
    st.none()
    | st.integers()
    | st.floats()
    | st.text(st.characters())
    | st.binary()
    | st.dates()
    | st.complex_numbers(),
    lambda inner: (
        st.lists(inner, max_size=3)
        | st.tuples(inner, inner)
        | st.dictionaries(st.text(max_size=3) | st.integers() | st.floats() | st.none(), inner, max_size=3)
    ),
    max_leaves=6,
)


@given(ANYTHING, st.integers(1, 50))
def test_every_value_becomes_json_that_says_whether_it_worked(value, limit):
    result = Results(limit=limit).wrap(value)
    failed = isinstance(value, dict) and "error" in value
    assert (not failed) is result.ok is json.loads(result.text, parse_constant=pytest.fail)["ok"]


@given(OBJECTS)
def test_a_dict_with_error_is_a_failure(value):
    assert not Results().wrap({**value, "error": "it broke"}).ok


def test_a_tool_can_not_claim_success_with_its_own_ok():
    assert {"error": "x", "ok": False} == json.loads(Results().wrap({"error": "x", "ok": True}).text)


def test_text_that_needs_no_escape_stays_readable():
    assert '{"city": "Zürich 😀", "ok": true}' == Results().wrap({"city": "Zürich 😀"}).text


def test_halves_of_a_character_that_belong_together_are_joined():
    assert {"result": "😀", "ok": True} == json.loads(Results().wrap("\ud83d\ude00").text)


# -- long results --------------------------------------------------------------------------------


def test_a_result_of_exactly_the_limit_is_not_cut():
    result = Results(limit=1_000).wrap("x" * 1_000)
    assert ("", "x" * 1_000) == (result.handle, json.loads(result.text)["result"])


def test_one_character_more_is_cut_to_three_quarters_head_and_one_quarter_tail():
    result = Results(limit=1_000).wrap("a" * 800 + "b" * 201)
    assert ("r1", 1_001) == (result.handle, result.size)
    cut = json.loads(result.text)
    assert ("a" * 750, "a" * 49 + "b" * 201) == (cut["head"], cut["tail"][-250:])
    assert 250 == len(cut["tail"])
    assert cut["cut"].startswith("The first 750 and the last 250 of 1,001 characters. Read on with")
    assert "more(handle='r1', page=1 to 2)" in cut["cut"]


def test_the_default_limit_is_16_000_characters():
    assert not Results().wrap("x" * 16_000).handle
    cut = json.loads(Results().wrap("x" * 16_001).text)
    assert (12_000, 4_000) == (len(cut["head"]), len(cut["tail"]))


@pytest.mark.parametrize("text", ['"' * 5_000, "\n" * 5_000, "\x00" * 5_000, '{"a": "\\""}' * 900])
def test_a_cut_result_is_never_much_longer_than_the_limit_however_much_json_escapes(text):
    assert len(Results(limit=1_000).wrap(text).text) < 1_200


@given(st.text(min_size=1, max_size=300) | ANYTHING, st.integers(1, 40))
def test_all_pages_in_order_are_the_whole(value, limit):
    results = Results(limit=limit)
    result = results.wrap(value)
    if not result.handle:
        return
    first = results.more(result.handle)
    pages = [results.more(result.handle, page)["text"] for page in range(1, first["pages"] + 1)]
    assert result.size == len("".join(pages))
    if isinstance(value, str):
        assert value == "".join(pages)
    else:
        assert result.ok is json.loads("".join(pages))["ok"]


def test_a_page_is_never_cut_itself():
    results = Results(limit=1_000)
    handle = results.wrap('"' * 10_000).handle
    page = results.wrap(results.more(handle, 2))
    assert ("", True) == (page.handle, page.ok)
    assert {"page": 2, "pages": 20, "text": '"' * 500, "ok": True} == json.loads(page.text)


def test_a_failure_is_cut_like_any_other_result():
    result = Results(limit=100).wrap({"error": "x" * 500})
    assert (False, "r1") == (result.ok, result.handle)
    assert json.loads(result.text)["ok"] is False


def test_the_same_long_result_keeps_its_handle_so_that_it_looks_the_same():
    results = Results(limit=100)
    assert results.wrap("x" * 500) == results.wrap("x" * 500)
    assert "r2" == results.wrap("y" * 500).handle


def test_a_handle_that_is_not_there_names_those_that_are():
    results = Results(limit=10)
    results.wrap("x" * 50)
    with pytest.raises(ToolError, match=r"No cut result under handle 'r7'\. Known handles: r1\."):
        results.more("r7")


@pytest.mark.parametrize("page", [0, -1, 6])
def test_a_page_that_is_not_there_is_an_error_that_says_how_many_there_are(page):
    results = Results(limit=10)
    results.wrap("x" * 50)
    with pytest.raises(ToolError, match="pages 1 to 5; there is no page"):
        results.more("r1", page)


def test_of_too_many_kept_results_the_oldest_go():
    results = Results(limit=10, keep=1_000)
    for letter in "abc":
        results.wrap(letter * 400)
    with pytest.raises(ToolError, match="Known handles: r2, r3"):
        results.more("r1")
    assert "c" * 10 == results.more("r3")["text"]


# -- a few words ---------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("value", "expected"),
    [
        ({"error": "it broke"}, "it broke"),
        ({"rows": 5, "brief": "1,284 × 4"}, "1,284 × 4"),
        ({"km": 42.195}, "42.195"),
        ({"a": 1, "b": 2}, ""),
        ("two\nlines", "two lines"),
        ("x" * 100, "x" * 79 + "…"),
        (1234.5678, "1,234.57"),
        (True, "true"),
        (None, "null"),
        ([1, 2], ""),
    ],
    ids=repr,
)
def test_the_row_shows_a_few_words(value, expected):
    assert expected == Results().wrap(value).brief
