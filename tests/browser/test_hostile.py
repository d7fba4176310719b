"""A model and a tool that try to act in the page: live, settled, and in a notebook that nobody trusts."""

from __future__ import annotations

from typing import Any

import pytest

from .conftest import OpenNotebook
from .lab import Lab, Notebook, until

HOSTILE = """import stage, script
s = stage.Stage()
_ = await s.linger(script.hostile())"""

ACTING = """() => {
    const ours = [...document.querySelectorAll('.agm *, .agent-turn *')];
    const all = ours.filter(e => !e.closest('mjx-container'));
    const found = which => all.filter(which).map(e => e.outerHTML.slice(0, 80));
    const attribute = start => e => [...e.attributes].some(a => a.name.startsWith(start));
    return {
        handlers: found(attribute('on')),
        commands: found(attribute('data-commandlinker')),
        elements: found(e => e.matches('script, iframe, object, form, img, svg, link, base')),
        links: found(e => e.matches('a[href]:not([href^="http"], [href^="mailto:"])')),
        buttons: found(e => e.matches('button') && !e.classList.contains('jupyter-button')),
        cards: found(e => e.matches('.agm-ask')),
        ran: window.pwned ?? null,
    };
}"""

CALM: dict[str, Any] = {
    "handlers": [], "commands": [], "elements": [], "links": [], "buttons": [], "cards": [], "ran": None,
}  # fmt: skip


def acting(page: Notebook) -> dict[str, Any]:
    return page.page.evaluate(ACTING)


@pytest.mark.browser
def test_nothing_acts_live_settled_and_reopened_without_trust(notebook: OpenNotebook, lab: Lab):
    page = notebook(HOSTILE, "1 + 1", height=1400)
    page.run_all()
    page.at(".agm-text p").last.wait_for()
    page.wait("() => document.querySelectorAll('.agm-tw').length >= 2")
    for row in page.at(".agm-tw").all():
        row.click()
    page.page.get_by_text("The end of the hostile answer.").first.wait_for()
    assert CALM == acting(page)

    page.button("Stop").dispatch_event("click")
    page.settled().wait_for()
    assert CALM == acting(page)
    assert [] == page.dialogs

    path = page.save(lab)
    text = path.read_text()
    assert "text/markdown" in text
    untrusted = page.again(lab, trusted=False)
    untrusted.settled().first.wait_for()
    assert CALM == acting(untrusted)
    assert [] == untrusted.dialogs
    until(lambda: "The end of the hostile answer." in untrusted.settled().inner_text(), "the answer")


@pytest.mark.browser
def test_a_formula_cannot_be_drawn_over_what_is_around_it(notebook: OpenNotebook):
    page = notebook("import stage, script\ns = stage.Stage()\n_ = await s.linger(script.formulas())", "1 + 1")
    page.run_all()
    page.wait("() => document.querySelector('.agm mjx-container') !== null")
    outside = """root => {
        const box = document.querySelector(root).getBoundingClientRect();
        const points = [[box.left + 40, box.top - 30], [box.left + 40, box.bottom + 30]];
        return points.filter(([x, y]) => document.elementFromPoint(x, y)?.closest('mjx-container')).length;
    }"""
    assert 0 == page.page.evaluate(outside, ".agm-text")

    page.button("Stop").dispatch_event("click")
    page.settled().wait_for()
    page.wait("() => document.querySelector('.agent-turn mjx-container') !== null")
    assert 0 == page.page.evaluate(outside, ".agent-turn")
