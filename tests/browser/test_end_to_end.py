"""``%%agent`` in JupyterLab, clicked through by a browser, on every generation of the kernel."""

from __future__ import annotations

import pytest

from .cells import ENDLESS, TRIPS, scripted
from .conftest import OpenLive

pytestmark = pytest.mark.browser

KERNELS = pytest.mark.parametrize("kernel", ["7.4.0", "7.3.0", "6.31.0"])
MULTIPLY = "run_python('answer = 6 * 7')"
ASK = "%%agent --into reply\nWhat is six times seven?"


@KERNELS
def test_run_all_waits_for_the_click_and_goes_on_with_what_the_turn_bound(live: OpenLive, kernel: str):
    page = live(
        scripted(MULTIPLY, "'It is **42**.'"), ASK, "print(1, answer)", "print(2, reply)", kernel=kernel
    )
    page.run_all()
    page.asks()
    assert ["[1]:", "[*]:", "[*]:", "[*]:"] == [page.number(cell) for cell in range(4)]

    page.press("Approve")
    page.printed(3, "2 It is **42**.")
    page.printed(2, "1 42")
    assert ["[1]:", "[2]:", "[3]:", "[4]:"] == [page.number(cell) for cell in range(4)]


@KERNELS
def test_a_rejection_and_its_comment_reach_the_model(live: OpenLive, kernel: str):
    page = live(
        scripted(MULTIPLY, "'Then I leave it.'"),
        ASK,
        "print('told:', model.requests[-1][0][-1]['content'], 'answer' in globals())",
        kernel=kernel,
    )
    page.run_all()
    page.asks()
    page.comment("not on the raw data")
    page.press("Reject")
    page.at_rest()

    told = page.output(2).inner_text()
    assert "The user rejected this call: not on the raw data" in told
    assert told.strip().endswith("False")
    assert "rejected by you" in page.settled().inner_text()
    assert "Then I leave it." in page.settled().inner_text()


@KERNELS
def test_always_this_session_is_not_asked_again_for_the_same_text(live: OpenLive, kernel: str):
    count = "run_python('n = globals().get(\"n\", 0) + 1')"
    page = live(
        scripted(count, "'one.'", count, "'two.'", "run_python('n = 100')", "'three.'"),
        "%agent count",
        "%agent count again",
        "%agent something else",
        "print('n is', n)",
        kernel=kernel,
    )
    page.run_all()
    page.press("Always this session")
    page.output(2).get_by_text("two.").wait_for()
    page.press("Reject")
    page.printed(4, "n is 2")
    assert "n is 2" == page.output(4).inner_text().strip()


@KERNELS
def test_stop_ends_the_turn_and_the_cells_behind_it(live: OpenLive, kernel: str):
    page = live(ENDLESS, "%agent talk", "print('ran all the same')", kernel=kernel)
    page.run_all()
    page.at(".agm-text").get_by_text("word20").wait_for()
    page.press("Stop")
    page.settled().wait_for()
    page.at_rest()

    assert "Stopped. The conversation keeps this turn." in page.settled().inner_text()
    assert "Stopped; the cells that follow do not run." in page.output(1).inner_text()
    assert "" == page.output(2).inner_text()
    page.run(2)
    page.printed(2, "ran all the same")


def test_the_demo_looks_at_a_table_asks_and_answers(live: OpenLive):
    page = live(
        TRIPS,
        "%%agent --provider demo --into reply\nwhat is the mean of mph by vehicle in trips?",
        "print('bound:', _turn.reply == reply, [call.name for call in _turn.calls])",
    )
    page.run_all()
    page.press("Approve")
    page.printed(2, "bound: True ['inspect', 'run_python']")

    shown = page.settled().inner_text()
    assert "bicycle" in shown and "32" in shown and "42" in shown
    assert ["[1]:", "[2]:", "[3]:"] == [page.number(cell) for cell in range(3)]
    assert 0 == page.panel().count()
