"""Sessions that a cell's own Python asks: they serve clicks as a magic does, and never hang."""

from __future__ import annotations

import pytest

from tests.kernels.conftest import oldest_and_newest, on_kernel
from tests.kernels.kernel import VERSIONS
from tests.kernels.page import Page

SESSION = """
session = Session(provider=ScriptedProvider([run_python('answer = 6 * 7'), 'It is 42.']))
"""
ROUTES = [on_kernel(version, "shell") for version in VERSIONS] + [
    on_kernel(version, "subshell") for version in VERSIONS if version != "6.31.0"
]
ASKS = ["session.ask('what?')", "await session.ask_async('what?')"]


@pytest.mark.parametrize("ask", ASKS)
@pytest.mark.parametrize(("kernel", "route"), ROUTES, indirect=["kernel"])
def test_a_click_reaches_the_cell_that_asks(page: Page, route: str, ask: str) -> None:
    subshell = page.kernel.new_subshell() if route == "subshell" else None
    page.run(SESSION)
    cells = [page.start(f"turn = {ask}\nprint(turn.reply)"), page.start("print(answer)")]
    page.press("Approve", subshell)
    for cell in cells:
        assert cell.result()["status"] == "ok", page.error(cell)
    assert [page.printed(cell) for cell in cells] == ["It is 42.\n", "42\n"]
    assert "run_python" in page.shown(cells[0])
    assert page.widgets == {}


@oldest_and_newest
@pytest.mark.parametrize("ask", ASKS)
def test_a_turn_that_asks_nothing_shows_nothing(page: Page, ask: str) -> None:
    page.run("session = Session(provider=ScriptedProvider(['Fine.']))")
    cell = page.run(f"turn = {ask}")
    assert page.outputs(cell) == []
    assert page.printed(page.run("print(turn.reply)")) == "Fine.\n"


@pytest.mark.parametrize("ask", ASKS)
def test_an_interrupt_ends_the_turn_and_the_cell(page: Page, ask: str) -> None:
    page.run(SESSION)
    cell, queued = page.start(ask), page.start("print('ran')")
    page.button("Approve")
    page.kernel.interrupt()
    assert cell.result()["status"] == "error"
    assert queued.result()["status"] == "aborted"
    assert "**Stopped.**" in page.shown(cell)
    assert page.widgets == {}
    last = "print(session.conversation.turns[-1].stop, session.busy, 'answer' in globals())"
    assert page.printed(page.run(last)) == "cancelled False False\n"


@pytest.mark.parametrize("ask", ASKS)
def test_stop_ends_the_turn_and_the_cell(page: Page, ask: str) -> None:
    page.run(SESSION)
    cell, queued = page.start(ask), page.start("print('ran')")
    page.button("Approve")
    page.press("Stop")
    assert cell.result()["ename"] == "TurnStopped"
    assert queued.result()["status"] == "aborted"
    assert "**Stopped.**" in page.shown(cell)


@oldest_and_newest
@pytest.mark.parametrize("ask", ASKS)
def test_a_turn_that_the_program_cancels_comes_back_as_cancelled(page: Page, ask: str) -> None:
    page.run("session = Session(provider=ScriptedProvider([[Saying(text='So far'), Hang()]]))")
    page.run("threading.Timer(0.2, session.cancel).start()")
    cell = page.run(f"turn = {ask}; print(turn.stop, turn.reply)")
    assert page.printed(cell) == "cancelled So far\n"


def test_a_thread_may_ask_while_nobody_waits(page: Page) -> None:
    page.run(SESSION)
    page.run("turns = []; worker = threading.Thread(target=lambda: turns.append(session.ask('what?')))")
    page.run("worker.start(); worker.join(10)")
    assert page.printed(page.run("print(turns[0].stop, turns[0].calls[0].approval.comment)")) == (
        "done no cell is waiting for this turn, so there is nowhere to ask\n"
    )


@oldest_and_newest
def test_a_tool_of_the_notebook_is_refused_to_a_thread_while_nobody_waits(page: Page) -> None:
    page.run("session = Session(provider=ScriptedProvider([call('variables'), 'Done.']))")
    page.run("turns = []; worker = threading.Thread(target=lambda: turns.append(session.ask('what?')))")
    page.run("worker.start(); worker.join(10)")
    assert "no cell is waiting for this turn there" in page.printed(
        page.run("print(turns[0].calls[0].result.text)")
    )


def test_a_thread_that_asks_never_borrows_the_cell_of_another_turn(page: Page) -> None:
    page.run(SESSION)
    page.run("play(run_python('mine = 1'), 'Mine.'); turns = []")
    page.run(
        "from pathlib import Path\n"
        "def ask():\n"
        "    turns.append(session.ask('what?'))\n"
        "    Path('asked').touch()\n"
        "worker = threading.Thread(target=ask)"
    )
    cell = page.start("worker.start(); get_ipython().run_line_magic('agent', 'go on')")
    page.button("Approve")
    asked = page.kernel.log.with_name("asked")
    page.kernel.until(asked.exists, "the thread's turn to end")
    page.press("Approve")
    cell.result()
    asked.unlink()
    assert page.printed(page.run("print(turns[0].calls[0].approval.by, mine)")) == "policy 1\n"


def test_two_sessions_may_ask_in_one_cell_at_the_same_time(page: Page) -> None:
    page.run(
        SESSION + "import asyncio\nother = Session(provider=ScriptedProvider([run_python('b = 2'), 'B.']))"
    )
    cell = page.start(
        "both = await asyncio.gather(session.ask_async('a?'), other.ask_async('b?'))\n"
        "print([turn.reply for turn in both])"
    )
    for _ in range(2):
        approve = page.button("Approve")
        page.kernel.click(approve)
        page.kernel.until(lambda approve=approve: approve not in page.widgets, "the card to go")
    assert cell.result()["status"] == "ok", page.error(cell)
    assert page.printed(cell) == "['It is 42.', 'B.']\n"
    assert page.printed(page.run("print(answer, b)")) == "42 2\n"


@oldest_and_newest
def test_a_tool_that_asks_its_own_session_is_refused(page: Page) -> None:
    page.run(
        "@tool(needs_kernel=True)\n"
        "def again() -> str:\n"
        "    'Asks again.'\n"
        "    return current_session().ask('and?').reply\n"
        "current_session().toolbox.add(again)\n"
        "play(call('again'), 'Done.')"
    )
    page.run("%agent go on")
    assert "A turn can't be started from inside a turn" in page.printed(page.run("print(told())"))


@oldest_and_newest
def test_code_that_asks_the_agent_is_refused(page: Page) -> None:
    page.run("play(run_python('%agent and now?'), 'Done.')")
    cell = page.start("%agent go on")
    page.press("Approve")
    cell.result()
    assert "A turn can't be started from inside a turn" in page.printed(page.run("print(told())"))


@oldest_and_newest
def test_without_anybody_to_ask_the_rejection_is_said_aloud(page: Page) -> None:
    page.run(SESSION)
    cell = page.start("turn = session.ask('what?')\nprint(turn.reply)", person=False)
    assert cell.result()["status"] == "ok"
    assert "rejected, nobody was asked" in page.shown(cell)


@oldest_and_newest
def test_a_tool_of_the_notebook_gets_the_object_behind_a_name(page: Page) -> None:
    page.run(
        "class Trips(list): pass\n"
        "trips = Trips('abc')\n"
        "@tool\n"
        "def count(trips: Trips) -> int:\n"
        "    'Counts.'\n"
        "    assert threading.current_thread() is threading.main_thread()\n"
        "    return len(trips)\n"
        "current_session().toolbox.add(count)\n"
        "play(call('count', trips='trips'), 'Three.')"
    )
    page.run("%agent how many?")
    assert page.printed(page.run("print(told())")) == '{"result": 3, "ok": true}\n'
