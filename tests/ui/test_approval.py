from typing import Any

import pytest

from agent_magics.talk import Approval, Decision
from agent_magics.ui.approval import title

from .front import FrontEnd
from .test_panel import Shown, words
from .turns import SOURCE, answered, asked, began, call, replied, started


@pytest.fixture
def shown(front: FrontEnd) -> Shown:
    return Shown(front)


def ask(shown: Shown, **request: Any) -> None:
    of = call(name="run_python", code=SOURCE, timeout=5)
    shown.play(began(), replied("", "", of), started(of), asked(of, **request))
    shown.play(after=0.6)


def decided(shown: Shown) -> list[tuple[str, str, str, str]]:
    return [(id_, answer.decision, answer.by, answer.comment) for id_, answer in shown.answers]


def test_the_card_shows_what_would_run_in_full_and_what_the_answer_is_bound_to(shown: Shown):
    ask(shown, facts=(("May use", "`http_get`, a <b>host</b>"),))

    said = words(shown.front.html()).replace("&quot;", '"')
    assert "Run this? run_python It runs code." in said
    assert "end of source, 2 lines" in said
    assert "timeout 5 May use http_get , a &lt;b&gt;host&lt;/b&gt;" in said
    assert "sha256 9f2c41d7" in said
    assert "rejected in 10 minutes" in said
    assert "%agent /approve 7f3a" in said


def test_a_source_is_whole_numbered_and_without_a_hidden_character(shown: Shown):
    source = "".join(f"x{number} = {number}\n" for number in range(500)) + "rm = 'a\u202e\u200b'\n"
    ask(shown, source=source)

    markup = shown.front.html()
    assert 501 == markup.count('<span class="l">')
    assert "⟨U+202E⟩⟨U+200B⟩" in markup
    assert "end of source, 501 lines" in markup


def test_arguments_are_shown_whole_and_exactly(shown: Shown):
    of = call(name="write", path="a  b\t.txt", content="first\n" + "x" * 5_000 + "\nrm -rf /")
    shown.play(began(), replied("", "", of), started(of), asked(of, source=""))

    markup = shown.front.html()
    card = markup[markup.index("Run this?") :]
    assert "&quot;a  b\\t.txt&quot;" in card.replace("<span>", "").replace("</span>", "")
    assert "x" * 5_000 + "\nrm -rf /" in card


@pytest.mark.parametrize(
    ("kind", "offered"),
    [
        ("catalog", ["Approve", "Always this session", "Reject"]),
        ("generated", ["Approve", "Run once", "Edit…", "Reject"]),
    ],
)
def test_a_catalog_tool_offers_always_and_a_generated_one_once_and_edit(
    shown: Shown, kind: str, offered: list[str]
):
    ask(shown, kind=kind)

    assert ["Stop", *offered] == shown.front.buttons()


def test_without_somebody_who_takes_edits_there_is_no_edit(front: FrontEnd):
    ask(Shown(front, editing=False), kind="generated")

    assert ["Stop", "Approve", "Run once", "Reject"] == front.buttons()


@pytest.mark.parametrize(
    ("kind", "button", "decision"),
    [
        ("catalog", "Approve", "approve"),
        ("catalog", "Always this session", "always"),
        ("catalog", "Reject", "reject"),
        ("generated", "Approve", "approve"),
        ("generated", "Run once", "once"),
        ("generated", "Reject", "reject"),
    ],
)
def test_each_control_carries_its_own_decision(shown: Shown, kind: str, button: str, decision: str):
    ask(shown, kind=kind)
    shown.front.click(shown.front.find(button))

    assert [("7f3a", decision, "you", "")] == decided(shown)


def test_the_comment_goes_along(shown: Shown):
    ask(shown)
    shown.front.write(shown.front.find("Comment for the model (optional)", "placeholder"), " not now ")
    shown.front.click(shown.front.find("Reject"))

    assert [("7f3a", "reject", "you", "not now")] == decided(shown)


def test_a_double_click_answers_once_and_nothing_else(shown: Shown):
    ask(shown)
    approve = shown.front.find("Approve")
    shown.front.click(approve)
    shown.front.click(approve)
    shown.front.click(shown.front.find("Reject"))

    assert [("7f3a", "approve", "you", "")] == decided(shown)
    assert all(shown.front.disabled(button) for button in ("Approve", "Always this session", "Reject"))


def test_what_approves_takes_no_click_in_the_first_half_second(shown: Shown):
    of = call()
    shown.play(began(), replied("", "", of), started(of), asked(of))
    for button in ("Approve", "Always this session"):
        assert shown.front.disabled(button)
        shown.front.click(shown.front.find(button))
    assert [] == shown.answers
    assert not shown.front.disabled("Reject")

    shown.play(after=0.49)
    assert shown.front.disabled("Approve")
    shown.play(after=0.02)
    assert not shown.front.disabled("Approve")


def test_a_click_on_a_card_that_is_gone_approves_nothing(shown: Shown):
    ask(shown)
    stale = shown.front.find("Approve")
    shown.play(answered("reject", by="timeout"))
    second = call("c2")
    shown.play(replied("", "", second, step=1), started(second), asked(second, id_="beef"))
    shown.play(after=1.0)

    assert stale not in shown.front.models
    shown.front.click(stale)
    assert [] == shown.answers


def test_the_card_goes_when_the_answer_is_known_and_the_row_takes_the_focus(shown: Shown):
    ask(shown)
    shown.front.click(shown.front.find("Approve"))
    shown.play(answered())

    assert ["Stop"] == shown.front.buttons()
    assert [(shown.front.row("run_python"), {"do": "focus"})] == shown.front.custom


def test_an_answer_that_was_not_clicked_leaves_the_focus_alone(shown: Shown):
    ask(shown)
    shown.play(answered("reject", by="timeout"))

    assert [] == shown.front.custom
    assert "rejected, nobody answered" in shown.front.html()


def test_the_second_way_answers_like_a_button(shown: Shown):
    ask(shown)

    assert shown.panel.answer("7f3a", "approve", "go on")
    assert not shown.panel.answer("7f3a", "reject")
    assert [("7f3a", "approve", "you", "go on")] == decided(shown)


@pytest.mark.parametrize(("id_", "decision"), [("0000", "approve"), ("7f3a", "once"), ("7f3a", "")])
def test_the_second_way_answers_only_what_is_asked_with_what_is_offered(
    shown: Shown, id_: str, decision: Decision
):
    ask(shown)

    assert not shown.panel.answer(id_, decision)
    assert [] == shown.answers


def test_an_edited_source_is_handed_back_and_approves_nothing(shown: Shown):
    ask(shown, kind="generated")
    shown.front.click(shown.front.find("Edit…"))
    assert ["Stop", "Check again", "Cancel edit", "Reject"] == shown.front.buttons()

    shown.front.write(shown.front.find(SOURCE, "value"), "def area(r): return 0\n")
    shown.front.click(shown.front.find("Check again"))

    assert [("7f3a", "def area(r): return 0\n")] == shown.edits
    assert [] == shown.answers
    assert not shown.panel.answer("7f3a", "approve")


@pytest.mark.parametrize(
    ("facts", "said"),
    [
        ((), ("Run a new tool?", "The model wrote")),
        ((("Changes", "-1\n+2"),), ("Run a changed tool?", "The model changed")),
    ],
)
def test_a_tool_that_is_kept_already_is_not_called_new(
    facts: tuple[tuple[str, str], ...], said: tuple[str, str]
):
    what, _, below = title(asked(kind="generated", facts=facts, reason=""))
    assert said == (what, below[: len(said[1])])


def test_an_edit_that_was_rejected_is_there_again_with_the_reason(shown: Shown):
    ask(shown, kind="generated")
    shown.front.click(shown.front.find("Edit…"))
    shown.front.write(shown.front.find(SOURCE, "value"), "import os\n")
    shown.front.click(shown.front.find("Check again"))
    facts = (("Your edit", "was rejected by the check: no module os"),)
    shown.play(
        asked(call(name="run_python", code=SOURCE, timeout=5), id_="beef", kind="generated", facts=facts)
    )
    shown.play(after=1.0)

    assert ["Stop", "Check again", "Cancel edit", "Reject"] == shown.front.buttons()
    assert shown.front.find("import os\n", "value")
    assert "rejected by the check: no module os" in shown.front.html()
    shown.front.click(shown.front.find("Cancel edit"))
    shown.front.click(shown.front.find("Approve"))
    assert [("beef", "approve", "you", "")] == decided(shown)


def test_an_edit_can_be_cancelled(shown: Shown):
    ask(shown, kind="generated")
    shown.front.click(shown.front.find("Edit…"))
    shown.front.click(shown.front.find("Cancel edit"))
    shown.front.click(shown.front.find("Approve"))

    assert [("7f3a", "approve", "you", "")] == decided(shown)
    assert [] == shown.edits


def test_a_checked_edit_is_asked_about_on_a_new_card(shown: Shown):
    ask(shown, kind="generated")
    of = call(name="run_python", code=SOURCE, timeout=5)
    shown.play(asked(of, id_="beef", kind="generated", source="def area(r): return 0\n"))
    shown.play(after=1.0)

    assert not shown.panel.answer("7f3a", "approve")
    shown.front.click(shown.front.find("Approve"))
    assert [("beef", "approve", "you", "")] == decided(shown)
    assert isinstance(shown.answers[0][1], Approval)
