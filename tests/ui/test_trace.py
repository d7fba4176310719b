"""M5: the timeline and its table, on the page and as a picture."""

from __future__ import annotations

import re
import xml.etree.ElementTree as ET
from itertools import pairwise

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from agent_magics.agent.commands.command import Report
from agent_magics.agent.commands.trace import of_all, of_one
from agent_magics.talk import CallRecord, Stage, Step, ToolCall, ToolResult, Turn, Usage
from agent_magics.talk.trace import Span, Trace, trace
from agent_magics.ui.report import report
from agent_magics.ui.timeline import PLOT, Bar, marks, timeline, timelines
from agent_magics.ui.trace import bundle, svg
from tests import strategies

from .harmless import assert_harmless
from .test_markdown import HOSTILE
from .test_panel import words
from .test_portable import assert_portable


def span(kind, name, began, seconds, **more) -> Span:
    return Span(kind=kind, name=name, began=began, seconds=seconds, **more)


def told(*spans: Span, seconds: float = 10.0, **more) -> Trace:
    fields = {"prompt": "How far?", "model": "m", "usage": Usage(), "number": 1} | more
    return Trace(spans=spans, seconds=seconds, **fields)


ONE = told(
    span("model", "gpt", 0.0, 2.0, first=0.5, usage=Usage(input=1200, output=30), cost=0.0123),
    span("tool", "make_tool", 2.0, 6.0, own=1.0),
    span("stage", "check", 2.1, 0.4, inner=True),
    span("wait", "make_tool", 3.0, 5.0, inner=True, note="approve, by you"),
    span("model", "gpt", 8.0, 2.0, ok=False, note="failed"),
    usage=Usage(input=1200, output=30),
)


def test_each_kind_of_thing_has_a_lane():
    lanes = timeline(ONE).lanes
    assert ["model", "tools", "tool making", "waiting for you"] == [lane.name for lane in lanes]
    assert [0.0, 0.2, 0.8, 0.2] == pytest.approx(
        [number for bar in lanes[0].bars for number in (bar.left, bar.width)]
    )


def test_lanes_without_anything_are_left_out():
    assert ["model"] == [lane.name for lane in timeline(told(span("model", "m", 0.0, 1.0))).lanes]


def test_the_time_until_the_first_token_is_dark():
    first, second = timeline(ONE).lanes[0].bars
    assert ((0.0, pytest.approx(0.05)),) == first.dark
    assert () == second.dark


def test_several_turns_have_a_lane_each():
    drawn = timelines([ONE, told(span("model", "m", 0.0, 20.0), seconds=20.0, number=2)])
    assert ["1 How far?", "2 How far?"] == [lane.name for lane in drawn.lanes]
    assert [0.1, 1.0] == [lane.bars[0].width for lane in drawn.lanes]


def label_end(bar: Bar) -> float:
    """Where the letters of a bar's label can reach."""
    return bar.left + bar.width + bar.room


SPANS = st.lists(
    st.builds(
        span,
        st.sampled_from(["model", "tool", "stage", "wait"]),
        st.text(max_size=40),
        st.floats(0, 50),
        st.floats(0, 20),
    ),
    max_size=40,
)


@given(SPANS)
def test_labels_never_overlap_and_nothing_leaves_the_picture(spans):
    drawn = timeline(told(*spans, seconds=max([70.0, *(each.ended for each in spans)])))
    for lane in drawn.lanes:
        for bar in lane.bars:
            assert 0.0 <= bar.left < 1.0
            assert label_end(bar) <= 1.0 + 1e-6
            assert bar.room or len(bar.label) * 6 <= bar.width * PLOT
        for row in range(lane.rows):
            bars = sorted((bar for bar in lane.bars if bar.row == row), key=lambda bar: bar.left)
            for before, after in pairwise(bars):
                assert not before.room or label_end(before) <= after.left + 1e-6


@pytest.mark.parametrize("whole", [0.0004, 0.003, 0.9, 7.0, 42.0, 200.0, 5_000.0, 90_000.0, 3e6])
def test_the_axis_has_a_few_round_marks(whole):
    found = marks(whole)
    assert "0" == found[0][1]
    assert 1 <= len(found) <= 9 or whole > 86_400 * 9


def test_the_page_has_the_timeline_the_table_and_the_totals():
    said = words(bundle([ONE], of_one(ONE))["text/html"]).replace("&nbsp;", " ").replace("$ ", "$")
    assert "Turn 1 How far?" in said
    assert "10 s in all · model 4.0 s · tools 1.0 s · waiting for you 5.0 s · 1,200 → 30 tokens" in said
    assert "gpt 0 ms 2.0 s 1,200 → 30 $0.0123 first token 500 ms" in said
    assert "waiting for you 3.0 s 5.0 s approve, by you" in said


def test_bars_tell_more_when_pointed_at():
    html = bundle([ONE], of_one(ONE))["text/html"]
    expected = "model gpt · began at 0 ms · 2.0 s · 1,200 → 30 tokens · $0.0123 · first token 500 ms"
    assert f'title="{expected}"' in html


def test_a_trace_needs_no_style_sheet_script_or_drawing_on_the_page():
    html = bundle([ONE], of_one(ONE))["text/html"]
    assert not re.search(r"<(style|script|svg|img)|var\(|display:flex|\son\w+=", html)


def test_the_picture_is_whole_and_has_the_same_bars():
    root = ET.fromstring(svg(timeline(ONE)))
    name = "{http://www.w3.org/2000/svg}"
    assert f"{name}svg" == root.tag
    assert 5 == len(root.findall(f"{name}g"))
    assert "model gpt" in (root.findtext(f"{name}g/{name}title") or "")


def test_a_report_is_drawn_and_its_text_is_there_too():
    text = Report(of_one(ONE), [ONE])
    shown = report(text)
    assert ["text/html", "image/svg+xml", "text/markdown", "text/plain"] == list(shown)
    assert text == shown["text/plain"]
    assert ["text/html", "text/markdown", "text/plain"] == list(report(Report("**3**", object())))


def test_the_text_lines_up_and_has_a_bar_a_line():
    lines = of_one(ONE).split("\n")
    table = [line for line in lines if line.startswith("|")]
    assert 1 == len({len(line) for line in table})
    assert "█████···················" in table[2]
    assert "·······░░░░░░░░░░░░·····" in table[5]


def test_a_long_turn_is_cut_and_says_so():
    many = told(*(span("tool", "t", number, 1.0) for number in range(400)), seconds=400.0)
    html = bundle([many], of_one(many))["text/html"]
    assert "The last 250 are not shown." in html
    assert len(html) < 200_000


def test_a_usual_trace_is_small():
    assert len(bundle([ONE], of_one(ONE))["text/html"]) < 12_000


def _without_our_own(html: str) -> str:
    """The page without what only a timeline has: titles, and places inside of its own box."""
    return re.sub(r' title="[^"<>]*"|position:(?:absolute|relative);', "", html)


@pytest.mark.parametrize("text", HOSTILE)
def test_hostile_words_are_harmless_in_every_form(text):
    record = CallRecord(
        call=ToolCall(id="c", name=text),
        shown=text,
        result=ToolResult(ok=False, text="{}"),
        stages=(Stage(tool=text, name=text, ok=False, detail=text),),
    )
    one = trace(Turn(id="t", prompt=text, model=text, steps=(Step(calls=(record,)),)), number=1)
    for traces, said in (([one], of_one(one)), ([one, one], of_all([one, one]))):
        shown = bundle(traces, said)
        assert_harmless(_without_our_own(shown["text/html"]))
        assert_portable(shown["text/markdown"])
        ET.fromstring(shown["image/svg+xml"])


@settings(max_examples=40)
@given(st.lists(strategies.TURNS, min_size=1, max_size=2))
def test_any_turns_can_be_drawn(turns):
    traces = [trace(turn, number=number) for number, turn in enumerate(turns, 1)]
    shown = bundle(traces, of_all(traces))
    ET.fromstring(shown["image/svg+xml"])
    places = re.findall(r"[;\"](?:left|width):([^;\"]*)", shown["text/html"])
    wrong = [each for each in places if not re.fullmatch(r"-?[0-9.]+(%|px)", each)]
    assert [] == wrong
