"""A session that nobody talks to gives back what it holds, and the next turn finds everything again."""

from __future__ import annotations

import gc
import threading
import weakref
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from agent_magics import Session
from agent_magics.errors import UsageError
from agent_magics.forge import checking
from agent_magics.talk import ToolCall
from agent_magics.testing import FakeAsker, Hang, ScriptedProvider
from agent_magics.tool_making import SharedSandbox, sandbox
from tests.forge.conftest import make_call
from tests.patience import until
from tests.providers.conftest import tiny  # noqa: F401  # the fixture
from tests.sandbox.processes import gone, ours, zygotes

SOON = 0.003  # minutes
SOURCE = "def double(x):\n    return 2 * x"


class Counting(ScriptedProvider):
    """Counts how often it had to give back its sockets."""

    def __init__(self, *replies: Any) -> None:
        super().__init__(replies)
        self.rested = 0

    async def aclose(self) -> None:
        self.rested += 1


@pytest.fixture(autouse=True)
def nothing_runs() -> Iterator[None]:
    """Each test begins and ends with no process that another one left."""
    yield
    sandbox().rest()
    checking.rest()


def use(blorps: float) -> ToolCall:
    return ToolCall(id="use", name="blorps_to_metres", arguments={"blorps": blorps})


def test_a_turn_that_never_began_leaves_a_session_that_rests(tmp_path: Path) -> None:
    provider = Counting("Hello.")
    with Session(provider, cwd=tmp_path, replay="gone.json", idle_minutes=0) as session:
        session.idle.now().result(60)
        session.idle.minutes = SOON  # no clock runs yet: it begins with the end of a turn
        with pytest.raises(UsageError, match="not in the record"):
            session.ask("hello")
        assert not session.busy
        until(lambda: 2 == provider.rested, "the session to rest")
        session.replay = None
        assert "Hello." == session.ask("hello").reply


def test_workers_and_sockets_go_when_idle_and_the_next_turn_brings_them_again(tmp_path: Path) -> None:
    provider = Counting(make_call(), use(2), "7.4 m", use(3), "11.1 m")
    asker = FakeAsker("approve")
    with Session(provider, asker=asker, cwd=tmp_path, idle_minutes=SOON) as session:
        session.idle.minutes = 60
        assert session.ask("How long are 2 blorps?").calls[1].ok
        held = ours("agent_magics")
        assert held & zygotes() and held - zygotes(), "the sandbox's, and the check's"
        session.idle.minutes = SOON
        until(lambda: all(map(gone, held)), "its processes to end")
        assert zygotes() == set()
        assert provider.rested >= 1
        turn = session.ask("And 3?")
        assert turn.calls[0].ok and turn.stop == "done"


def test_a_turn_that_runs_is_not_idle(tmp_path: Path) -> None:
    provider = Counting([Hang()], "later")
    with Session(provider, cwd=tmp_path, idle_minutes=SOON, tool_making="off") as session:
        going = session.start("wait")
        until(lambda: provider.requests)
        session.idle.begin()
        with Session("stub", cwd=tmp_path, idle_minutes=SOON, tool_making="off") as witness:
            witness.ask("hello")  # its clock began later: when it has rung, the other has, too
            until(lambda: witness.idle.rested)
        assert (session.idle.rested, provider.rested) == (0, 0)
        session.cancel()
        assert going.result(10).stop == "cancelled"
        until(lambda: session.idle.rested, "the rest after it")


def test_one_session_does_not_end_what_another_one_uses() -> None:
    shared = SharedSandbox()
    assert shared.call(SOURCE, "double", {"x": 21}).value == 42
    assert not shared.rest(60)
    assert zygotes()
    slow = "def spin():\n    while True: pass"
    calling = threading.Thread(target=lambda: shared.call(slow, "spin", seconds=3))
    calling.start()
    until(lambda: not shared.rest(0), "the call to be under way")
    calling.join(20)
    assert shared.rest(0)
    assert zygotes() == set()
    assert shared.call(SOURCE, "double", {"x": 4}).value == 8


def test_a_negative_time_is_refused_and_none_means_never(tmp_path: Path) -> None:
    with pytest.raises(UsageError, match="idle_minutes=-1"):
        Session("stub", idle_minutes=-1)
    with Session("stub", cwd=tmp_path, idle_minutes=0, tool_making="off") as session:
        session.ask("hello")
        with Session("stub", cwd=tmp_path, idle_minutes=SOON, tool_making="off") as witness:
            witness.ask("hello")
            until(lambda: witness.idle.rested)
        assert session.idle.rested == 0
        session.idle.minutes = SOON
        session.ask("hello")
        until(lambda: session.idle.rested)


def test_a_session_that_can_not_give_something_back_gives_back_the_rest(tmp_path: Path, caplog: Any) -> None:
    given: list[str] = []

    def broken() -> None:
        raise OSError("it sticks")

    with Session("stub", cwd=tmp_path, tool_making="off") as session:
        session.idle.add(broken)
        session.idle.add(lambda: given.append("back"))
        session.idle.now().result(10)
    assert given == ["back"]
    assert "it sticks" in caplog.text


def test_the_clock_keeps_no_session_alive(tmp_path: Path) -> None:
    session = Session("stub", cwd=tmp_path, tool_making="off")
    session.ask("hello")
    there = weakref.ref(session.idle)
    del session
    until(lambda: gc.collect() >= 0 and there() is None, "the session to be let go")
    assert there() is None


def test_a_local_models_server_goes_and_comes_again(tiny: Path, tmp_path: Path) -> None:  # noqa: F811
    options: dict[str, Any] = {"planner": "native", "max_tokens": 8, "tool_making": "off"}
    with Session(f"llama:{tiny}", cwd=tmp_path, idle_minutes=60, **options) as session:
        assert session.ask("hello").usage.output > 0
        assert len(ours("local/server.py")) == 1
        session.idle.minutes = SOON
        until(lambda: not ours("local/server.py"), "the server to end")
        assert session.ask("hello again").usage.output > 0
