"""What is done with the file before it is used: locked, looked at, perhaps set aside, and prepared.

Opening happens under a lock of its own, an empty database beside the file: so two processes never both set a
damaged file aside, nor both make the tables.

A file is first looked at read-only, so that one that is newer or not ours is left as it is, with its log.
SQLite alone opens it: to close a file drops all locks that the process holds on it, whoever took them.
"""

from __future__ import annotations

import sqlite3
import time
from collections.abc import Generator
from contextlib import closing, contextmanager, suppress
from pathlib import Path
from typing import Literal

from agent_magics.store import disk, faults, migrations

QUICKLY_CHECKED = 32 << 20
"""Bytes up to which a file's structure is checked when a process first opens it: some 25 ms."""

_JOURNAL_BYTES = 4 << 20
_SMALLEST = 512
_TRY = 0.01

SETTINGS = (
    "foreign_keys = ON",
    "synchronous = FULL",
    "trusted_schema = OFF",
    "cell_size_check = ON",
    "secure_delete = ON",  # what is forgotten is gone from the file
    f"journal_size_limit = {_JOURNAL_BYTES}",
)


def connect(path: Path, mode: str = "rw") -> sqlite3.Connection:
    """A connection of SQLite's own sort: no transaction but those that are begun."""
    connection = sqlite3.connect(
        f"{path.as_uri()}?mode={mode}", uri=True, timeout=_TRY, isolation_level=None, check_same_thread=False
    )
    connection.text_factory = bytes  # a damaged text must not raise while it is fetched
    return connection


@contextmanager
def alone(path: Path) -> Generator[None]:
    """Nobody else opens the file, or sets it aside, meanwhile."""
    beside = path.with_suffix(".lock")
    disk.make_private_file(beside)
    with closing(connect(beside)) as connection:
        connection.execute("BEGIN EXCLUSIVE")
        yield


def prepared(path: Path, *, wal: bool | None) -> sqlite3.Connection:
    """Open the file and bring it up to date; it is made if there is none. Call it :func:`alone`."""
    new = disk.make_private_file(path)
    connection = connect(path)
    try:
        migrations.check(connection, path)
        _choose_journal(connection, path, wal)
        for setting in SETTINGS:
            connection.execute(f"PRAGMA {setting}")
        migrations.migrate(connection)
    except BaseException:
        connection.close()
        raise
    if new:
        disk.sync_folder(path.parent)
    return connection


def uses_wal(connection: sqlite3.Connection) -> bool:
    return connection.execute("PRAGMA journal_mode").fetchone()[0] == b"wal"


Check = Literal["quick_check", "integrity_check"]
"""Each page is looked at; or whether every index tells what its table holds, too."""


def is_damaged(path: Path, check: Check | None) -> bool:
    """Whether the file is broken, as far as it is checked: without a check, whether SQLite can open it.

    Raises
    ------
    StoreError
        If it is newer or not ours.
    """
    if not (size := disk.size(path)):
        return bool(disk.size(beside(path, "-wal")))
    if size < _SMALLEST:  # SQLite would take a few bytes for an empty file
        return True
    try:
        with closing(connect(path, "ro")) as connection:
            migrations.check(connection, path)
            return check is not None and connection.execute(f"PRAGMA {check}(1)").fetchone()[0] != b"ok"
    except faults.FAULTS as error:
        if faults.is_read_only(error):  # a process died while it wrote; opened for writing, it heals
            return False
        if not faults.is_damage(error):
            raise
        return True


def set_aside(path: Path) -> Path:
    """Rename the file and what belongs to it, so that SQLite's own tools can still read it."""
    stamp, count = time.strftime("%Y%m%d-%H%M%S"), 1
    aside = path.with_name(f"{path.stem}.damaged-{stamp}{path.suffix}")
    while aside.exists():
        count += 1
        aside = path.with_name(f"{path.stem}.damaged-{stamp}-{count}{path.suffix}")
    for ending in ("-wal", "-journal", "-shm", ""):  # the file last: a fresh one must not find an old log
        with suppress(FileNotFoundError):
            beside(path, ending).rename(beside(aside, ending))
    disk.sync_folder(path.parent)
    return aside


def beside(path: Path, ending: str) -> Path:
    return path.with_name(path.name + ending)


def _choose_journal(connection: sqlite3.Connection, path: Path, wal: bool | None) -> None:
    if wal is None:
        wal = not disk.is_shared_by_network(path.parent)
    with suppress(sqlite3.OperationalError):  # in use, with the other one: then it stays with that
        connection.execute(f"PRAGMA journal_mode = {'WAL' if wal else 'TRUNCATE'}")
