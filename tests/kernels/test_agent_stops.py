"""Interrupt and Stop at every moment of a turn: it settles, says so, and what was queued doesn't run."""

from __future__ import annotations

import time

import pytest

from tests.kernels.kernel import Request
from tests.kernels.page import Page

HALF_A_SECOND = 0.5 + 0.5  # what the contract allows, and as much for two cores that run two suites

STREAM = "play([Saying(text='So far, '), Hang()])"
SLOW_TOOL = """
@tool
def count_sheep(until: int) -> int:
    "Counts."
    print("counting", flush=True)
    time.sleep(30)

current_session().toolbox.add(count_sheep)
play(call('count_sheep', until=3), 'Done.')
"""
ASYNC_TOOL = SLOW_TOOL.replace("def count", "async def count").replace(
    "time.", "await __import__('asyncio')."
)
CODE = """
import sys
cell = sys.stdout  # run_python keeps back what is printed to its own
play(run_python("print('deep inside', file=cell, flush=True); time.sleep(30)"), 'Done.')
"""


def stopped(page: Page, cell: Request, queued: Request) -> None:
    """The cell settled as stopped, nothing queued ran, and the next turn works."""
    assert cell.result()["ename"] == "TurnStopped"
    assert page.error(cell) == "Stopped; the cells that follow do not run."
    assert "**Stopped.**" in page.shown(cell)
    assert queued.result()["status"] == "aborted"
    assert page.widgets == {}
    page.run("stopped = _turn; play('Here I am.')")
    assert page.shown(page.run("%agent are you there?")).endswith("Here I am.")
    assert page.printed(page.run("print(stopped.stop, current_session().busy)")) == "cancelled False\n"


def starts(page: Page, prepare: str, seen: str) -> tuple[Request, Request]:
    """A running turn that shows this, and a cell that waits behind it."""
    page.run(prepare)
    cell, queued = page.start("%%agent --into reply\nGo on."), page.start("print('ran')")
    page.kernel.until(lambda: any(seen in text for text in page.visible()), f"{seen!r} to be shown")
    return cell, queued


def interrupt(page: Page, cell: Request) -> float:
    """Interrupt the kernel; how long the cell took to end."""
    began = time.monotonic()
    page.kernel.interrupt()
    cell.result()
    return time.monotonic() - began


def test_an_interrupt_while_text_arrives_keeps_what_was_said(page: Page) -> None:
    cell, queued = starts(page, STREAM, "So far,")
    assert interrupt(page, cell) < HALF_A_SECOND
    assert "So far," in page.shown(cell)
    stopped(page, cell, queued)


def test_an_interrupt_while_it_waits_for_an_answer_ends_the_question(page: Page) -> None:
    cell, queued = starts(page, "play(run_python('n = 1'), 'Done.')", "Run this?")
    assert interrupt(page, cell) < HALF_A_SECOND
    stopped(page, cell, queued)
    assert page.printed(page.run("print('n' in globals())")) == "False\n"


def test_an_interrupt_leaves_a_tool_on_its_thread_behind_and_says_so(page: Page) -> None:
    cell, queued = starts(page, SLOW_TOOL, "Running count_sheep")
    assert interrupt(page, cell) < HALF_A_SECOND
    assert "count_sheep could not be interrupted" in page.shown(cell)
    stopped(page, cell, queued)


def test_an_interrupt_cancels_an_async_tool(page: Page) -> None:
    cell, queued = starts(page, ASYNC_TOOL, "Running count_sheep")
    assert interrupt(page, cell) < HALF_A_SECOND
    assert "could not be interrupted" not in page.shown(cell)
    stopped(page, cell, queued)


def test_an_interrupt_ends_code_on_the_main_thread(page: Page) -> None:
    page.run("%config AgentMagics.approve = 'always'")
    cell, queued = starts(page, CODE, "Running run_python")
    page.kernel.until(lambda: page.printed(cell) == "deep inside\n", "the code to run")
    assert interrupt(page, cell) < HALF_A_SECOND
    stopped(page, cell, queued)


def test_an_interrupt_of_a_line_of_input_ends_the_turn(page: Page) -> None:
    page.run("play(run_python('n = 1'), 'Done.')")
    page.run("%config AgentMagics.frontend = 'input'")
    cell = page.start("%agent go on")
    queued = page.start("print('ran')")
    page.kernel.next("stdin", "input_request")
    assert interrupt(page, cell) < HALF_A_SECOND
    assert cell.result()["ename"] == "TurnStopped"
    assert queued.result()["status"] == "aborted"


@pytest.mark.parametrize(
    ("prepare", "seen"),
    [(STREAM, "So far,"), ("play(run_python('n = 1'))", "Run this?"), (ASYNC_TOOL, "Running count_sheep")],
)
def test_the_stop_button_does_what_an_interrupt_does(page: Page, prepare: str, seen: str) -> None:
    cell, queued = starts(page, prepare, seen)
    page.press("Stop")
    assert cell.result()["ename"] == "TurnStopped"
    stopped(page, cell, queued)


def test_two_interrupts_in_a_row_leave_a_settled_panel(page: Page) -> None:
    cell, queued = starts(page, STREAM, "So far,")
    page.kernel.interrupt()
    page.kernel.interrupt()
    assert cell.result()["status"] == "error"
    assert queued.result()["status"] == "aborted"
    assert page.widgets == {}
    page.run("play('Here I am.')")
    assert page.shown(page.run("%agent are you there?")).endswith("Here I am.")


def test_a_stopped_turn_binds_nothing_but_the_turn(page: Page) -> None:
    cell, queued = starts(page, f"reply = 'earlier'; {STREAM}", "So far,")
    interrupt(page, cell)
    stopped(page, cell, queued)
    assert page.printed(page.run("print(reply)")) == "earlier\n"


def test_the_model_hears_how_the_stopped_turn_ended(page: Page) -> None:
    cell, _ = starts(page, "play(run_python('n = 1'), 'Done.')", "Run this?")
    interrupt(page, cell)
    page.run("play('Fine.')")
    page.run("%agent go on")
    roles = "print([message['role'] for message in current_session().provider.requests[-1][0]])"
    assert page.printed(page.run(roles)) == "['system', 'user', 'assistant', 'tool', 'assistant', 'user']\n"


def test_an_interrupt_under_a_timer_reaches_the_queue_too(page: Page) -> None:
    page.run(STREAM)
    cell, queued = page.start("%%time\n%%agent\nGo on."), page.start("print('ran')")
    page.kernel.until(lambda: any("So far," in text for text in page.visible()), "text")
    page.kernel.interrupt()
    assert cell.result()["status"] == "error"
    assert queued.result()["status"] == "aborted"
    assert "**Stopped.**" in page.shown(cell)
