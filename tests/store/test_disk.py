"""Files that only their owner can read, and the journal that a file system allows."""

from __future__ import annotations

import os
import sqlite3
import sys
from contextlib import closing
from pathlib import Path

import pytest

from agent_magics.store import disk, store_at
from agent_magics.talk import Memory, RequestSent, SessionInfo, TurnBegan, TurnEnded
from tests.store.conftest import Files
from tests.store.facts import a_turn, note

posix = pytest.mark.skipif(sys.platform == "win32", reason="rights are something else there")


def rights(path: Path) -> int:
    return path.stat().st_mode & 0o777


@posix
def test_the_folder_and_every_file_are_private(files: Files):
    before = os.umask(0)
    try:
        store = files.open()
        store.append("s", note())
        made = {path.name: rights(path) for path in files.path.parent.iterdir()}
    finally:
        os.umask(before)
    assert 0o700 == rights(files.path.parent)
    names = ("sessions.db", "sessions.db-wal", "sessions.db-shm", "sessions.lock")
    assert dict.fromkeys(names, 0o600) == made


@posix
def test_a_file_that_others_could_read_is_made_private(files: Files):
    files.open().append("s", note())
    files.close()
    files.path.chmod(0o644)
    files.open().append("s", note())
    assert 0o600 == rights(files.path)


@posix
def test_a_folder_that_is_there_stays_as_its_owner_wants_it(files: Files):
    files.path.parent.mkdir(mode=0o755)
    files.open().append("s", note())
    assert 0o755 == rights(files.path.parent)


def test_making_a_store_touches_nothing(tmp_path: Path):
    store_at(tmp_path / "elsewhere" / "home").close()
    assert not (tmp_path / "elsewhere").exists()


def test_a_key_never_reaches_the_disk(files: Files):
    store = files.open(mask=lambda text: text.replace("k3y-of-mine", "[key]"))
    for fact in a_turn("t", prompt="use k3y-of-mine", reply='"k3y-of-mine"'):
        store.append("s", fact)
    for path in files.path.parent.iterdir():
        assert b"k3y-of-mine" not in path.read_bytes(), path.name
    store.close()
    assert b"k3y-of-mine" not in files.path.read_bytes()
    began, *_, ended = store.load("s")
    assert isinstance(began, TurnBegan) and isinstance(ended, TurnEnded)
    assert ("use [key]", '"[key]"') == (began.prompt, ended.reply)


def test_what_was_forgotten_is_gone_from_the_disk(files: Files):
    store = files.open()
    store.append("s", note("something private"))
    store.append("other", note("something else"))
    store.remember(Memory(id="m", text="something private, too"))
    store.forget("s")
    store.forget_memory("m")
    for path in files.path.parent.iterdir():
        assert b"something private" not in path.read_bytes(), path.name


# -- journals ------------------------------------------------------------------------------------

MOUNTS = """\
22 1 999:0 / / rw,relatime shared:1 - ext4 /dev/vda1 rw
36 22 {device} / {folder} rw,noatime shared:7 - {kind} server:/export rw,vers=4.2
41 22 0:45 / /proc rw - proc proc rw
"""


@pytest.mark.skipif(sys.platform != "linux", reason="Linux lists its mounts so")
@pytest.mark.parametrize(
    ("kind", "shared"),
    [
        ("nfs4", True),
        ("nfs", True),
        ("cifs", True),
        ("9p", True),
        ("fuse.sshfs", True),
        ("fuse", True),
        ("ext4", False),
        ("xfs", False),
        ("overlay", False),
        ("fuseblk", False),
    ],
)
def test_a_network_file_system_is_known_by_its_mount(tmp_path: Path, kind: str, shared: bool):
    found = tmp_path.stat().st_dev
    table = tmp_path / "mountinfo"
    device = f"{os.major(found)}:{os.minor(found)}"
    table.write_text(MOUNTS.format(device=device, folder="/net/home", kind=kind))
    assert shared == disk.is_shared_by_network(tmp_path, table)


def test_a_system_that_lists_no_mounts_is_taken_for_local(tmp_path: Path):
    assert not disk.is_shared_by_network(tmp_path, tmp_path / "nothing here")


def test_this_folder_is_where_it_is(tmp_path: Path):
    """The real table, whatever it is here: reading it must not fail."""
    assert disk.is_shared_by_network(tmp_path) in (True, False)


def journal(files: Files) -> str:
    with closing(sqlite3.connect(files.path)) as connection:
        return connection.execute("PRAGMA journal_mode").fetchone()[0]


def test_a_file_goes_over_to_the_journal_that_its_new_place_allows(files: Files):
    modes: list[str] = []
    for wal in (True, False, True):
        store = files.open(wal=wal)
        store.append("s", note())
        store.close()
        modes.append(journal(files))
    assert ["wal", "delete", "wal"] == modes  # a rollback journal's kind is not kept in the file
    assert 3 == len(files.open().load("s"))


def test_a_file_in_use_stays_with_its_journal(files: Files):
    here = files.open(wal=True)
    here.append("s", note())
    there = files.open(wal=False, patience=0.2)
    there.append("s", note())
    assert ("wal", 2, 2) == (journal(files), len(here.load("s")), len(there.load("s")))


NORMAL, FULL = 1, 2


@pytest.mark.parametrize(("wal", "within"), [(True, NORMAL), (False, FULL)], ids=["wal", "rollback journal"])
def test_what_ends_a_step_is_flushed_to_the_disk_with_all_that_came_before(
    files: Files, wal: bool, within: int
):
    """A commit of SQLite in WAL is flushed with ``FULL``; without, it survives the process only."""
    store = files.open(wal=wal)

    def flushing() -> int:
        return store._rows("PRAGMA synchronous")[0][0]

    for fact in a_turn():
        store.append("s", fact)
        ends = isinstance(fact, RequestSent | TurnEnded)
        assert (FULL if ends else within) == flushing(), fact
    store.append("s", note())
    store.enroll(SessionInfo(id="s"))
    assert FULL == flushing()
