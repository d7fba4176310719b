"""The approval in Notebook 7 and nbclassic, beside JupyterLab, in light and in dark."""

from __future__ import annotations

from pathlib import Path

import pytest

from .cells import scripted
from .conftest import OpenLive

pytestmark = pytest.mark.browser

MULTIPLY = "[Thinking(text='I multiply.'), run_python('answer = 6 * 7\\nanswer'), Stop(reason='tool_calls')]"
ANSWER = (
    "'It is **42**: $6 \\\\times 7$.\\n\\n| a | b |\\n|:--|--:|\\n| 6 | 7 |\\n\\n```python\\nx = 1\\n```'"
)


@pytest.mark.parametrize("kernel", ["7.4.0", "6.31.0"])
@pytest.mark.parametrize(
    ("app", "theme"), [("notebooks", "light"), ("notebooks", "dark"), ("nbclassic/notebooks", "light")]
)
def test_the_click_reaches_the_running_cell(live: OpenLive, shots: Path, app: str, theme: str, kernel: str):
    page = live(
        scripted(MULTIPLY, ANSWER),
        "%%agent --into reply\nWhat is six times seven?",
        "print(answer, len(reply))",
        "%agent",
        app=app,
        theme=theme,
        kernel=kernel,
    )
    page.run_all()
    page.asks()
    page.page.screenshot(path=shots / f"{app.replace('/', '-')}-{theme}-asks.png")
    page.press("Approve")
    page.settled().get_by_text("It is 42").wait_for()
    page.output(2).get_by_text("42 ").wait_for()
    page.output(3).get_by_text("live panel with buttons").wait_for()
    page.page.screenshot(path=shots / f"{app.replace('/', '-')}-{theme}-settled.png")
    assert ["[1]:", "[2]:", "[3]:", "[4]:"] == [page.number(cell) for cell in range(4)]
    assert 0 == page.panel().count()
