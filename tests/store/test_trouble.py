"""A full disk, a folder that can't be written, a lock that stays: what is said, and that nothing is lost."""

from __future__ import annotations

import os
import sqlite3
import subprocess
import sys
import threading
from collections.abc import Iterator
from contextlib import closing, contextmanager
from pathlib import Path

import pytest

from agent_magics import Session
from agent_magics.errors import StoreError
from agent_magics.store import SQLiteStore
from agent_magics.talk import Memory
from agent_magics.talk.history import conversation
from agent_magics.testing import ScriptedProvider
from tests.conftest import ROOT
from tests.patience import Asking
from tests.store.conftest import Files
from tests.store.facts import note, texts

BIG = "x" * 20_000
ROOT_ONLY = pytest.mark.skipif(
    sys.platform != "linux" or os.geteuid() != 0, reason="only root may mount a file system"
)


@contextmanager
def mounted(folder: Path, options: str) -> Iterator[Path]:
    """A small file system of its own."""
    folder.mkdir()
    subprocess.run(["mount", "-t", "tmpfs", "-o", options, "tmpfs", str(folder)], check=True)
    try:
        yield folder
    finally:
        subprocess.run(["umount", str(folder)], check=True)


def stored(store: SQLiteStore, session: str = "s") -> list[str]:
    return texts(store.load(session))


def fill(store: SQLiteStore) -> tuple[list[str], StoreError]:
    """Write until it fails: what was kept, and what was said."""
    kept: list[str] = []
    for number in range(1000):
        try:
            store.append("s", note(f"{number} {BIG}"))
        except StoreError as error:
            return kept, error
        kept.append(f"{number} {BIG}")
    raise AssertionError("the disk was never full")


# -- full ----------------------------------------------------------------------------------------


@ROOT_ONLY
@pytest.mark.parametrize("wal", [True, False], ids=["wal", "rollback journal"])
def test_a_full_disk_is_said_and_loses_nothing(tmp_path: Path, wal: bool):
    with mounted(tmp_path / "small", "size=2m") as folder:
        store = SQLiteStore(folder / "sessions.db", wal=wal)
        blocker = folder / "blocker"
        blocker.write_bytes(b"x" * 1_200_000)
        kept, error = fill(store)
        assert "The file of sessions can't grow" in error.what
        assert "The disk is full" in error.why
        assert "Make room there." in error.remedy
        assert kept == stored(store)
        with pytest.raises(StoreError, match="can't grow"):
            store.append("s", note(BIG * 10))
        blocker.unlink()
        store.append("s", note("there is room again"))
        store.close()
        again = SQLiteStore(folder / "sessions.db", wal=wal)
        assert [*kept, "there is room again"] == stored(again)
        again.close()


@ROOT_ONLY
def test_a_disk_that_is_full_from_the_start_is_said(tmp_path: Path):
    with mounted(tmp_path / "small", "size=64k") as folder:
        (folder / "blocker").write_bytes(b"x" * 64 * 1024)
        store = SQLiteStore(folder / "sessions.db")
        with pytest.raises(StoreError, match="can't grow"):
            store.append("s", note())
        (folder / "blocker").unlink()
        with pytest.raises(StoreError, match="can't grow"):
            store.append("s", note("x" * 100_000))
        store.close()


LIMITED = """
import resource, sys
from pathlib import Path
from agent_magics.store import SQLiteStore
from tests.store.test_trouble import fill, stored

resource.setrlimit(resource.RLIMIT_FSIZE, (300_000, resource.RLIM_INFINITY))
store = SQLiteStore(Path(sys.argv[1]))
kept, error = fill(store)
assert kept == stored(store), (len(kept), len(stored(store)))
resource.setrlimit(resource.RLIMIT_FSIZE, (resource.RLIM_INFINITY, resource.RLIM_INFINITY))
print(len(kept), error, sep="\\n")
"""


@pytest.mark.skipif(sys.platform == "win32", reason="no such limit there")
def test_a_file_that_may_not_grow_is_said_and_loses_nothing(files: Files):
    done = subprocess.run(
        [sys.executable, "-c", LIMITED, str(files.path)],
        capture_output=True,
        text=True,
        cwd=ROOT,
        timeout=60,
        check=False,
    )
    assert "" == done.stderr
    kept, what, _, remedy = done.stdout.splitlines()
    assert (int(kept), what) == (len(stored(files.open())), what)
    assert int(kept) > 3
    assert what.startswith("The file of sessions could not be used")
    assert "$AGENT_MAGICS_HOME" in remedy


# -- read-only -----------------------------------------------------------------------------------


def test_a_folder_that_can_not_be_made_is_said(tmp_path: Path):
    (tmp_path / "in the way").write_text("a file, not a folder")
    store = SQLiteStore(tmp_path / "in the way" / "sub" / "sessions.db")
    with pytest.raises(StoreError, match="could not be used"):
        store.append("s", note())


@contextmanager
def read_only(folder: Path) -> Iterator[None]:
    """Nobody can write there, by whatever means holds for us: root may write into any folder."""
    if os.geteuid() == 0:
        subprocess.run(["mount", "--bind", str(folder), str(folder)], check=True)
        subprocess.run(["mount", "-o", "remount,bind,ro", str(folder)], check=True)
    else:
        folder.chmod(0o500)
    try:
        yield
    finally:
        if os.geteuid() == 0:
            subprocess.run(["umount", str(folder)], check=True)
        else:
            folder.chmod(0o700)


@pytest.mark.skipif(sys.platform == "win32", reason="rights are something else there")
def test_a_read_only_folder_is_said_and_loses_nothing(files: Files):
    folder = files.path.parent
    store = files.open()
    store.append("s", note("before"))
    store.close()
    with read_only(folder):
        for refused in (
            lambda: store.append("s", note("meanwhile")),
            lambda: store.remember(Memory(id="a", text="meanwhile")),
            lambda: SQLiteStore(folder / "new" / "sessions.db").append("s", note()),
        ):
            with pytest.raises(StoreError, match="can't be written") as error:
                refused()
            assert "read-only" in error.value.why
    store.append("s", note("after"))
    assert ["before", "after"] == stored(store)


# -- locked --------------------------------------------------------------------------------------


@pytest.mark.parametrize("wal", [True, False], ids=["wal", "rollback journal"])
def test_a_lock_that_stays_is_said_and_loses_nothing(files: Files, wal: bool):
    store = files.open(wal=wal, patience=0.2)
    store.append("s", note("before"))
    with closing(sqlite3.connect(files.path, isolation_level=None)) as browser:
        browser.execute("BEGIN EXCLUSIVE")
        with pytest.raises(StoreError, match="is locked") as error:
            store.append("s", note("meanwhile"))
        assert "another program" in error.value.why.lower()
        if wal:
            assert ["before"] == stored(store)
        browser.execute("ROLLBACK")
    store.append("s", note("after"))
    assert ["before", "after"] == stored(store)


def test_a_lock_that_was_there_first_is_said(files: Files):
    files.open(wal=False).append("s", note("before"))
    files.close()
    with closing(sqlite3.connect(files.path, isolation_level=None)) as browser:
        browser.execute("BEGIN EXCLUSIVE")
        with pytest.raises(StoreError, match="is locked"):
            files.open(wal=False, patience=0.2).load("s")
    assert ["before"] == stored(files.open())


def test_a_short_lock_is_waited_for(files: Files):
    writes = threading.Event()
    store = files.open(mask=lambda text: writes.set() or text)
    store.append("s", note("before"))
    with closing(sqlite3.connect(files.path, isolation_level=None, check_same_thread=False)) as backup:
        backup.execute("BEGIN EXCLUSIVE")
        writes.clear()
        writing = Asking(lambda: store.append("s", note("and after")))
        assert writes.wait(10)
        assert not writing.over
        backup.execute("ROLLBACK")
    writing.end()
    assert ["before", "and after"] == stored(store)


# -- a turn meanwhile ----------------------------------------------------------------------------


def test_a_turn_runs_in_memory_while_the_file_is_locked_and_is_stored_when_it_is_free(files: Files):
    store = files.open(patience=0.05)
    with Session(ScriptedProvider(["one", "two"]), store=store, tool_making="off") as session:
        store.append("other", note())
        with closing(sqlite3.connect(files.path, isolation_level=None)) as browser:
            browser.execute("BEGIN EXCLUSIVE")
            turn = session.ask("first")
            assert ("done", "one") == (turn.stop, turn.reply)
            assert any("is locked" in notice for notice in turn.notices)
            assert [] == store.load(session.id)
        assert () == session.ask("second").notices
        stored = conversation(session.id, store.load(session.id)).turns
        assert session.conversation.turns == stored
        assert ["one", "two"] == [each.reply for each in stored]


@ROOT_ONLY
def test_a_turn_runs_in_memory_while_the_disk_is_full_and_is_stored_when_there_is_room(tmp_path: Path):
    with mounted(tmp_path / "small", "size=2m") as folder:
        store = SQLiteStore(folder / "sessions.db")
        blocker = folder / "blocker"
        blocker.write_bytes(b"x" * 1_200_000)
        fill(store)
        with Session(ScriptedProvider([BIG, "two"]), store=store, tool_making="off") as session:
            turn = session.ask("first")
            assert ("done", BIG) == (turn.stop, turn.reply)
            assert any("The disk is full" in notice for notice in turn.notices)
            blocker.unlink()
            session.ask("second")
            stored = conversation(session.id, store.load(session.id)).turns
            assert [BIG, "two"] == [each.reply for each in stored]
        store.close()
