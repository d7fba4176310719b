"""What the main thread does for a turn: posted work is done there or dropped, never waited for in vain."""

from __future__ import annotations

import threading
from collections.abc import Callable
from concurrent.futures import Future
from types import SimpleNamespace
from typing import Any

import pytest

from agent_magics.notebook.bridge import Bridge
from agent_magics.notebook.pump import Pump, Work
from agent_magics.notebook.screen import Screen
from agent_magics.talk import ApprovalAsked, ToolCall, Turn

TURN = Turn(id="t", prompt="hello", stop="done")


class BrokenScreen(Screen):
    def draw(self, now: float) -> None:
        raise RuntimeError("no more paper")


class Log:
    """A piece of work that notes what became of it."""

    def __init__(self) -> None:
        self.said: list[str] = []

    @property
    def work(self) -> Work:
        return Work(do=lambda: self.note("done"), drop=lambda: self.note("dropped"))

    def note(self, what: str) -> None:
        self.said.append(f"{what} in {threading.current_thread().name}")


@pytest.fixture
def pump() -> Pump:
    return Pump(Bridge(SimpleNamespace()))


def serve(pump: Pump, future: Future[Turn], begin: Callable[[Any], object], screen: Screen) -> Turn:
    """Serve the turn of this future; cancelling it ends it."""

    def started(view: Any) -> Future[Turn]:
        begin(view)
        return future

    return pump.run(started, lambda: future.set_result(TURN), screen, lambda code: None)


def question(id_: str) -> ApprovalAsked:
    call = ToolCall(id="c1", name="run_python", arguments={})
    return ApprovalAsked(
        id=id_, call=call, tool="run_python", kind="catalog", reason="", source="", sha256="", at=0
    )


def test_work_is_refused_while_no_cell_waits(pump):
    log = Log()
    assert pump.post(log.work) is False
    assert [] == log.said


def test_work_from_another_thread_is_done_on_the_main_thread(pump):
    log, future = Log(), Future[Turn]()

    def work_and_end() -> None:
        assert pump.post(log.work)
        pump.post(Work(do=lambda: future.set_result(TURN), drop=lambda: None))

    assert TURN == serve(
        pump, future, lambda view: threading.Thread(target=work_and_end).start(), Screen("none")
    )
    assert ["done in MainThread"] == log.said


def test_work_that_nobody_will_do_any_more_is_dropped_when_the_cell_ends(pump):
    log, future = Log(), Future[Turn]()
    with pytest.raises(RuntimeError, match="no more paper"):
        serve(pump, future, lambda view: pump.post(log.work), BrokenScreen("none"))
    assert (True, ["dropped in MainThread"]) == (future.done(), log.said)


def test_work_that_is_interrupted_ends_the_turn_and_is_dropped_after_it(pump):
    log, future = Log(), Future[Turn]()

    def interrupted() -> None:
        raise KeyboardInterrupt

    def drop() -> None:
        log.note(f"dropped, the turn was {'over' if future.done() else 'running'}")

    with pytest.raises(KeyboardInterrupt):
        serve(pump, future, lambda view: pump.post(Work(do=interrupted, drop=drop)), Screen("none"))
    assert ["dropped, the turn was over in MainThread"] == log.said


def test_a_question_can_be_asked_only_while_a_screen_shows_it(pump):
    modes: list[str | None] = []
    future = Future[Turn]()
    future.set_result(TURN)

    def ask(view: Any) -> None:
        modes.append(pump.mode("a1b2"))
        view(question("a1b2"))
        modes.extend((pump.mode("a1b2"), pump.mode("ffff")))

    serve(pump, future, ask, Screen("input"))
    assert [None, "input", None, None] == [*modes, pump.mode("a1b2")]
