"""When a panel settles, nothing moves: not a line, not the scroll, not the next cell."""

from __future__ import annotations

from typing import Any

import pytest

from .conftest import OpenNotebook
from .lab import Notebook

PLACES = """() => {
    const root = document.querySelector('.agm') || document.querySelector('.agent-turn');
    const top = root.getBoundingClientRect().top, left = root.getBoundingClientRect().left;
    const lines = [...root.querySelectorAll('summary, .agm-sum, p, li, tr, pre, h1, h2, h3, .math')];
    return lines.filter(line => line.checkVisibility() && !line.closest('.agm-src')).map(line => {
        const box = line.getBoundingClientRect();
        const text = line.textContent.trim().replace(/\\s+/g, ' ').slice(0, 24);
        const walk = document.createTreeWalker(line, NodeFilter.SHOW_TEXT), range = document.createRange();
        let last = null;
        while (walk.nextNode()) if (walk.currentNode.data.trim()) last = walk.currentNode;
        if (last) range.selectNodeContents(last);
        const start = last ? range.getBoundingClientRect().left : box.left;
        return [text, ...[start - left, box.top - top, box.right - left, box.height].map(Math.round)];
    });
}"""
STEADY = """async () => {
    const frame = () => new Promise(requestAnimationFrame), measure = PLACES;
    let last = '', same = 0;
    for (let frames = 0; frames < 600 && same < 20; frames++) {
        await frame();
        const now = JSON.stringify(measure());
        same = now === last ? same + 1 : 0;
        last = now;
    }
    return JSON.parse(last);
}""".replace("PLACES", PLACES)
"""The places once they have been the same for twenty frames: typesetting takes a few."""

EXTENT = """() => {
    const root = document.querySelector('.agm') || document.querySelector('.agent-turn');
    const scroll = document.querySelector('.jp-WindowedPanel-outer');
    const next = [...document.querySelectorAll('.jp-Cell')].pop();
    return {height: root.getBoundingClientRect().height, next: next.getBoundingClientRect().top,
            scroll: scroll.scrollTop, top: root.getBoundingClientRect().top};
}"""


def hold(notebook: OpenNotebook, script: str = "furlongs", **options: Any) -> Notebook:
    """A turn that has said everything and waits for Stop before it settles."""
    turn = f"import stage, script\ns = stage.Stage()\n_ = await s.linger(script.{script}())"
    page = notebook(turn, "1 + 1", **options)
    page.run_all()
    page.at(".agm-text li").last.wait_for()
    page.wait("() => document.querySelector('.agm mjx-container') !== null")
    return page


def settle(page: Notebook) -> None:
    page.button("Stop").dispatch_event("click")  # a real click would first scroll to the button
    page.settled().wait_for()
    page.wait("() => document.querySelector('.agent-turn mjx-container') !== null")


@pytest.mark.browser
@pytest.mark.parametrize("width", [1000, 560])
def test_every_line_keeps_its_place(notebook: OpenNotebook, width: int):
    page = hold(notebook, width=width)
    before, extent = page.page.evaluate(STEADY), page.page.evaluate(EXTENT)
    settle(page)
    after, then = page.page.evaluate(STEADY), page.page.evaluate(EXTENT)

    assert before == after
    assert extent == pytest.approx(then, abs=1)


@pytest.mark.browser
def test_every_kind_of_block_keeps_its_place(notebook: OpenNotebook):
    page = hold(notebook, "every_block", height=4000)
    pieces = page.at(".agm-text > *").count()
    assert pieces > 8
    before = page.page.evaluate(STEADY)
    settle(page)

    assert before == page.page.evaluate(STEADY)


@pytest.mark.browser
def test_open_folds_stay_open_and_everything_stays_in_its_place(notebook: OpenNotebook):
    page = hold(notebook, height=1600)
    for row in (0, 1, 3):
        page.at(".agm-tw").nth(row).click()
    page.wait("() => document.querySelectorAll('.agm-tw.mod-active').length === 3")
    before = page.page.evaluate(STEADY)
    settle(page)

    opened = page.page.evaluate(
        "() => [...document.querySelectorAll('.agent-turn details')].map(each => each.open)"
    )
    assert [True, True, False, True, False, False] == opened
    assert before == page.page.evaluate(STEADY)


@pytest.mark.browser
def test_the_notebook_does_not_scroll(notebook: OpenNotebook):
    page = hold(notebook, height=500)
    page.at(".agm-text li").last.scroll_into_view_if_needed()
    before = page.page.evaluate(EXTENT)
    settle(page)

    assert before == pytest.approx(page.page.evaluate(EXTENT), abs=1)
