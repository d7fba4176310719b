"""While text streams in, what a person has opened, scrolled, focused or selected stays so."""

from __future__ import annotations

import pytest

from .conftest import OpenNotebook
from .lab import Notebook

STREAM = "import stage, script\ns = stage.Stage()\n_ = await s.play(script.streaming())"

STATE = """() => ({
    open: [...document.querySelectorAll('.agm-tw')].map(each => each.classList.contains('mod-active')),
    scrolled: [...document.querySelectorAll('.agm-body pre')].map(each => Math.round(each.scrollTop)),
    focus: document.activeElement.textContent,
    selected: getSelection().toString(),
})"""
SELECT = """() => {
    const text = document.querySelector('.agm-text p').firstChild, range = document.createRange();
    range.setStart(text, 5); range.setEnd(text, 60);
    getSelection().removeAllRanges(); getSelection().addRange(range);
}"""
WORDS = "() => document.querySelector('.agm-text').textContent.length"


def more(page: Notebook, characters: int) -> None:
    """Wait until the answer has grown by so much."""
    length = page.page.evaluate(WORDS)
    page.wait(f"least => ({WORDS})() > least", argument=length + characters)


@pytest.fixture
def page(notebook: OpenNotebook) -> Notebook:
    page = notebook(STREAM, "1 + 1")
    page.run_all()
    page.at(".agm-text p >> nth=3").wait_for()
    return page


@pytest.mark.browser
def test_open_folds_inner_scroll_focus_and_selection_survive_updates(page: Notebook):
    page.at(".agm-tw").nth(1).click()
    page.at(".agm-body pre").last.evaluate("pre => { pre.scrollTop = 120 }")
    page.at(".agm-tw").nth(0).focus()
    page.page.evaluate(SELECT)
    before = page.page.evaluate(STATE)
    assert [False, True] == before["open"]
    assert 120 == before["scrolled"][-1]
    assert "Thought for 6.2 s, closed" == before["focus"]
    assert 55 == len(before["selected"])

    more(page, 600)
    assert before == page.page.evaluate(STATE)


@pytest.mark.browser
def test_a_reader_below_the_panel_is_not_moved_by_thoughts(notebook: OpenNotebook):
    """The live body of thinking has a height of its own, and scrolls."""
    page = notebook(
        "import stage, script\ns = stage.Stage()\n_ = await s.hold([*script.until_approval()][:40] * 6)",
        "1 + 1",
    )
    page.run_all()
    page.at(".agm-think .agm-tw").first.click()
    page.wait("() => document.querySelector('.agm-think > .agm-body').scrollHeight > 300")

    assert 240 == page.page.evaluate("() => document.querySelector('.agm-think > .agm-body').offsetHeight")


@pytest.mark.browser
def test_stop_ends_the_turn_and_the_panel_says_so(page: Notebook):
    page.button("Stop").click()
    page.settled().wait_for()

    assert "· stopped" in page.settled().inner_text()
    assert "Stopped. The conversation keeps this turn." in page.settled().inner_text()
    assert 0 == page.panel().count()


@pytest.mark.browser
@pytest.mark.parametrize("width", [1000, 560])
def test_nothing_sticks_out_of_the_panel(notebook: OpenNotebook, width: int):
    page = notebook(
        "import stage, script\ns = stage.Stage()\n_ = await s.hold(script.wide())", "1 + 1", width=width
    )
    page.run_all()
    page.at(".agm-acts").wait_for()
    sticking = """() => {
        const right = document.querySelector('.agm').getBoundingClientRect().right;
        const clipped = each => each.closest('pre, table, .agm-sum, .agm-who') !== null;
        return [...document.querySelectorAll('.agm *')]
            .filter(each => each.checkVisibility() && !clipped(each))
            .filter(each => each.getBoundingClientRect().right > right + 1)
            .map(each => each.className + ' ' + each.textContent.slice(0, 30));
    }"""

    assert [] == page.page.evaluate(sticking)
