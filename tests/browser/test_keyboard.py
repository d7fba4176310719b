"""The panel by keyboard: the order of the controls, Enter, and where the focus goes."""

from __future__ import annotations

import pytest

from .conftest import OpenNotebook
from .lab import Notebook

ASK = "import stage, script\ns = stage.Stage()\n_ = await s.play(script.furlongs(), speed=20)"
FOCUSED = """() => {
    const each = document.activeElement;
    return each.getAttribute('aria-label') || each.placeholder || each.textContent;
}"""


@pytest.fixture
def page(notebook: OpenNotebook) -> Notebook:
    page = notebook(ASK, "print('after', s.answers[-1][1].decision, s.turn.stop)")
    page.run_all()
    page.wait("() => document.querySelector('.agm-acts .mod-primary')?.disabled === false")
    return page


@pytest.mark.browser
def test_the_controls_come_in_the_order_of_the_decision(page: Notebook):
    page.button("Stop").focus()
    order = []
    for _ in range(10):
        order.append(page.page.evaluate(FOCUSED))
        page.page.keyboard.press("Tab")

    assert [
        "Stop",
        "Thought for 6.2 s, closed",
        "inspect, 12 ms ✓, closed",
        "New tool mph_to_furlongs_per_fortnight, closed",
        "Source, 15 lines",
        "Approve",
        "Run once",
        "Edit…",
        "Reject",
        "Comment for the model (optional)",
    ] == order


@pytest.mark.browser
def test_enter_approves_and_the_focus_goes_to_the_row_of_the_tool(page: Notebook):
    page.button("Approve").focus()
    page.page.keyboard.press("Enter")
    page.wait(f"() => ({FOCUSED})().startsWith('New tool')")
    page.settled().wait_for()
    page.page.get_by_text("after approve done").wait_for()

    assert 0 == page.button("Approve").count()


@pytest.mark.browser
def test_enter_in_the_comment_decides_nothing(page: Notebook):
    comment = page.at(".agm-comment input")
    comment.fill("use SI units")
    comment.press("Enter")
    page.button("Reject").click()
    page.page.get_by_text("after reject").wait_for()

    assert "rejected by you" in page.settled().inner_text()
    assert "use SI units" in page.settled().inner_text()


@pytest.mark.browser
def test_space_opens_a_row_and_says_so(page: Notebook):
    row = page.at(".agm-tw").nth(1)
    row.focus()
    page.page.keyboard.press("Space")
    page.wait("() => document.activeElement.textContent === 'inspect, 12 ms ✓, open'")

    assert page.at(".agm-body pre").first.is_visible()


@pytest.mark.browser
def test_the_edited_text_is_handed_back(notebook: OpenNotebook):
    page = notebook(
        "import stage, script\ns = stage.Stage()\n_ = await s.play(script.furlongs(), speed=20)",
        "print('edit', s.edits[0][1].splitlines()[0], s.answers)",
    )
    page.run_all()
    page.button("Edit…").click()
    page.at(".agm textarea").fill("def shorter(): pass\n")
    page.button("Check again").click()
    page.page.get_by_text("Your version is being checked and probed.").wait_for()
    page.button("Stop").click()
    said = page.page.get_by_text("edit def shorter(): pass")
    said.wait_for()

    assert "edit def shorter(): pass []" == said.inner_text().strip()
