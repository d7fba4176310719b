"""kill -9 of a kernel in the middle of ``%%agent``: every step that was told is there again."""

from __future__ import annotations

import json
import os
import random
import sqlite3
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path
from typing import Any

import pytest

from agent_magics.store import FILE, SQLiteStore
from agent_magics.talk import HistoryFact, TurnEnded
from agent_magics.talk.codec import decode
from agent_magics.talk.history import conversation
from tests.conftest import ROOT
from tests.kernels.kernel import VERSIONS, LiveKernel
from tests.kernels.page import Page

KILLS = int(os.environ.get("KERNEL_KILLS", "5"))
"""In a kernel of each version. 200 in all: ``KERNEL_KILLS=100 pytest -n 2 -o timeout=3600``, in 3 minutes."""

TURNS = 20 * KILLS

LOAD = f"""
%load_ext agent_magics
%config AgentMagics.provider = "chatty"
import json, os, random, sys
sys.path.insert(0, {str(ROOT)!r})
from agent_magics import current_session, provider
from agent_magics.talk import Delta
from agent_magics.talk.codec import encode
from tests.store.victims import Chatty, double, fail, later, remove

report = os.open("report", os.O_WRONLY | os.O_APPEND | os.O_CREAT)

def say(kind, value):
    os.write(report, json.dumps([kind, value]).encode() + b"\\n")

@provider("chatty")
def chatty(model=None, **options):
    return Chatty(random.Random(), say)

session = current_session()
for each in (double, fail, later, remove):
    session.toolbox.add(each)
session.subscribe(lambda event: isinstance(event, Delta) or say("fact", encode(event)));
"""


class Report:
    """What the victims said: each fact, once it was told."""

    def __init__(self, path: Path) -> None:
        self._path = path

    def said(self, kind: str) -> list[Any]:
        lines = self._path.read_bytes().splitlines(keepends=True) if self._path.exists() else []
        whole = [json.loads(line) for line in lines if line.endswith(b"\n")]
        return [value for each, value in whole if each == kind]

    @property
    def facts(self) -> list[HistoryFact]:
        return [decode(each) for each in self.said("fact")]

    def clear(self) -> None:
        """Also of half a line: the victim may have died while it spoke."""
        self._path.unlink()


@pytest.fixture(params=[VERSIONS[0], VERSIONS[-1]])
def opened(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[Page]:
    """A saved notebook on a kernel of its own."""
    ids = ["load", *(f"turn {number}" for number in range(TURNS))]
    cells = [{"id": each, "cell_type": "code", "source": "", "metadata": {}, "outputs": []} for each in ids]
    notebook = tmp_path / "trips.ipynb"
    notebook.write_text(json.dumps({"nbformat": 4, "nbformat_minor": 5, "metadata": {}, "cells": cells}))
    with LiveKernel(request.param, tmp_path, JPY_SESSION_NAME=str(notebook)) as kernel:
        yield Page(kernel)


@pytest.fixture
def page(opened: Page) -> Page:
    opened.run(LOAD, cell="load")
    return opened


def until_told(page: Page, report: Report, facts: int, cells: Iterator[str]) -> None:
    """Run turns, and approve what they ask, until so many facts were told."""
    turn = page.start("%%agent\ngo on", cell=next(cells))

    def told() -> bool:
        nonlocal turn
        if turn.done:
            turn = page.start("%%agent\ngo on", cell=next(cells))
        elif page._button("Approve"):
            page.press("Approve")
        return len(report.said("fact")) >= facts

    page.kernel.until(told, f"{facts} facts to be told")


def back(page: Page) -> Page:
    """The same notebook on its restarted kernel."""
    page.kernel.restart()
    page = Page(page.kernel)
    page.run(LOAD, cell="load")
    return page


@pytest.mark.kernels
def test_a_killed_kernel_comes_back_with_every_step_that_was_told(page: Page, tmp_path: Path, home: Path):
    dice, report, before = random.Random(page.kernel.version), Report(tmp_path / "report"), 0
    path = home / "agent_magics" / FILE
    cells = (f"turn {number}" for number in range(TURNS))
    ids: set[str] = set()
    for _ in range(KILLS):
        until_told(page, report, dice.randint(2, 15), cells)
        page.kernel.kill()
        store = SQLiteStore(path)
        (info,) = store.sessions()
        facts = store.load(info.id)
        store.close()
        told, stored = report.facts, facts[before:]
        assert told == stored[: len(told)], "a step is lost, or doubled"
        assert len(stored) <= len(told) + 1
        with closing(sqlite3.connect(path)) as connection:
            assert [("ok",)] == connection.execute("PRAGMA integrity_check").fetchall()
        ids.add(info.id)
        before = len(facts)
        report.clear()
        page = back(page)
        expected = [[turn.id, turn.stop] for turn in conversation(info.id, facts).turns]
        found = page.run("print(json.dumps([[turn.id, turn.stop] for turn in session.conversation.turns]))")
        assert expected == json.loads(page.printed(found))
        if not isinstance(facts[-1], TurnEnded):
            assert "cancelled" == expected[-1][1]
        page.run("%config AgentMagics.approve = 'always'")
        page.run("%%agent\nand now?", cell=next(cells))
        page.run("%config AgentMagics.approve = ''")
        assert [] == report.said("refused"), "a strict vendor would refuse the history"
        ended: Any = report.facts[-1]
        assert ended.stop in ("done", "no_progress", "too_many_failures", "max_rounds")
    assert 1 == len(ids), "it was one conversation all the time"


@pytest.mark.kernels
def test_a_damaged_file_is_set_aside_and_the_cell_says_so(opened: Page, home: Path):
    folder = home / "agent_magics"
    folder.mkdir()
    (folder / FILE).write_bytes(b"not a database" * 1000)
    opened.run(LOAD.replace("session = current_session()", "").split("for each")[0], cell="load")
    cell = opened.run("%%agent\nhello", cell="turn 1")
    (aside,) = folder.glob("sessions.damaged-*.db")
    assert str(aside) in opened.printed(cell) + opened.shown(cell)
    assert b"not a database" * 1000 == aside.read_bytes()
    store = SQLiteStore(folder / FILE)
    (info,) = store.sessions()
    assert isinstance(store.load(info.id)[-1], TurnEnded)
    store.close()
