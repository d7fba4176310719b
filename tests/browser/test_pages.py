"""Pages that come and go while a turn waits, kernels that restart, and what the file keeps."""

from __future__ import annotations

import json
from collections.abc import Callable

import pytest
from playwright.sync_api import Page

from .cells import scripted
from .conftest import OpenLive
from .lab import Lab
from .live import SecondTab
from .test_end_to_end import ASK, KERNELS, MULTIPLY

pytestmark = pytest.mark.browser

DONE = "'It is **42**.'"
EDGE = """which => {
    const box = document.querySelector(which).getBoundingClientRect();
    return [box.right, box.height];
}"""


@KERNELS
def test_a_reloaded_page_shows_the_panel_and_then_the_settled_turn(live: OpenLive, lab: Lab, kernel: str):
    page = live(scripted(MULTIPLY, DONE), ASK, "print(answer, reply)", kernel=kernel)
    page.run(0)
    page.at_rest()
    page.run(1)
    page.asks()
    page.save(lab)
    page.reload()
    page.asks()
    before = page.page.evaluate(EDGE, ".agm-sum")
    page.press("Approve")

    page.settled().get_by_text("It is 42.").wait_for()
    assert before == pytest.approx(page.page.evaluate(EDGE, ".agent-turn summary"), abs=1)
    page.run(2)
    page.printed(2, "42 It is **42**.")
    assert page.settled().is_visible()


def test_what_a_reloaded_page_can_not_save_is_shown_again_by_its_turn(live: OpenLive, lab: Lab):
    page = live(scripted(MULTIPLY, DONE), ASK, "_turn")
    page.run(0)
    page.at_rest()
    page.run(1)
    page.asks()
    page.save(lab)
    page.reload()
    page.press("Approve")
    page.output(1).get_by_text("_turn, in a cell of its own, shows it again.").wait_for()
    page.run(2)
    page.output(2).get_by_text("It is 42.").wait_for()
    book = json.loads(page.save(lab).read_text())
    assert "It is <strong>42</strong>." in "".join(book["cells"][2]["outputs"][0]["data"]["text/html"])


@KERNELS
def test_a_second_tab_shows_the_panel_and_can_answer(
    live: OpenLive, open_page: Callable[..., Page], lab: Lab, kernel: str
):
    page = live(scripted(MULTIPLY, DONE), ASK, "print(answer, reply)", kernel=kernel)
    page.run_all()
    page.asks()
    page.save(lab)
    other = SecondTab(open_page(), lab, page.name)
    other.asks()
    other.press("Approve")

    page.printed(2, "42 It is **42**.")
    page.settled().get_by_text("It is 42.").wait_for()
    other.settled().get_by_text("It is 42.").wait_for()
    assert 0 == page.panel().count()


@KERNELS
def test_a_kernel_restarted_while_it_waits_runs_everything_anew(live: OpenLive, kernel: str):
    page = live(scripted(MULTIPLY, DONE), ASK, "print(answer, reply)", kernel=kernel)
    page.run_all()
    page.asks()
    page.restart()
    page.run_all()
    page.asks()
    page.press("Approve")

    page.printed(2, "42 It is **42**.")
    page.settled().get_by_text("It is 42.").wait_for()
    assert 0 == page.panel().count()


@pytest.mark.parametrize(
    ("kernel", "word", "outcome"),
    [
        ("7.4.0", "approve", "True"),
        ("7.3.0", "approve", "True"),
        ("6.31.0", "approve", "True"),
        ("7.4.0", "reject", "False"),
    ],
)
def test_an_answer_typed_in_another_cell_is_taken_while_the_cell_waits(
    live: OpenLive, kernel: str, word: str, outcome: str
):
    page = live(scripted(MULTIPLY, DONE), ASK, kernel=kernel)
    page.run_all()
    page.asks()
    typed = page.append(f"%agent /{word} {page.question()}")
    page.run(typed)
    page.settled().get_by_text("It is 42.").wait_for()
    page.at_rest()

    said = {"approve": "Approved", "reject": "Rejected"}[word]
    assert f"{said}: run_python." == page.output(typed).inner_text().strip()
    after = page.append("print('answer' in globals())")
    page.run(after)
    page.printed(after, outcome)


def test_the_saved_file_needs_no_kernel_and_no_widget(live: OpenLive, lab: Lab):
    page = live(scripted(MULTIPLY, DONE), ASK)
    page.run_all()
    page.press("Approve")
    page.settled().get_by_text("It is 42.").wait_for()
    path = page.save(lab)
    book = json.loads(path.read_text())

    assert "widgets" not in book["metadata"]
    (output,) = book["cells"][1]["outputs"]
    assert ["application/x-agent-magics.turn+json", "text/html", "text/markdown", "text/plain"] == sorted(
        output["data"]
    )
    lab.shut_kernels()
    page = page.again(lab)
    page.settled().get_by_text("It is 42.").wait_for()
    assert "run_python" in page.settled().inner_text()
    assert "model not found" not in page.at("body").inner_text()
