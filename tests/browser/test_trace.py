"""M5: the timeline on a real page: it tells when pointed at, and stays where nobody trusts it."""

from __future__ import annotations

import pytest

from .cells import scripted
from .conftest import OpenLive, OpenNotebook
from .lab import Lab
from .test_looks import picture

pytestmark = pytest.mark.browser

REPLIES = (
    "[Thinking(text='Look first.'), run_python('sum(range(2_000_000))'), Stop(reason='tool_calls')]",
    "[Saying(text='It is **1,999,999,000,000**.'), Stop(reason='end')]",
)
BARS = """() => [...document.querySelectorAll('.agent-trace [title]')].map(bar => {
    const root = bar.closest('.agent-trace').getBoundingClientRect(), box = bar.getBoundingClientRect();
    const places = [box.left - root.left, box.top - root.top, box.width, box.height].map(Math.round);
    return [bar.title, bar.textContent, getComputedStyle(bar).backgroundColor, ...places];
})"""


def test_a_trace_is_the_same_in_a_notebook_that_nobody_trusts(live: OpenLive, lab: Lab):
    page = live(scripted(*REPLIES), "%agent Add them up.", "%agent /trace", "%agent /trace all")
    page.run(0)
    page.at_rest()
    page.run(1)
    page.asks()
    page.press("Approve")
    page.settled().get_by_text("1,999,999,000,000").wait_for()
    page.run(2)
    page.output(2).locator(".agent-trace").wait_for()
    page.run(3)
    page.output(3).locator(".agent-trace").wait_for()
    drawn = page.page.evaluate(BARS)
    titles = [bar[0] for bar in drawn]
    assert ["model", "tools", "waiting for you"] == [each for each in titles if " · " not in each][:3]
    assert any(each.startswith("model script · began at ") for each in titles)
    assert any(each.startswith("waiting for you run_python · ") for each in titles)
    assert all(width > 0 and height > 0 for *_, width, height in drawn)

    page.save(lab)
    again = page.again(lab, trusted=False)
    again.at(".agent-trace").nth(1).wait_for()
    assert drawn == again.page.evaluate(BARS)


SHOWN = """from IPython.display import display
from traced import shown
for each in shown():
    display(each, raw=True)"""
CROWDED = """() => [...document.querySelectorAll('.agent-trace')].flatMap(trace => {
    const text = bar => {
        const walk = document.createTreeWalker(bar, NodeFilter.SHOW_TEXT), range = document.createRange();
        if (!walk.nextNode()) return null;
        range.selectNodeContents(walk.currentNode);
        return range.getBoundingClientRect();
    };
    const bars = [...trace.querySelectorAll('[title]')], boxes = bars.map(bar => bar.getBoundingClientRect());
    const wrong = bars.length < 8 ? ['there is hardly a bar'] : [];
    bars.forEach((bar, at) => {
        const letters = text(bar), box = boxes[at];
        if (letters && letters.right > box.right + 1 && getComputedStyle(bar).overflow !== 'hidden')
            wrong.push(`${bar.textContent} leaves its place`);
        boxes.forEach((other, of) => {
            const over = Math.min(box.right, other.right) - Math.max(box.left, other.left);
            const down = Math.min(box.bottom, other.bottom) - Math.max(box.top, other.top);
            const labelled = bar.textContent.trim() || bars[of].textContent.trim();
            if (of > at && over > 1.5 && down > 1.5 && labelled)
                wrong.push(`${bar.title} | ${bars[of].title}`);
        });
    });
    return wrong;
})"""


@pytest.mark.parametrize(("theme", "width"), [("light", 1000), ("dark", 1000), ("light", 560)], ids=str)
def test_nothing_on_a_timeline_stands_over_something_else(notebook: OpenNotebook, theme: str, width: int):
    page = notebook(SHOWN, width=width, height=1500, theme=theme)
    page.run_all()
    page.at(".agent-trace").nth(1).wait_for()
    picture(page, f"trace-{theme}-{width}.png")
    assert [] == page.page.evaluate(CROWDED)
