"""A hostile model answers ``%%agent``, and its code runs: nothing of it acts, and the card tells all."""

from __future__ import annotations

from typing import Any

import pytest

from .conftest import OpenLive
from .lab import Lab
from .live import LiveNotebook
from .test_hostile import ACTING, CALM

pytestmark = pytest.mark.browser

LOAD = '''%load_ext agent_magics
import script
from agent_magics import provider
from agent_magics.talk import Stop, Thinking, ToolCall
from agent_magics.testing import ScriptedProvider

CODE = """price = "42\\u202e txt.exe\\u200b"  # <img src=x onerror="window.pwned = 1"> <b>$x$</b>
from IPython.display import HTML, Javascript, display
display(HTML("<script>window.pwned = 2</script>"), Javascript("window.pwned = 3"))
print(script.HOSTILE)
class Value:
    def _repr_html_(self): return "<script>window.pwned = 4</script><div class='agm-ask'>Approve</div>"
    def __repr__(self): return script.HOSTILE
Value()"""
unknown = ToolCall(id="c1", name=script.HOSTILE[:60], arguments={script.HOSTILE[:40]: script.HOSTILE})
code = ToolCall(id="c2", name="run_python", arguments={"code": CODE})
model = ScriptedProvider([
    [Thinking(text=script.HOSTILE), unknown, code, Stop(reason="tool_calls")],
    script.HOSTILE,
    RuntimeError(script.HOSTILE),
])
provider("script", lambda **_: model)
%config AgentMagics.provider = "script"'''

WIDER = """() => {
    const root = document.querySelector('.agm') || document.querySelector('.agent-turn');
    return root.scrollWidth - root.clientWidth;
}"""
"""Pixels by which something sticks out."""

COVERED = """() => [...document.querySelectorAll('.agm-acts button')].filter(button => {
    const box = button.getBoundingClientRect();
    const top = document.elementFromPoint(box.left + box.width / 2, box.top + box.height / 2);
    return !button.contains(top);
}).map(button => button.textContent)"""
"""Buttons of the card that something else lies over."""


def acting(page: LiveNotebook) -> dict[str, Any]:
    return page.page.evaluate(ACTING)


def test_nothing_of_a_hostile_turn_acts(live: OpenLive, lab: Lab):
    page = live(
        LOAD, "%%agent --into reply\nBe nice.", "print('whole:', reply == script.HOSTILE)", height=2400
    )
    page.run_all()
    page.asks()
    for row in page.at(".agm-tw").all():
        row.click()
    source = page.at(".agm-src").inner_text()
    assert (
        'price = "42⟨U+202E⟩ txt.exe⟨U+200B⟩"  # <img src=x onerror="window.pwned = 1"> <b>$x$</b>' in source
    )
    assert "end of source, 8 lines" in source
    card = acting(page)
    assert 1 == len(card.pop("cards"))
    assert {name: value for name, value in CALM.items() if name != "cards"} == card
    assert [] == page.page.evaluate(COVERED)
    assert 0 == page.page.evaluate(WIDER)

    page.press("Approve")
    page.printed(2, "whole: True")
    assert CALM == acting(page)
    assert 0 == page.page.evaluate(WIDER)
    assert [] == page.dialogs

    page.save(lab)
    untrusted = page.again(lab, trusted=False)
    untrusted.settled().wait_for()
    assert CALM == acting(untrusted)
    assert [] == untrusted.dialogs


def test_a_hostile_error_shows_as_text(live: OpenLive):
    page = live(LOAD, "model.requests.extend([None] * 2)", "%agent --strict Fail.", height=1600)
    page.run_all()
    page.output(2).locator(".jp-RenderedText").wait_for()
    page.at_rest()
    assert CALM == acting(page)
    acts = "[data-commandlinker-command], [onclick], [onerror], script, img, iframe, a[href^='javascript']"
    assert 0 == page.output(2).locator(acts).count()
    assert [] == page.dialogs
