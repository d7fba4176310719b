import json
import re
from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from agent_magics.talk import (
    STOPS,
    CallRecord,
    Noticed,
    Opaque,
    Stage,
    StageDone,
    Step,
    ToolMade,
    ToolResult,
    Turn,
    fold,
)
from agent_magics.talk.codec import decode
from agent_magics.ui.settled import MIME, bundle, turn_html

from .harmless import assert_harmless, typeset
from .test_markdown import HOSTILE
from .test_panel import words
from .test_portable import assert_portable
from .turns import answered, asked, began, call, ended, replied, returned, started, with_a_call


@pytest.fixture
def turn() -> Turn:
    return fold(with_a_call(asked(), answered()))


def hostile(text: str) -> Turn:
    """A turn in which everything that anybody says is this."""
    of = call(name=text, **{text: text})
    record = CallRecord(call=of, shown=text, result=ToolResult(ok=True, text=text, brief=text))
    step = Step(text=text, thinking=text, calls=(record,))
    return Turn(
        id="t",
        prompt=text,
        model=text,
        steps=(step, step),
        reply=text,
        stop="done",
        error=text,
        notices=(text,),
    )


def test_a_turn_is_a_bundle_of_html_markdown_text_and_data(turn: Turn):
    assert ["text/html", "text/markdown", "text/plain", MIME] == list(bundle(turn))


def test_the_html_tells_the_turn_in_order(turn: Turn):
    said = words(turn_html(turn)).replace("&quot;", '"')

    told = [
        "3 s · 120 tokens",
        "Agent",
        "m-1",
        "6.2 s",
        "Thought",
        "Look first.",
        "12 ms ✓",
        "inspect",
        "→ 7",
        "7",
    ]
    places = [said.index(each) for each in told]
    assert sorted(places) == places
    assert said.endswith("It has 7 rows.")


def test_the_html_needs_nothing_that_a_sanitizer_takes_away(turn: Turn):
    markup = turn_html(turn)

    assert_harmless(markup)
    for lost in ("<style", "var(", "flex", "role=", "aria-"):
        assert lost not in markup


def test_folds_are_closed_but_for_those_that_were_open(turn: Turn):
    tags = re.findall("<details[^>]*>", turn_html(turn, opened=frozenset({"thought-0"})))

    assert [True, False] == [tag.endswith(" open>") for tag in tags]


def test_text_between_calls_stands_where_it_was_said():
    events = with_a_call()
    step = replace(fold(events).steps[0], text="I'll look.")
    said = words(turn_html(replace(fold(events), steps=(step, fold(events).steps[1]))))

    assert said.index("I'll look.") < said.index("inspect")


@pytest.mark.parametrize("stop", STOPS)
def test_every_way_to_end_says_what_happened(turn: Turn, stop: str):
    markup = turn_html(replace(turn, stop=stop))

    assert (stop == "done") == ("border-left:3px" not in markup)
    assert (stop in ("provider_error", "context_full")) == ("rgba(211,47,47" in markup)


def test_an_error_is_shown_in_its_own_three_lines(turn: Turn):
    error = "No API key for 'x'.\n$X_KEY is empty.\nSet it with `%agent /key x`."
    markup = turn_html(replace(turn, stop="provider_error", error=error))

    assert (
        "<b>No API key for &#x27;x&#x27;.</b><br><span>$</span>X_KEY is empty.<br>"
        "Set it with <code>%agent /key x</code>."
    ) in markup


def test_a_stopped_turn_says_so_in_its_header_and_keeps_what_was_said(turn: Turn):
    said = words(turn_html(replace(turn, stop="cancelled", reply="It has")))

    assert "m-1 · stopped" in said
    assert "Stopped. The conversation keeps this turn." in said
    assert "It has" in said


@pytest.mark.parametrize(
    ("decision", "by", "comment", "shown"),
    [
        (
            "reject",
            "you",
            "ask me first",
            "rejected by you inspect (name=&quot;trips&quot;) → “ask me first”",
        ),
        ("reject", "timeout", "", "rejected, nobody answered inspect"),
        ("reject", "policy", "", "rejected, nobody was asked inspect"),
    ],
)
def test_a_rejected_call_says_who_rejected_it(decision: str, by: str, comment: str, shown: str):
    turn = fold(with_a_call(asked(), answered(decision, by, comment)))  # type: ignore[arg-type]

    assert shown in words(turn_html(turn))


def test_a_failed_call_and_one_without_a_result_say_so(turn: Turn):
    (record,) = turn.calls
    failed = replace(record, result=ToolResult(ok=False, text='{"error": "no"}', brief="no"))
    left = replace(record, result=None, approval=None)

    assert "12 ms ✕ failed" in words(turn_html(replace(turn, steps=(Step(calls=(failed,)),))))
    assert "stopped inspect" in words(turn_html(replace(turn, steps=(Step(calls=(left,)),))))


def test_a_notice_stands_in_every_representation():
    turn = fold(with_a_call(Noticed(text="Nobody was asked.", at=0.0)))
    made = bundle(turn)

    assert "Nobody was asked." in made["text/html"]
    assert "Nobody was asked." in made["text/markdown"]
    assert ["Nobody was asked."] == made[MIME]["notices"]


def test_the_data_rebuilds_the_turn(turn: Turn):
    assert turn == decode(json.loads(json.dumps(bundle(turn)[MIME])))


def test_the_data_leaves_out_private_blocks_and_caps_results(turn: Turn):
    (record,) = turn.calls
    long = ToolResult(ok=True, text=json.dumps({"result": "x" * 50_000, "ok": True}), size=90_000)
    step = Step(
        calls=(replace(record, result=long),), opaque=(Opaque(provider="x", block={"signature": "s"}),)
    )
    data = decode(bundle(replace(turn, steps=(step,)))[MIME])

    assert () == data.steps[0].opaque
    assert 90_000 == data.calls[0].result.size
    assert "characters left out" in data.calls[0].result.text
    assert len(data.calls[0].result.text) < 2_100


def test_a_long_result_says_how_much_of_it_is_shown(turn: Turn):
    (record,) = turn.calls
    long = ToolResult(ok=True, text=json.dumps({"result": "x" * 50_000, "ok": True}), size=50_026)
    markup = turn_html(replace(turn, steps=(Step(calls=(replace(record, result=long),)),)))

    assert "Result · first 2,000 of 50,026 characters" in markup
    assert len(markup) < 10_000


def test_a_typical_turn_takes_at_most_35_kilobytes():
    events = with_a_call()
    text = "A paragraph of some words, as answers have them, with `code` and **bold**. " * 8
    body = "\n\n".join(
        [text, "| a | b |\n|--|--|\n" + "| 1 | 2 |\n" * 6, "```python\nx = 1\n" * 1 + "```", text]
    )
    steps = (*fold(events).steps[:1] * 6, replace(fold(events).steps[1], text=body))
    made = bundle(replace(fold(events), steps=steps, reply=body))

    assert len(json.dumps(made, ensure_ascii=False).encode()) <= 35_000


def test_the_plain_text_is_one_short_line(turn: Turn):
    made = bundle(replace(turn, reply="word " * 5_000))["text/plain"]

    assert made.startswith("[agent] 1 tool call, 3 s · 120 tokens. word word")
    assert len(made) < 300
    assert "\n" not in made


@pytest.mark.parametrize("text", HOSTILE)
def test_nothing_that_anybody_says_acts_in_a_saved_notebook(text: str):
    made = bundle(hostile(text))

    assert_harmless(made["text/html"])
    assert_portable(made["text/markdown"])


@given(st.text(alphabet="<>\"'&`*$\\|[](): \n\u202e\ud800\x1ba", max_size=30))
def test_no_text_breaks_out_of_a_bundle(text: str):
    made = bundle(hostile(text))

    json.dumps(made, ensure_ascii=False).encode()
    assert_harmless(made["text/html"])
    assert made["text/html"].count('class="math"') == len(typeset(made["text/html"]))
    assert_portable(made["text/markdown"])


def test_the_stages_of_a_made_tool_are_in_the_settled_row():
    make = call(name="make_tool")
    told = [
        began(),
        replied("", "", make),
        started(make),
        StageDone(id="c1", tool="area", stage="check", ok=True, detail="12 lines", seconds=0.4),
        StageDone(id="c1", tool="area", stage="probe", ok=True, seconds=2.0),
        ToolMade(id="c1", name="area", version=1, sha256="", source="", at=0.0),
        returned(),
        ended("done"),
    ]
    said = words(turn_html(fold(told)))

    assert "New tool area" in said
    assert "Stages check ✓ 400 ms 12 lines probe ✓ 2.0 s" in said


def test_what_a_stage_said_is_saved_up_to_a_limit():
    long = Stage(tool="area", name="check", ok=False, detail="no " * 1_000)
    record = CallRecord(call=call(name="make_tool"), shown="make_tool", stages=(long,))
    saved = decode(bundle(Turn(id="t", prompt="p", steps=(Step(calls=(record,)),)))[MIME])

    assert 300 == len(saved.calls[0].stages[0].detail)
