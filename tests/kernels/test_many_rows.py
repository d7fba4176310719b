"""Many rows in a cell: the bar that stays, and the interrupt that keeps what was paid for."""

from __future__ import annotations

import time
from pathlib import Path

from tests.kernels.conftest import oldest_and_newest
from tests.kernels.page import Page
from tests.patience import PROMPT

SLOW = """
import asyncio
from agent_magics import extract_many

class Slow:
    name, model, window = "slow", "1", 0
    async def fetch(self, messages, tools, *, schema=None):
        await asyncio.sleep(0.05)
        yield Saying(text='{"age": 3}')
        yield Usage(input=2, output=1)
    async def aclose(self):
        pass
"""


@oldest_and_newest
def test_a_bar_is_drawn_in_the_cell_and_its_end_stays(page: Page) -> None:
    page.run(SLOW)
    cell = page.run("rows = extract_many([f'row {n}' for n in range(200)], 'age int', provider=Slow())")

    assert "200 of 200 rows" in page.shown(cell, "text/plain")
    assert 'role="progressbar"' in page.shown(cell, "text/html")
    assert 1 == len(page.outputs(cell))
    assert "200 0" in page.printed(page.run("print(len(rows), len(rows.failures))"))


@oldest_and_newest
def test_an_interrupt_ends_it_at_once_and_the_next_run_goes_on(page: Page, tmp_path: Path) -> None:
    path = str(tmp_path / "run.db")
    page.run(SLOW)
    ask = (
        f"extract_many((f'row {{n}}' for n in range(600)), 'age int', provider=Slow(), checkpoint={path!r}, "
    )
    cell = page.start(f"rows = {ask}concurrency=4)")
    page.kernel.until(lambda: "rows ·" in page.shown(cell, "text/plain"), "the bar")
    pressed = time.monotonic()
    page.kernel.interrupt()
    assert "error" == cell.result()["status"]

    assert time.monotonic() - pressed < PROMPT
    assert "KeyboardInterrupt" in page.error(cell)
    again = page.run(f"rows = {ask}concurrency=100)")
    assert "from the checkpoint" in page.shown(again, "text/plain")
    assert "True True" in page.printed(page.run("print(len(rows) == 600, 0 < rows.reused < 600)"))
