"""Conversations outlive their kernels: restarted, killed, renamed, copied; and cells run again."""

from __future__ import annotations

import json
import sqlite3
from collections.abc import Callable, Iterator
from contextlib import closing
from pathlib import Path

import pytest

from tests.kernels.kernel import LiveKernel
from tests.kernels.page import Page

pytestmark = pytest.mark.kernels

LOAD = """
%load_ext agent_magics
%config AgentMagics.provider = "scripted"
from agent_magics import current_session, provider
from agent_magics.talk import ToolCall
from agent_magics.testing import Hang, ScriptedProvider
script = ScriptedProvider(["one", "two", "three", "four", "five"])

@provider("scripted")
def scripted(model=None, **options):
    return script

def sent():
    return [message["content"] for message in script.requests[-1][0][1:]]

def rules():
    return script.requests[-1][0][0]["content"]

def prompts():
    return [turn.prompt for turn in current_session().conversation.turns]
"""

Open = Callable[..., Page]


@pytest.fixture
def open_(tmp_path: Path) -> Iterator[Open]:
    """Open a notebook on a kernel of its own, as a server does that names it in the environment."""
    kernels: list[LiveKernel] = []

    def open_notebook(path: Path, version: str = "7.4.0") -> Page:
        kernels.append(LiveKernel(version, tmp_path, JPY_SESSION_NAME=str(path)))
        page = Page(kernels[-1])
        page.run(LOAD, cell="load")
        return page

    yield open_notebook
    for kernel in kernels:
        kernel.close()


@pytest.fixture
def notebook(tmp_path: Path) -> Path:
    return save(tmp_path / "trips.ipynb", "load", "a", "b", "c")


def save(path: Path, *cells: str) -> Path:
    """Save a notebook with cells of these ids."""
    made = [{"id": each, "cell_type": "code", "source": "", "metadata": {}, "outputs": []} for each in cells]
    path.write_text(json.dumps({"nbformat": 4, "nbformat_minor": 5, "metadata": {}, "cells": made}))
    return path


def said(page: Page, expression: str) -> str:
    return page.printed(page.run(f"print({expression})")).strip()


def restart(page: Page) -> Page:
    page.kernel.restart()
    page = Page(page.kernel)
    page.run(LOAD, cell="load")
    return page


@pytest.mark.parametrize("version", ["6.31.0", "7.4.0"])
def test_after_a_restart_the_next_prompt_sends_what_was_said_before(
    open_: Open, notebook: Path, version: str
) -> None:
    page = open_(notebook, version)
    page.run("%agent hello", cell="a")
    page = restart(page)
    page.run("%agent again", cell="b")
    assert "['hello', 'one', 'again']" == said(page, "sent()")
    assert "1" == said(page, "len(current_session().past.sessions())")


def test_nothing_is_read_before_the_agent_is_wanted(open_: Open, notebook: Path, home: Path) -> None:
    open_(notebook)
    assert not list(home.rglob("sessions.db*"))


def test_a_notebook_that_was_never_saved_comes_back_with_its_restarted_kernel(
    open_: Open, tmp_path: Path
) -> None:
    page = open_(tmp_path / "Untitled.ipynb")
    page.run("%agent hello", cell="x")
    page = restart(page)
    page.run("%agent again", cell="y")
    assert "['hello', 'one', 'again']" == said(page, "sent()")


def test_a_new_notebook_under_an_old_name_inherits_nothing(open_: Open, tmp_path: Path) -> None:
    path = save(tmp_path / "Untitled.ipynb", "old")
    open_(path).run("%agent hello", cell="old")
    save(path, "new")
    page = open_(path)
    cell = page.run("%agent anybody?", cell="new")
    assert "['anybody?']" == said(page, "sent()")
    assert "There is an earlier one of Untitled.ipynb with 1 turn" in page.shown(cell)


def test_a_copied_notebook_is_offered_the_conversation_and_gets_a_copy_of_it(
    open_: Open, notebook: Path, tmp_path: Path
) -> None:
    first = open_(notebook)
    first.run("%agent hello", cell="a")
    copy = save(tmp_path / "copy.ipynb", "load", "a", "b", "c")
    second = open_(copy)
    assert "earlier one of trips.ipynb" in second.shown(second.run("%agent"))
    id_ = said(first, "current_session().id")
    assert "A copy of" in second.shown(second.run(f"%agent /resume {id_[:6]}"))
    second.run("%agent from the copy", cell="b")
    first.run("%agent from the first", cell="b")
    assert "['hello', 'one', 'from the copy']" == said(second, "sent()")
    assert "['hello', 'one', 'from the first']" == said(first, "sent()")
    assert "['hello', 'from the copy']" == said(restart(second), "prompts()")
    assert "['hello', 'from the first']" == said(restart(first), "prompts()")


def test_a_renamed_notebook_is_offered_its_conversation_and_then_keeps_it(
    open_: Open, notebook: Path, tmp_path: Path
) -> None:
    page = open_(notebook)
    page.run("%agent hello", cell="a")
    page.run("%agent /remember --notebook Speeds are in knots")
    renamed = notebook.rename(tmp_path / "journeys.ipynb")
    page = open_(renamed)
    assert "knots" not in page.shown(page.run("%agent /facts"))
    assert "[]" == said(page, "prompts()")
    id_ = said(page, "current_session().past.sessions()[0].id")
    assert "goes on with it" in page.shown(page.run("%agent"))
    page.run(f"%agent /resume {id_}")
    assert "knots" in page.shown(page.run("%agent /facts"))
    page.run("%agent again", cell="b")
    page = restart(page)
    assert "['hello', 'again']" == said(page, "prompts()")
    assert id_ == said(page, "current_session().id")


def test_a_killed_kernel_loses_no_turn_and_marks_the_one_that_ran(open_: Open, notebook: Path) -> None:
    page = open_(notebook)
    page.run("%agent hello", cell="a")
    page.run("script._replies[1] = Hang()")
    page.start("%agent hang", cell="b")
    page.button("Stop")
    page.kernel.kill()
    page = open_(notebook)
    page.run("%agent still there?", cell="c")
    sent = "['hello', 'one', 'hang', '(no answer: cancelled)', 'still there?']"
    assert sent == said(page, "sent()")
    assert "interrupted" in said(page, "current_session().conversation.turns[1].error")


def test_clear_and_undo_hold_over_a_restart(open_: Open, notebook: Path) -> None:
    page = open_(notebook)
    page.run("%agent hello", cell="a")
    page.run("%agent /clear")
    page = restart(page)
    assert "[]" == said(page, "prompts()")
    assert "The last `/clear` is undone" in page.shown(page.run("%agent /undo")).replace("<code>", "`")
    page = restart(page)
    assert "['hello']" == said(page, "prompts()")


def test_what_the_namespace_lost_is_told_to_the_model_and_to_the_user(open_: Open, notebook: Path) -> None:
    page = open_(notebook)
    page.run("current_session().policy.approve = 'always'")
    page.run("script._replies[0] = ToolCall(id='c1', name='run_python', arguments={'code': 'df = 1; n = 2'})")
    page.run("%agent --into answer make df", cell="a")
    page = restart(page)
    page.run("n = 3")
    cell = page.run("%agent what is in df?", cell="b")
    told = "answer, df are gone: the kernel was restarted. Run their cells again."
    assert told in page.shown(cell).replace("`", "").replace("\\", "")
    assert "`answer`, `df`" in said(page, "rules()")
    page.run("df = 1; answer = ''")
    cell = page.run("%agent and now?", cell="c")
    assert "gone" not in page.shown(cell) + said(page, "rules()")


def test_two_notebooks_at_once_keep_their_conversations_apart(
    open_: Open, notebook: Path, tmp_path: Path
) -> None:
    pages = [open_(notebook), open_(save(tmp_path / "other.ipynb", "x", "y"))]
    cells = [page.start("%agent mine is " + name) for page, name in zip(pages, "pq", strict=True)]
    assert ["ok", "ok"] == [cell.result()["status"] for cell in cells]
    pages = [restart(page) for page in pages]
    assert ["['mine is p']", "['mine is q']"] == [said(page, "prompts()") for page in pages]


def test_one_notebook_on_two_kernels_has_two_conversations_from_then_on(open_: Open, notebook: Path) -> None:
    first = open_(notebook)
    first.run("%agent hello", cell="a")
    second = open_(notebook)
    second.run("%agent from the second", cell="b")
    cell = first.run("%agent from the first", cell="b")
    assert "Another kernel has gone on with" in first.shown(cell)
    assert "['hello', 'from the second']" == said(second, "prompts()")
    assert "['hello', 'from the first']" == said(first, "prompts()")
    assert "2" == said(first, "len(current_session().past.sessions())")


def test_a_cell_that_runs_again_replaces_its_turn_and_marks_the_later_ones(
    open_: Open, notebook: Path
) -> None:
    page = open_(notebook)
    cells = [page.run(f"%agent {name}", cell=name) for name in "abc"]
    page.run("%agent b!", cell="b")
    assert "['a', 'one', 'b!']" == said(page, "sent()")
    assert "['a', 'b!', 'c']" == said(page, "prompts()")
    stale = ["ran again" in page.shown(cell) for cell in cells]
    assert [False, False, True] == stale
    assert "[False, False, True]" == said(
        page, "[turn.stale for turn in current_session().conversation.turns]"
    )
    page = restart(page)
    page.run("%agent a!", cell="a")
    assert "['a!']" == said(page, "sent()")
    assert "[False, True, True]" == said(
        page, "[turn.stale for turn in current_session().conversation.turns]"
    )


def test_two_prompts_of_one_cell_stay_two_turns_when_it_runs_again(open_: Open, notebook: Path) -> None:
    page = open_(notebook)
    page.run("%agent first\n%agent second", cell="a")
    assert "['first', 'second']" == said(page, "prompts()")
    page.run("%agent first!\n%agent second!", cell="a")
    assert "['first!', 'second!']" == said(page, "prompts()")
    assert "['first!', 'three', 'second!']" == said(page, "sent()")


def test_a_name_that_the_user_gives_finds_the_conversation(open_: Open, tmp_path: Path) -> None:
    page = open_(tmp_path / "console")
    page.run("%config AgentMagics.notebook = 'my talk'")
    page.run("%agent hello", cell="x")
    page = open_(tmp_path / "console 2")
    page.run("%config AgentMagics.notebook = 'my talk'")
    page.run("%agent again", cell="y")
    assert "['hello', 'one', 'again']" == said(page, "sent()")


def test_storing_can_be_turned_off(open_: Open, notebook: Path, home: Path) -> None:
    page = open_(notebook)
    page.run("%config AgentMagics.store = False")
    page.run("%agent hello", cell="a")
    assert "in memory only" in page.shown(page.run("%agent"))
    assert not list(home.rglob("sessions.db*"))
    assert "[]" == said(restart(page), "prompts()")


def test_a_store_that_fails_is_said_once_and_the_turns_run(open_: Open, notebook: Path, home: Path) -> None:
    (home / "agent_magics").write_text("no folder")
    page = open_(notebook)
    cells = [page.run(f"%agent {name}", cell=name) for name in "ab"]
    said_ = [page.shown(cell).count("not stored at present") for cell in cells]
    assert [1, 0] == said_
    assert ["one", "two"] == [page.shown(cell).split()[-1] for cell in cells]
    assert "not at present" in page.shown(page.run("%agent"))


def test_a_conversation_that_cannot_be_read_is_named_and_a_new_one_begins(
    open_: Open, notebook: Path, home: Path
) -> None:
    page = open_(notebook)
    page.run("%agent hello", cell="a")
    id_ = said(page, "current_session().id")
    with closing(sqlite3.connect(home / "agent_magics" / "sessions.db")) as database, database:
        database.execute("UPDATE facts SET record = x'00'")
    page = restart(page)
    cell = page.run("%agent again", cell="b")
    assert f"The conversation {id_} can't be read, a new one begins." in page.shown(cell)
    assert "['again']" == said(page, "sent()")


def test_the_extension_loaded_anew_goes_on(open_: Open, notebook: Path) -> None:
    page = open_(notebook)
    page.run("%agent hello", cell="a")
    page.run("%reload_ext agent_magics\n%config AgentMagics.provider = 'scripted'")
    page.run("%agent again", cell="b")
    assert "['hello', 'one', 'again']" == said(page, "sent()")


def test_ids_of_sessions_are_completed(open_: Open, notebook: Path) -> None:
    page = open_(notebook)
    page.run("%agent hello", cell="a")
    id_ = said(page, "current_session().id")
    asked = page.kernel.send("complete_request", {"code": "%agent /resume ", "cursor_pos": 15})
    assert [id_] == asked.result()["matches"]
