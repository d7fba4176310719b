"""The toolbar's square, pressed while a turn waits and while it streams."""

from __future__ import annotations

import pytest

from .cells import ENDLESS, scripted
from .conftest import OpenLive
from .live import LiveNotebook
from .test_end_to_end import ASK, KERNELS, MULTIPLY

pytestmark = pytest.mark.browser

STOPPED = "Stopped. The conversation keeps this turn."


def interrupted(page: LiveNotebook) -> None:
    """The panel settled and says so, and the cell behind it did not run."""
    page.settled().wait_for()
    page.at_rest()
    assert STOPPED in page.settled().inner_text()
    assert "· stopped" in page.settled().inner_text()
    assert "Stopped; the cells that follow do not run." in page.output(1).inner_text()
    assert "" == page.output(2).inner_text()
    assert 0 == page.panel().count()


@KERNELS
def test_an_interrupt_while_it_waits_ends_the_turn_and_the_queue(live: OpenLive, kernel: str):
    page = live(scripted(MULTIPLY, "'Second time.'"), ASK, "print('answer' in globals())", kernel=kernel)
    page.run_all()
    page.asks()
    page.interrupt()
    interrupted(page)

    page.run(2)
    page.printed(2, "False")
    page.run(1)
    page.output(1).get_by_text("Second time.").wait_for()
    assert STOPPED not in page.output(1).inner_text()


@KERNELS
def test_an_interrupt_while_it_streams_ends_the_turn_and_the_queue(live: OpenLive, kernel: str):
    page = live(ENDLESS, "%agent talk", "print(_turn.stop, 'word20' in _turn.steps[-1].text)", kernel=kernel)
    page.run_all()
    page.at(".agm-text").get_by_text("word20").wait_for()
    page.interrupt()
    interrupted(page)

    page.run(2)
    page.printed(2, "cancelled True")
    assert "cancelled True" == page.output(2).inner_text().strip()
