"""A file that is damaged, newer, or not ours: set aside or left alone, never written over."""

from __future__ import annotations

import json
import random
import sqlite3
import subprocess
import sys
from contextlib import closing
from pathlib import Path

import pytest

from agent_magics.errors import StoreError
from agent_magics.store import SQLiteStore
from agent_magics.store.migrations import APPLICATION, VERSION
from agent_magics.store.records import checksum
from agent_magics.talk import Memory, SessionInfo
from tests.store.conftest import Files
from tests.store.facts import a_turn, note

PAGE = 4096


@pytest.fixture(scope="module")
def template(tmp_path_factory: pytest.TempPathFactory) -> bytes:
    path = tmp_path_factory.mktemp("template") / "sessions.db"
    store = SQLiteStore(path)
    for number in range(30):
        store.enroll(SessionInfo(id=f"s{number % 3}"))
        for fact in a_turn(f"t{number}"):
            store.append(f"s{number % 3}", fact)
        store.remember(Memory(id=f"m{number}", text="x"))
    store.close()
    return path.read_bytes()


@pytest.fixture
def written(files: Files, template: bytes) -> bytes:
    """The bytes of a file with a few hundred facts in it; the file is there."""
    files.path.parent.mkdir()
    files.path.write_bytes(template)
    return template


def begins_anew(files: Files) -> bytes:
    """The file was set aside, this was said, and a fresh one takes facts; returns the file set aside."""
    store = files.open()
    assert [] == store.load("s0")
    store.append("s0", note())
    store.close()
    (aside,) = files.damaged()
    (notice,) = files.notices
    what, _, remedy = notice.splitlines()
    assert f"The file of sessions was damaged and has been set aside: {str(aside)!r}." == what
    assert "/restore" in remedy
    assert [note()] == files.open().load("s0")
    return aside.read_bytes()


# -- damaged -------------------------------------------------------------------------------------


@pytest.mark.parametrize("length", [1, 99, 100, 511, 512, 4096, 100_000])
def test_garbage_is_set_aside(files: Files, length: int):
    files.path.parent.mkdir()
    garbage = random.Random(length).randbytes(length)
    files.path.write_bytes(garbage)
    assert garbage == begins_anew(files)


@pytest.mark.parametrize("left", [50, 100, 2000, PAGE, 3 * PAGE, 5 * PAGE + 17])
def test_a_file_that_was_cut_off_is_set_aside(files: Files, written: bytes, left: int):
    assert len(written) > 8 * PAGE
    files.path.write_bytes(written[:left])
    assert written[:left] == begins_anew(files)


def test_pages_that_were_overwritten_are_set_aside(files: Files, written: bytes):
    damaged = written[:PAGE] + b"\0" * 4 * PAGE + written[5 * PAGE :]
    files.path.write_bytes(damaged)
    assert damaged == begins_anew(files)


def test_a_log_without_its_file_is_set_aside_with_it(files: Files):
    files.path.parent.mkdir()
    files.path.touch()
    log = files.path.with_name("sessions.db-wal")
    log.write_bytes(b"frames of a file that is gone")
    files.open().append("s", note())
    (aside,) = files.damaged()
    assert b"frames of a file that is gone" == aside.with_name(f"{aside.name}-wal").read_bytes()


@pytest.mark.parametrize("seed", (*range(20), 118))
def test_flipped_bytes_are_never_taken_for_facts(files: Files, written: bytes, seed: int):
    """What comes back is what was written or its beginning, an error, or a fresh file; nothing else."""
    expected = {f"s{number}": files.open().load(f"s{number}") for number in range(3)}
    files.close()
    dice = random.Random(seed)
    damaged = bytearray(written)
    for _ in range(10):
        damaged[dice.randrange(len(damaged))] ^= 1 << dice.randrange(8)
    files.path.write_bytes(damaged)
    store = files.open()
    for name, facts in expected.items():
        try:
            found = store.load(name)
        except StoreError as error:
            assert error.what and error.why and error.remedy
        else:
            assert facts[: len(found)] == found, "facts that nobody wrote"
    if not files.damaged():
        store.close()
        assert len(written) == files.path.stat().st_size


def test_damage_that_shows_while_the_store_is_in_use_ends_in_a_fresh_file(files: Files, written: bytes):
    store = files.open()
    assert store.memories()
    overwrite = f"f = open({str(files.path)!r}, 'r+b'); f.seek({PAGE}); f.write(bytes({len(written) - PAGE}))"
    subprocess.run([sys.executable, "-c", overwrite], check=True)
    with pytest.raises(StoreError, match="damaged and has been set aside"):
        store.load("s1")
    store.append("s1", note("the next turn"))
    assert [note("the next turn")] == store.load("s1")
    assert 1 == len(files.damaged())


def test_what_was_set_aside_before_is_kept(files: Files):
    files.path.parent.mkdir()
    for number in range(3):
        files.path.write_bytes(f"garbage {number}".encode() * 100)
        store = files.open()
        store.append("s", note())
        store.close()
    assert [f"garbage {number}".encode() * 100 for number in range(3)] == sorted(
        path.read_bytes() for path in files.damaged()
    )
    assert 3 == len(files.notices)


def test_a_store_in_use_goes_over_to_the_fresh_file(files: Files, written: bytes):
    """Another process found the damage first."""
    here = files.open()
    assert here.load("s0")
    files.path.rename(files.path.with_name("sessions.damaged-then.db"))
    there = files.open()
    there.append("s0", note("fresh"))
    assert [note("fresh")] == here.load("s0")
    here.append("s0", note("too"))
    assert [note("fresh"), note("too")] == there.load("s0")


# -- one damaged or newer record -----------------------------------------------------------------


def change(path: Path, statement: str, *values: object) -> None:
    with closing(sqlite3.connect(path)) as connection, connection:
        connection.execute(statement, values)


NEWER = json.dumps({"v": 99, "type": "Dreamed", "of": "sheep"})
LAST = "session = 3 AND place = 100"
"""Where the last fact of s2 is."""


@pytest.mark.usefixtures("written")
def test_a_session_with_a_newer_record_is_refused_and_the_others_work(files: Files):
    total = checksum(NEWER, "s2", 100)
    change(files.path, f"UPDATE facts SET record = ?, sum = ? WHERE {LAST}", NEWER, total)
    store = files.open()
    with pytest.raises(StoreError, match="The session 's2' can't be opened") as error:
        store.load("s2")
    assert "version 99" in error.value.why
    assert "Upgrade agent-magics" in error.value.remedy
    assert (100, 100) == (len(store.load("s0")), len(store.load("s1")))
    assert {"s0", "s1", "s2"} == {info.id for info in store.sessions()}
    store.append("s0", note())
    store.close()
    with closing(sqlite3.connect(files.path)) as connection:
        assert 1 == connection.execute("SELECT count(*) FROM facts WHERE record = ?", (NEWER,)).fetchone()[0]


@pytest.mark.usefixtures("written")
def test_a_session_with_a_damaged_record_is_refused_and_the_others_work(files: Files):
    change(files.path, f"UPDATE facts SET record = replace(record, 'Ten', 'Two') WHERE {LAST}")
    store = files.open()
    with pytest.raises(StoreError, match="can't be opened") as error:
        store.load("s2")
    assert "Record 100 of 100 is damaged" in error.value.why
    assert 100 == len(store.load("s0"))


@pytest.mark.usefixtures("written")
@pytest.mark.parametrize(
    "statement",
    [
        "DELETE FROM facts WHERE session = 3 AND place = 50",
        "UPDATE facts SET place = 1000 WHERE session = 3 AND place = 50",
        "UPDATE facts SET session = 3, place = 101 WHERE session = 1 AND place = 100",
    ],
    ids=["lost", "elsewhere", "of another session"],
)
def test_a_session_with_a_record_that_is_not_in_its_place_is_refused(files: Files, statement: str):
    change(files.path, statement)
    with pytest.raises(StoreError, match="can't be opened"):
        files.open().load("s2")


@pytest.mark.usefixtures("written")
def test_newer_memories_and_infos_are_passed_over_and_kept(files: Files):
    change(
        files.path, "UPDATE memories SET record = ?, sum = ? WHERE id = 'm7'", NEWER, checksum(NEWER, "m7")
    )
    change(files.path, "UPDATE sessions SET info = ?, sum = ? WHERE id = 's1'", NEWER, checksum(NEWER, "s1"))
    store = files.open()
    assert [f"m{number}" for number in range(30) if number != 7] == [each.id for each in store.memories()]
    assert {SessionInfo(id=f"s{number}") for number in range(3)} == set(store.sessions())
    assert Memory(id="m7", text="") == store.forget_memory("m7")


# -- newer, or not ours --------------------------------------------------------------------------


def refused(files: Files, match: str) -> StoreError:
    """Every use is refused, and neither the file nor its log changes."""
    before = contents(files)
    for use in (
        lambda store: store.load("s0"),
        lambda store: store.append("s0", note()),
        lambda store: store.memories(),
        lambda store: store.sessions(),
    ):
        store = files.open()
        with pytest.raises(StoreError, match=match) as error:
            use(store)
        store.close()
        assert before == contents(files)
    assert [] == files.damaged() == files.notices
    return error.value


def contents(files: Files) -> dict[str, bytes]:
    """What belongs to the file; SQLite's shared memory is no content."""
    names = ("sessions.db", "sessions.db-wal", "sessions.db-journal")
    paths = [files.path.with_name(name) for name in names]
    return {path.name: path.read_bytes() for path in paths if path.exists() and path.stat().st_size}


@pytest.mark.parametrize("damaged", [False, True], ids=["whole", "damaged as well"])
def test_a_newer_file_is_refused_and_left_as_it_is(files: Files, written: bytes, damaged: bool):
    change(files.path, f"PRAGMA user_version = {VERSION + 1}")
    if damaged:
        newer = files.path.read_bytes()
        files.path.write_bytes(newer[:PAGE] + b"\0" * PAGE + newer[2 * PAGE :])
    error = refused(files, "of a newer agent_magics")
    assert f"It has version {VERSION + 1}; this one reads up to {VERSION}." in error.why
    assert "Upgrade agent-magics." in error.remedy


@pytest.mark.usefixtures("written")
def test_a_newer_file_whose_process_died_is_refused_and_left_as_it_is(files: Files, tmp_path: Path):
    """Its log was not written back; that is not ours to do."""
    change(files.path, f"PRAGMA user_version = {VERSION + 1}")
    with closing(sqlite3.connect(files.path)) as connection:
        connection.execute("PRAGMA wal_autocheckpoint = 0")
        connection.execute("INSERT INTO sessions (id) VALUES ('in the log')")
        connection.commit()
        left = contents(files)
    files.path.write_bytes(left["sessions.db"])
    files.path.with_name("sessions.db-wal").write_bytes(left["sessions.db-wal"])
    error = refused(files, "of a newer agent_magics")
    assert "Upgrade agent-magics." in error.remedy
    assert left == contents(files)


def test_another_programs_database_is_refused_and_left_as_it_is(files: Files):
    files.path.parent.mkdir()
    change(files.path, "CREATE TABLE bookmarks (url TEXT)")
    error = refused(files, "another program's database")
    assert "Move it away." in error.remedy


def test_another_programs_mark_is_refused_and_left_as_it_is(files: Files):
    files.path.parent.mkdir()
    change(files.path, "PRAGMA application_id = 42")
    error = refused(files, "another program's database")
    assert "Move it away." in error.remedy


@pytest.mark.usefixtures("written")
def test_a_file_says_whose_it_is(files: Files):
    with closing(sqlite3.connect(files.path)) as connection:
        marks = [
            connection.execute(f"PRAGMA {name}").fetchone()[0] for name in ("application_id", "user_version")
        ]
    assert [APPLICATION, VERSION] == marks


def test_an_empty_file_is_taken(files: Files):
    files.path.parent.mkdir()
    files.path.touch()
    files.open().append("s", note())
    assert [note()] == files.open().load("s")
    assert [] == files.damaged()
