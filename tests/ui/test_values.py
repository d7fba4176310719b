"""X1: a value as a table or tree, whole and while it arrives."""

from __future__ import annotations

import json
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from agent_magics.talk import Noticed, Saying, TurnBegan, TurnEnded, Usage, fold
from agent_magics.ui.partial_value import NOTHING, partial_value, unwrapped
from agent_magics.ui.settled import bundle
from agent_magics.ui.values import value_html, value_markdown, value_plain

from .front import FrontEnd
from .harmless import assert_harmless, typeset
from .test_panel import Shown
from .turns import replied, sent

HOSTILE = (
    "<img src=x onerror=alert(1)> $\\href{javascript:1}{x}$ \u202e<script>1</script> | `x` [a](javascript:1)"
)
values = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False) | st.text() | st.just(HOSTILE),
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(st.text(max_size=9), inner, max_size=4),
    max_leaves=12,
)
WANTED = {
    "type": "object",
    "properties": {"value": {"type": "array", "items": {"type": "object"}}},
    "required": ["value"],
}


def began() -> TurnBegan:
    return TurnBegan(turn="t", prompt="p", provider="x", model="m-1", at=0.0, wanted=WANTED)


def ended(reply: str, stop: str = "done", error: str = "") -> TurnEnded:
    return TurnEnded(stop=stop, reply=reply, usage=Usage(), seconds=1.0, at=0.0, error=error)


def test_objects_in_a_list_are_a_table_with_a_column_for_every_key():
    html = value_html([{"file": "a.py", "line": 3}, {"file": "b.py", "issue": None}])
    assert [3, 3] == [html.count("<tr"), html.count("<th ")]
    assert "text-align:right" in html
    assert "| file | line | issue |\n| --- | --- | --- |\n| a.py | 3 |  |\n| b.py |  |  |" == value_markdown(
        [{"file": "a.py", "line": 3}, {"file": "b.py", "issue": None}]
    )


def test_an_object_is_a_table_of_its_keys_and_nests():
    html = value_html({"name": "Ada", "bugs": [{"line": 3}], "tags": ["a", "b"]})
    assert 2 == html.count("<table")
    assert ">a, b</td>" in html


def test_a_long_list_shows_its_beginning_when_it_is_whole_and_its_end_while_it_grows():
    rows = [{"n": number} for number in range(1_000)]
    whole, growing = value_html(rows), value_html(rows, live=True)
    assert "50 of 1,000 rows are shown." in whole
    assert ">0</td>" in whole
    assert ">999</td>" in growing
    assert ">0</td>" not in growing


def test_an_object_of_very_many_keys_shows_a_hundred_of_them():
    html = value_html({f"key {number}": number for number in range(1_000)})
    assert 100 == html.count("<tr")
    assert "100 of 1,000 rows are shown." in html
    assert ">key 999<" in value_html({f"key {number}": number for number in range(1_000)}, live=True)


@settings(deadline=None)  # the machine may be busy
@given(values)
def test_whatever_is_in_a_value_is_shown_and_nothing_in_it_acts(value):
    for live in (False, True):
        assert_harmless(value_html(value, live=live))
        assert [] == typeset(value_html(value, live=live))
    markdown = value_markdown(value)
    assert "<" not in markdown.replace("\\<", "") or "```" in markdown
    assert "\n" not in value_plain(value, 80)


@settings(deadline=None)  # the machine may be busy
@given(values, st.integers(0, 400))
def test_a_value_cut_anywhere_is_read_as_far_as_it_came(value, at):
    text = json.dumps({"value": value}, ensure_ascii=False)
    got = partial_value(text[:at])
    assert got is NOTHING or isinstance(got, dict)
    assert {"value": value} == partial_value(text)
    assert {"value": value} == partial_value(f"Here:\n~~~json\n{text}\n~~~\nthat is all")


@pytest.mark.parametrize(
    ("text", "seen"),
    [
        ("", NOTHING),
        ("Well, ", NOTHING),
        ("{", {}),
        ('{"name": "Ad', {"name": "Ad"}),
        ('{"name": "Ada", "ag', {"name": "Ada"}),
        ('[{"a": 1}, {"b": tr', [{"a": 1}, {}]),
        ("{this is no JSON", NOTHING),
    ],
)
def test_half_a_value_is_half_a_value(text, seen):
    assert seen == partial_value(text)


def test_a_value_under_its_one_key_is_taken_out():
    assert [1] == unwrapped({"value": [1]}, WANTED)
    assert NOTHING is unwrapped({}, WANTED)
    assert {"value": 1, "more": 2} == unwrapped(
        {"value": 1, "more": 2}, {"properties": {"value": {}, "more": {}}}
    )


@pytest.fixture
def shown(front: FrontEnd) -> Shown:
    return Shown(front)


def live(shown: Shown) -> str:
    return shown.front.html()


def test_a_wanted_value_grows_in_the_panel_as_a_table(shown: Shown):
    shown.play(began(), sent(), Saying(text='{"value": [{"file": "a.p'))
    assert "a.p</td>" in live(shown)
    shown.play(Saying(text='y", "line": 3}, {"file": "b.py"'), after=1.0)
    assert ">3</td>" in live(shown)
    assert "b.py</td>" in live(shown)
    assert '"file"' not in live(shown)


def test_an_answer_that_was_sent_back_folds_away_when_the_next_one_comes(shown: Shown):
    first, second = '{"value": [{"line": "three"}]}', '{"value": [{"line": 3}]}'
    shown.play(began(), sent(), Saying(text=first), replied(first))
    assert "three</td>" in live(shown)
    shown.play(Noticed(text="The answer was sent back: …", at=0.0), sent(1), Saying(text=second), after=1.0)
    assert "three</td>" not in live(shown)
    assert "An answer that was sent back" in live(shown)
    assert ">3</td>" in live(shown)


def test_a_settled_turn_shows_the_value_and_folds_what_was_sent_back():
    first, second = '{"value": [{"line": "three"}]}', '{"value": [{"line": 3}]}'
    turn = fold([began(), sent(), replied(first), sent(1), replied(second, step=1), ended('[{"line": 3}]')])
    shown = bundle(turn)
    assert ">3</td>" in shown["text/html"]
    assert 1 == shown["text/html"].count("An answer that was sent back")
    assert "| line |\n| --- |\n| 3 |" in shown["text/markdown"]
    assert '[{"line": 3}]' in shown["text/plain"]


def test_a_settled_turn_without_a_value_shows_what_was_said_and_why_it_failed():
    turn = fold([began(), sent(), replied("{}"), ended("{}", "provider_error", "It does not keep it.\na\nb")])
    shown = bundle(turn)["text/html"]
    assert "An answer that was sent back" in shown
    assert "It does not keep it." in shown


@pytest.mark.parametrize("reply", ["not JSON", "", "{"])
def test_a_record_from_a_file_with_a_reply_that_is_no_json_is_shown_all_the_same(reply: Any):
    assert "text/html" in bundle(fold([began(), sent(), replied(reply), ended(reply)]))
