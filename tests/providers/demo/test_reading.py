"""What the rules see of texts, figures, dates and results."""

from __future__ import annotations

import datetime as dt
import json
import math

import pytest
from hypothesis import given
from hypothesis import strategies as st

from agent_magics.providers.demo.dates import dates
from agent_magics.providers.demo.figures import figure, is_exact, numbers
from agent_magics.providers.demo.lexicon import Lexicon
from agent_magics.providers.demo.outcomes import literal_value, outcome
from agent_magics.providers.demo.parts import cut
from agent_magics.providers.demo.passage import Passage
from agent_magics.providers.demo.reporting import block, escaped, fenced, table

ELSE = "Don't try the same thing in another way; ask, or go on without it."


@given(st.integers(-(10**12), 10**12))
def test_whole_numbers_are_read_as_they_are_shown(value):
    assert [value] == [found.value for found in numbers(f"it is {figure(value)}!")]


@given(st.floats(-1e12, 1e12))
def test_a_figure_is_near_its_number_and_says_if_it_is_not_it(value):
    shown = figure(value)
    if "×" in shown:
        mantissa, power = shown.split(" × 10")
        read = float(mantissa) * 10.0 ** int(power.translate(str.maketrans("⁻⁰¹²³⁴⁵⁶⁷⁸⁹", "-0123456789")))
    else:
        read = float(shown.replace(",", ""))
    assert math.isclose(value, read, rel_tol=1e-5, abs_tol=1e-300)
    assert not is_exact(value) or math.isclose(value, read, rel_tol=1e-11)


@pytest.mark.parametrize(
    "text, found",
    [
        ("1,234.5 and 1.234,5", [1234.5, 1234.5]),
        ("3,5,9", [3, 5, 9]),
        ("3,5 km", [3.5]),
        ("2½ or 3/4", [2.5, 0.75]),
        ("−40 to -1.5e3", [-40, -1500.0]),
        ("3-5", [3, 5]),
        ("x2, utf8, v1.2", []),
        ("thirty-two, a dozen, two hundred and five", [32, 12, 205]),
        ("one of them", []),
        ("٣٠ ३० ３０", [30, 30, 30]),
        ("\x1f¼", [0.25]),
        ("9" * 400, []),
        ("1e999", []),
    ],
)
def test_numbers_are_found_as_people_write_them(text, found):
    assert found == [number.value for number in numbers(text)]


@pytest.mark.parametrize(
    "text, found",
    [
        ("5/3/2024 and 13/3/2024", ["2024-05-03", "2024-03-13"]),
        ("1st of March 2022", ["2022-03-01"]),
        ("from 3 May to June 1st, 2024", ["2024-05-03", "2024-06-01"]),
        ("31 February 2024, 2024-13-01", []),
        ("may I have 3 apples", []),
    ],
)
def test_dates_are_found_as_people_write_them(text, found):
    assert found == [date.day.isoformat() for date in dates(text)]


def test_days_without_a_year_and_days_by_name_need_to_know_today():
    today = dt.date(2026, 11, 30)
    assert [] == dates("tomorrow, or 3 May")
    assert ["2026-12-01", "2026-05-03"] == [
        date.day.isoformat() for date in dates("tomorrow, or 3 May", today)
    ]


@pytest.mark.parametrize(
    "text, bare, quoted, tail",
    [
        ('count "a b" now', "count “” now", ("a b",), ""),
        ("don't count 'a b'", "don't count “”", ("a b",), ""),
        ("what is in `df`?", "what is in df?", (), ""),
        ("run `1 + 1`", "run “”", ("1 + 1",), ""),
        ("Count the words: a b", "Count the words:", (), "a b"),
        ("How many lines does this have?\n\nx\ny", "How many lines does this have?", (), "x\ny"),
        ("x\ny\nHow many lines is that?", "How many lines is that?", (), "x\ny"),
        ("at 12:30 see https://x.org", "at 12:30 see https://x.org", (), ""),
        ("keep:\n```python\nx = 1\n```", "keep:", ("x = 1\n",), ""),
        ("{braces} and {{more}}", "{braces} and {{more}}", (), ""),
    ],
)
def test_request_and_material_are_told_apart(text, bare, quoted, tail):
    passage = Passage.of(text)
    assert (bare, quoted, tail) == (passage.bare, passage.quoted, passage.tail)


@pytest.mark.parametrize(
    "text, parts",
    [
        ("convert 1 m to feet and yards", ["convert 1 m to feet", "yards"]),
        ("mean of 3 and 4", ["mean of 3 and 4"]),
        ("days between 3 May and 1 June", ["days between 3 May and 1 June"]),
        ("reverse it and then double it", ["reverse it", "double it"]),
    ],
)
def test_a_question_is_cut_where_a_request_begins(text, parts):
    assert parts == cut(text, Lexicon(), ())


@pytest.mark.parametrize(
    "content, ok, value",
    [
        ('{"result": 86.0, "ok": true}', True, 86.0),
        ('{"fahrenheit": 86.0, "ok": true}', True, {"fahrenheit": 86.0}),
        ('{"value": [1], "brief": "1 item", "ok": true}', True, [1]),
        ("86", True, 86),
        ("no JSON at all", True, "no JSON at all"),
        ("", True, ""),
        ("[" * 100_000, True, "[" * 100_000),
        ('{"cut": "The first …", "head": "a", "tail": "z", "ok": true}', True, "a\n…\nz"),
    ],
)
def test_results_are_unwrapped(content, ok, value):
    read = outcome(content)
    assert (ok, value) == (read.ok, read.value)


@pytest.mark.parametrize(
    "told, refused, unknown, comment",
    [
        ({"error": "ValueError: x"}, False, False, ""),
        ({"error": 'unknown tool: "x". Available: a'}, False, True, ""),
        (
            {"error": f"The user rejected this call: too slow. {ELSE}", "rejected": True},
            True,
            False,
            "too slow.",
        ),
        ({"error": "run_python needs an approval.", "rejected": True}, True, False, ""),
        (
            {"error": "Attempt 1 of 3 at x: the check rejected it. Line 2.", "stage": "check"},
            False,
            False,
            "",
        ),
        ({"error": "A hook refused this call: no"}, True, False, "no"),
    ],
)
def test_failures_are_told_apart(told, refused, unknown, comment):
    read = outcome(json.dumps({**told, "ok": False}))
    assert (False, refused, unknown, comment) == (read.ok, read.refused, read.unknown, read.comment)


def test_a_repr_is_read_as_the_value_it_was():
    assert {"van": 34.2} == literal_value("{'van': 34.2}")
    assert [1, 2] == literal_value("(1, 2)")
    assert "<Axes: >" == literal_value("<Axes: >")


def test_what_is_told_is_shown_as_it_is():
    assert r"\*a\* \`b\` \$x\$ \<i> snake_case \_x\_" == escaped("*a* `b` $x$ <i> snake_case _x_")
    assert "````\na ``` b\n````" == fenced("a ``` b")
    assert "| a | b |\n|---|---:|\n| x | 1 |\n|  | 2,000 |" == table([{"a": "x", "b": 1}, {"b": 2000}])
    assert "… and 5 more." in table([{"a": each} for each in range(25)])
    assert "- a\n- b" == block(["a", "b"])
