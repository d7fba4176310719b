"""M5, M6: limits of a cell, and /trace, in real kernels."""

from __future__ import annotations

import time

from tests.kernels.conftest import oldest_and_newest
from tests.kernels.page import Page
from tests.patience import PROMPT

pytestmark = oldest_and_newest

USED_UP = "the budget of this turn is used up"
STREAM = "play([Saying(text='So far, so good.'), Hang()], 'Here again.')"
ENDLESS = "import time\nprint('deep inside')\nwhile True: time.sleep(0.01)"


def test_time_that_is_up_ends_a_cell_with_what_was_said_and_the_next_one_runs(page: Page) -> None:
    page.run(STREAM)
    cell = page.start("%agent --max-seconds 0.5 --into story tell me a story")
    queued = page.start("print('ran:', story, _turn.stop)")
    assert cell.result()["status"] == "ok"
    assert USED_UP in page.shown(cell)
    assert queued.result()["status"] == "ok"
    assert page.printed(queued) == "ran: So far, so good. budget\n"
    assert page.shown(page.run("%agent and then?")).endswith("Here again.")


def test_time_that_is_up_ends_code_on_the_main_thread(page: Page) -> None:
    page.run("%config AgentMagics.approve = 'always'")
    page.run(f"play(run_python({ENDLESS!r}), 'Here again.')")
    began = time.monotonic()
    cell = page.start("%agent --max-seconds 1 run it")
    queued = page.start("print('ran', _turn.stop, _turn.calls[0].stopped)")
    assert cell.result()["status"] == "ok"
    assert time.monotonic() - began < 1 + PROMPT
    assert USED_UP in page.shown(cell)
    queued.result()
    assert page.printed(queued) == "ran budget True\n"
    assert page.shown(page.run("%agent again?")).endswith("Here again.")


def test_a_turn_cancelled_from_another_thread_ends_code_on_the_main_thread(page: Page) -> None:
    page.run("%config AgentMagics.approve = 'always'")
    page.run(f"play(run_python({ENDLESS!r}), 'Here again.')")
    page.run("threading.Timer(1, current_session().cancel).start()")
    cell = page.start("%agent run it")
    began = time.monotonic()
    assert cell.result()["ename"] == "TurnStopped"
    assert time.monotonic() - began < 1 + PROMPT
    assert page.shown(page.run("%agent again?")).endswith("Here again.")


def test_a_budget_in_dollars_is_refused_where_the_price_is_not_known(page: Page) -> None:
    page.run("play('Hello!')")
    cell = page.start("%agent --budget 0.10 hello")
    assert cell.result()["status"] == "error"
    assert "can't be kept with 'scripted:script': its price is not known." in page.error(cell)
    page.run("%config AgentMagics.provider = 'demo'")
    page.run("%agent --budget 0.10 hello")


def test_a_standing_budget_holds_for_every_cell_until_it_is_taken_back(page: Page) -> None:
    page.run("play('Hello!', 'Hello again!')")
    page.run("%config AgentMagics.budget = 0.5")
    assert "$0.50" in page.shown(page.run("%agent /budget"), "text/plain")
    for _ in range(2):
        cell = page.start("%agent hello")
        assert cell.result()["status"] == "error"
        assert "A budget in dollars can't be kept" in page.error(cell)
    page.run("%config AgentMagics.budget = None")
    assert "no limit" in page.shown(page.run("%agent /budget"), "text/plain")
    assert page.shown(page.run("%agent hello")).endswith("Hello!")


def test_a_trace_is_a_timeline_and_a_table_in_a_cell(page: Page) -> None:
    page.run("%config AgentMagics.approve = 'always'")
    page.run("play(run_python('1 + 1'), 'It is 2.')")
    page.run("%agent what is 1 + 1?")
    cell = page.run("%agent /trace")
    assert 'class="agent-trace"' in page.shown(cell, "text/html")
    assert page.shown(cell, "image/svg+xml").startswith("<svg ")
    assert "| tool run_python" in page.shown(cell, "text/plain")
    assert "| session |" not in page.shown(cell, "text/plain")
    assert "no limit" in page.shown(page.run("%agent /budget"), "text/plain")
