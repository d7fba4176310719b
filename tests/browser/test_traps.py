"""Clicks that were meant for something else approve nothing."""

from __future__ import annotations

import pytest

from .cells import scripted
from .conftest import OpenLive
from .live import LiveNotebook

pytestmark = pytest.mark.browser

TWO = scripted(
    "[run_python('first = globals().get(\"first\", 0) + 1'), Stop(reason='tool_calls')]",
    "[run_python('second = True'), Stop(reason='tool_calls')]",
    "'Done.'",
)
RAN = "print('ran:', globals().get('first', 0), globals().get('second', False))"

SLOW = """() => {
    window.passed = null;
    let since = 0;
    const open = button => {
        const box = button.getBoundingClientRect();
        return !button.disabled && button === document.elementFromPoint(box.left + 9, box.top + 9);
    };
    const watch = () => {
        const button = document.querySelector('.agm-acts button.mod-primary');
        if (button) since ||= performance.now();
        if (button && open(button)) window.passed = performance.now() - since;
        else requestAnimationFrame(watch);
    };
    const busy = new MutationObserver(() => {
        if (!document.querySelector('.agm')) return;
        busy.disconnect();
        for (const until = performance.now() + 1200; performance.now() < until;);
        watch();
    });
    busy.observe(document.body, {childList: true, subtree: true});
}"""
"""A page that stands still for a second, as a busy one does: what is sent meanwhile, it hears all at once.
Notes how long the card is to be seen before a mouse can press Approve."""


def shows(page: LiveNotebook, source: str) -> None:
    """Wait until the card is about this source, and can be answered."""
    page.page.locator(".agm-src", has_text=source).wait_for()
    page.asks()


def ran(page: LiveNotebook) -> str:
    """What the cell that tells of it says, once it does."""
    said = page.output(2).get_by_text("ran: ")
    said.wait_for()
    return said.inner_text().strip()


def test_approve_takes_no_click_in_the_moment_in_which_it_is_seen(live: OpenLive):
    page = live(TWO, "%agent twice")
    page.run(0)
    page.at_rest()
    page.page.evaluate(SLOW)
    page.run(1)
    page.wait("() => window.passed !== null")
    assert page.page.evaluate("window.passed") > 100
    page.press("Reject")
    shows(page, "second")
    page.press("Reject")
    page.settled().wait_for()


def test_a_double_click_approves_only_what_it_was_made_on(live: OpenLive):
    page = live(TWO, "%agent twice", RAN)
    page.run_all()
    shows(page, "first")
    place = page.button("Approve").bounding_box()
    assert place is not None
    page.page.mouse.dblclick(place["x"] + 20, place["y"] + 10)
    shows(page, "second")
    page.press("Reject")
    assert "ran: 1 False" == ran(page)


def test_the_button_of_an_answered_card_does_nothing(live: OpenLive):
    page = live(TWO, "%agent twice", RAN)
    page.run_all()
    shows(page, "first")
    page.page.evaluate("() => { window.stale = document.querySelector('.agm-acts button.mod-primary') }")
    page.press("Approve")
    shows(page, "second")
    page.page.evaluate("() => window.stale.click()")
    page.press("Reject")
    assert "ran: 1 False" == ran(page)


def test_the_id_of_an_answered_question_answers_no_other(live: OpenLive):
    page = live(TWO, "%agent twice", RAN)
    page.run_all()
    shows(page, "first")
    answered = page.question()
    page.press("Approve")
    shows(page, "second")
    assert answered != page.question()
    typed = page.append(f"%agent /approve {answered}")
    page.run(typed)
    page.press("Reject")
    page.output(typed).get_by_text("Nothing waits for an answer").wait_for()
    assert "ran: 1 False" == ran(page)


def test_a_card_from_before_a_restart_approves_nothing(live: OpenLive):
    page = live(TWO, "%agent twice", RAN, "%agent twice")
    page.run(0)
    page.at_rest()
    page.run(1)
    page.asks()
    page.restart()
    page.run(0)
    page.at_rest()
    page.run(3)
    page.output(3).locator(".agm-acts button.mod-primary:not([disabled])").wait_for()
    page.output(1).locator(".agm-acts button.mod-primary").click()
    page.output(3).locator('button:text-is("Reject")').click()
    page.output(3).locator(".agm-src", has_text="second").wait_for()
    page.output(3).locator('button:text-is("Reject")').click()
    page.at_rest()
    page.run(2)
    assert "ran: 0 False" == ran(page)
