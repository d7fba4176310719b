import re

import pytest

from agent_magics.talk import (
    Approval,
    Compacting,
    Event,
    Noticed,
    Retrying,
    Saying,
    StageDone,
    Thinking,
    ToolMade,
    ToolProgress,
    fold,
)
from agent_magics.ui import settled
from agent_magics.ui.markdown import html
from agent_magics.ui.panel import AT_WORK, WIDGET_VIEW, Panel

from .conftest import widgets
from .front import FrontEnd
from .harmless import assert_harmless, bare
from .test_markdown import HOSTILE
from .turns import answered, asked, began, call, ended, replied, returned, sent, started, with_a_call


class Shown:
    """A panel on a page, with a clock that the test moves."""

    def __init__(self, front: FrontEnd, *, editing: bool = True) -> None:
        self.front = front
        self.stops = 0
        self.answers: list[tuple[str, Approval]] = []
        self.edits: list[tuple[str, str]] = []
        self.panel = Panel(
            front.publish,
            on_stop=self._stop,
            on_answer=lambda id_, approval: self.answers.append((id_, approval)),
            on_edit=(lambda id_, text: self.edits.append((id_, text))) if editing else None,
            model="m-0",
        )
        self.panel.show()
        self.now = 1e9  # long after the clock that the panel began with

    def play(self, *events: Event, after: float = 1.0) -> None:
        self.now += after
        for event in events:
            self.panel.play(event)
        self.panel.flush(self.now)

    def _stop(self) -> None:
        self.stops += 1


@pytest.fixture
def shown(front: FrontEnd) -> Shown:
    return Shown(front)


def words(markup: str) -> str:
    return " ".join(re.sub(r"<[^>]+>", " ", markup).replace("&nbsp;", " ").split())


def test_the_panel_is_published_as_a_view_and_one_short_line(shown: Shown):
    (bundle,) = shown.front.displays

    assert {WIDGET_VIEW, "text/plain"} == bundle.keys()
    assert AT_WORK == bundle["text/plain"]


@pytest.mark.parametrize(
    ("events", "phase"),
    [
        ([], "Thinking m-0"),
        ([began(), sent()], "Thinking m-1"),
        ([began(), Thinking(text="Hm.")], "Thinking m-1"),
        ([began(), Saying(text="So")], "Answering m-1"),
        ([began(), replied("", "", call()), started(call())], "Running inspect m-1"),
        (
            [began(), replied("", "", call(), call("c2")), started(call()), started(call("c2"))],
            "Running 2 tools m-1",
        ),
        ([began(), replied("", "", call()), started(call()), returned()], "Thinking m-1"),
        ([began(), replied("", "", call()), started(call()), asked()], "Waiting for you m-1"),
        (
            [began(), replied("", "", call(name="make_tool")), started(call(name="make_tool"))],
            "Writing a tool m-1",
        ),
        (
            [began(), Retrying(attempt=2, tries=3, delay=7, why="529 overloaded")],
            "Retrying in 8 s 2 of 3 · 529 overloaded",
        ),
    ],
)
def test_the_header_says_what_is_going_on(shown: Shown, events: list[Event], phase: str):
    shown.play(*events)

    assert phase == words(shown.front.html().split("\n")[0])


def test_summing_up_is_shown_until_it_is_done(shown: Shown):
    shown.play(began(), Compacting())
    assert "Summing up earlier messages" in shown.front.html()
    shown.play(Noticed(text="Compacted: about 9k → 2k tokens (4 messages summed up).", at=0.0))
    assert "Summing up" not in shown.front.html()


def test_a_retry_counts_down_and_is_gone_when_the_model_speaks(shown: Shown):
    shown.play(began(), Retrying(attempt=2, tries=3, delay=7, why="529"))
    shown.play(after=3)
    assert "Retrying in 5 s" in shown.front.html()

    shown.play(Saying(text="Here"))
    assert "Retrying" not in shown.front.html()


def test_thinking_shows_its_last_whole_sentence_and_then_its_time(shown: Shown):
    shown.play(began(), Thinking(text="Look first. I should ins"))
    assert "Thinking Look first." in words(shown.front.html())

    shown.play(replied("", "Look first. I should inspect.", thought=6.2))
    assert "6.2 s Thought" in words(shown.front.html())
    assert "Thinking, " not in shown.front.html()


def test_text_shows_as_markdown_while_it_arrives_and_is_whole_at_the_end(shown: Shown):
    shown.play(began(), Saying(text="It has **7 ro"))
    assert "<p>It has <strong>7 ro</strong></p>" in bare(shown.front.html())

    shown.play(Saying(text="ws**."), replied("It has **7 rows**."))
    assert html("It has **7 rows**.") in shown.front.html()


def test_what_was_not_played_is_shown_when_the_reply_is_whole(shown: Shown):
    shown.play(began(), Saying(text="It h"), replied("It has $7^2$ rows.", "Count them."))

    assert html("It has $7^2$ rows.") in shown.front.html()
    assert "Thought" in shown.front.html()
    assert "It h<" not in shown.front.html()


def test_a_call_is_a_row_that_says_how_it_went(shown: Shown):
    shown.play(began(), replied("", "", call()), started(call()))
    assert 'running inspect (name="trips")' in words(shown.front.html()).replace("&quot;", '"')

    shown.play(ToolProgress(id="c1", text="half way"))
    assert "running · half way" in shown.front.html()

    shown.play(returned())
    assert '12 ms ✓ inspect (name="trips") → 7' in words(shown.front.html()).replace("&quot;", '"')


def test_a_row_holds_the_arguments_and_the_result(shown: Shown):
    shown.play(*with_a_call()[:5])

    shown_words = words(shown.front.html()).replace("&quot;", '"')
    assert 'Arguments { "name" : "trips" } Result { "result" : 7 }' in shown_words


def test_a_result_leaves_the_arguments_untouched(shown: Shown):
    shown.play(*with_a_call()[:4])
    arguments = next(id_ for id_, model in shown.front.seen() if "Arguments" in str(model.get("value")))
    shown.front.updates.clear()

    shown.play(returned())

    assert arguments not in [id_ for id_, _ in shown.front.updates]


def test_rows_read_the_same_live_and_settled(shown: Shown):
    events = with_a_call(asked(), answered())
    shown.play(*events[:-1])
    live = [words(line) for line in shown.front.html().split("\n") if "agm-sum" in line]

    markup = settled.turn_html(fold(events))
    assert live == [words(line) for line in re.findall(r"<summary.*?</summary>", markup)]


def test_a_tool_that_is_written_tells_its_stages(shown: Shown):
    make = call(name="make_tool")
    shown.play(began(), replied("", "", make), started(make))
    shown.play(StageDone(id="c1", tool="area", stage="check", ok=True, seconds=0.4))
    assert "check ✓ New tool area" in words(shown.front.html())

    shown.play(
        StageDone(id="c1", tool="area", stage="probe", ok=True, seconds=2.0), asked(make, kind="generated")
    )
    assert "2 checks passed, 2.4 s ✓ New tool area" in words(shown.front.html())

    shown.play(
        answered(), ToolMade(id="c1", name="area", version=1, sha256="", source="", at=0.0), returned()
    )
    assert "approved by you ✓ New tool area" in words(shown.front.html())


def test_a_notice_is_a_line(shown: Shown):
    shown.play(began(), Noticed(text="Approvals are off: nobody was asked.", at=0.0))

    assert "Approvals are off: nobody was asked." in words(shown.front.html())


def test_tokens_that_arrive_are_an_estimate_and_then_exact(shown: Shown):
    shown.play(began(), Saying(text="x" * 400))
    assert "~100 tokens" in shown.front.html()

    shown.play(replied("x" * 400))
    assert "· 120 tokens" in shown.front.html()


def test_nothing_is_sent_when_nothing_changed(shown: Shown):
    shown.play(began(), Saying(text="One."), after=0)
    before = shown.front.messages

    for _ in range(10):
        shown.play(after=0)

    assert before == shown.front.messages


def test_stop_is_said_once(shown: Shown):
    shown.play(began())
    stop = shown.front.find("Stop")
    shown.front.click(stop)
    shown.front.click(stop)
    shown.play()

    assert 1 == shown.stops
    assert shown.front.disabled("Stop")
    assert "Stopping" in shown.front.html()


def test_every_comm_is_owned_also_of_widgets_that_come_later_or_are_gone(shown: Shown):
    shown.play(*with_a_call(asked())[:-3])
    shown.play(answered())

    assert all(map(shown.panel.owns, shown.front.comms))
    assert not shown.panel.owns("another")


def test_settling_replaces_the_panel_and_leaves_no_widget(front: FrontEnd):
    before = widgets()
    shown = Shown(front)
    events = with_a_call(asked(), answered())
    shown.play(*events)
    shown.panel.settle(fold(events))

    assert before == widgets()
    assert {} == front.models
    assert "text/html" in front.displays[-1]
    assert WIDGET_VIEW not in front.displays[-1]


def test_a_turn_that_ends_while_asking_leaves_no_card_and_no_widget(front: FrontEnd):
    before = widgets()
    shown = Shown(front)
    shown.play(*with_a_call(asked())[:5])
    shown.play(ended(stop="cancelled"))
    assert "Approve" not in front.buttons()

    shown.panel.settle(fold([began(), ended(stop="cancelled")]))
    assert before == widgets()


def test_a_reloaded_page_keeps_the_settled_turn_until_the_next_panel(front: FrontEnd):
    before = widgets()
    shown = Shown(front)
    events = with_a_call()
    shown.play(*events)
    root = front.root
    shown.panel.settle(fold(events), keep=True)

    assert [root] == [id_ for id_, model in front.models.items() if "agm" in model.get("_dom_classes", ())]
    values = [str(model.get("value")) for _, model in front.seen(root)]
    assert settled.turn_html(fold(events)) in values

    following = Shown(front)
    assert root not in front.models
    following.panel.close()
    assert before == widgets()


def test_a_mouse_that_rests_on_a_row_reads_nothing(shown: Shown):
    """A browser would show the missing tooltip of a toggle as ``null``."""
    shown.play(*with_a_call())
    toggles = [model for model in shown.front.models.values() if model["_model_name"] == "ToggleButtonModel"]

    assert ["", ""] == [model["tooltip"] for model in toggles]


def test_folds_settle_as_the_person_left_them(shown: Shown):
    events = with_a_call()
    shown.play(*events)
    shown.front.write(shown.front.row("inspect"), True)
    assert frozenset({"c1"}) == shown.panel.opened
    assert "open" in shown.front.models[shown.front.row("inspect")]["description"]

    shown.panel.settle(fold(events))
    assert [False, True] == [
        " open" in tag for tag in re.findall("<details[^>]*>", shown.front.displays[-1]["text/html"])
    ]


@pytest.mark.parametrize("text", HOSTILE)
def test_nothing_that_anybody_says_acts_in_the_live_panel(shown: Shown, text: str):
    bad = call(name=text, **{text: text, "more": [text, text]})
    shown.play(
        began(model=text),
        Thinking(text=text),
        Saying(text=text),
        Noticed(text=text, at=0.0),
        replied(text, text, bad),
        started(bad),
        ToolProgress(id="c1", text=text),
        StageDone(id="c1", tool=text, stage=text, ok=False, detail=text),
        asked(bad, reason=text, source=text, facts=((text, text),)),
    )
    assert_harmless(shown.front.html().replace("<dl", "<div").replace("<dt", "<div").replace("<dd", "<div"))

    shown.play(
        Retrying(attempt=1, tries=2, delay=9, why=text),
        answered("reject", comment=text),
        returned(text=text, brief=text),
    )
    assert_harmless(shown.front.html())
