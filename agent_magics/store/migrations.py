"""The tables, step by step: ``user_version`` counts the steps that a file has taken.

A step that was released never changes; a change is a further step. ``application_id`` marks the file as ours.
"""

from __future__ import annotations

import sqlite3
from pathlib import Path

from agent_magics.store import faults

APPLICATION = 0x41674D67
"""``AgMg``"""

STEPS: tuple[tuple[str, ...], ...] = (
    (
        """CREATE TABLE sessions (
            number INTEGER PRIMARY KEY,
            id TEXT NOT NULL UNIQUE,
            used REAL NOT NULL DEFAULT 0,
            info TEXT,
            sum INTEGER
        )""",
        """CREATE TABLE facts (
            session INTEGER NOT NULL REFERENCES sessions (number) ON DELETE CASCADE,
            place INTEGER NOT NULL,
            record TEXT NOT NULL,
            sum INTEGER NOT NULL,
            UNIQUE (session, place)
        )""",
        """CREATE TABLE memories (
            number INTEGER PRIMARY KEY,
            id TEXT NOT NULL UNIQUE,
            notebook TEXT NOT NULL,
            record TEXT NOT NULL,
            sum INTEGER NOT NULL
        )""",
    ),
)
VERSION = len(STEPS)


def check(connection: sqlite3.Connection, path: Path) -> None:
    """Refuse a file that is newer or not ours; it has not been written to.

    Raises
    ------
    StoreError
        If it is.
    """
    application, version = _number(connection, "application_id"), _number(connection, "user_version")
    if application != APPLICATION and (application or version or _has_tables(connection)):
        raise faults.not_ours(path)
    if version > VERSION:
        raise faults.newer(path, version, VERSION)


def migrate(connection: sqlite3.Connection) -> None:
    """Take the steps that are missing, all or none."""
    if _number(connection, "user_version") == VERSION:
        return
    with connection:
        connection.execute("BEGIN IMMEDIATE")
        for step in STEPS[_number(connection, "user_version") :]:
            for statement in step:
                connection.execute(statement)
        connection.execute(f"PRAGMA application_id = {APPLICATION}")
        connection.execute(f"PRAGMA user_version = {VERSION}")


def _number(connection: sqlite3.Connection, pragma: str) -> int:
    return connection.execute(f"PRAGMA {pragma}").fetchone()[0]


def _has_tables(connection: sqlite3.Connection) -> bool:
    return bool(connection.execute("SELECT count(*) FROM sqlite_master").fetchone()[0])
