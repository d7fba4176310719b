"""The ledger: which requests are in which batch at the vendor, in the checkpoint's file.

A batch is written down under a name of ours before it is sent, and its id as soon as that is heard. A request
stands there as a hash, an account as another: no row, no instruction and no key is in the file.
"""

from __future__ import annotations

import hashlib
import sqlite3
import time
from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from agent_magics.extract.checkpoint import opened, unusable

_KEPT = 30 * 86_400.0
"""Seconds after which no vendor has the answers of a batch any more; Anthropic keeps them for 29 days."""

_TABLES = (
    "CREATE TABLE IF NOT EXISTS batches (name TEXT PRIMARY KEY, account TEXT NOT NULL, id TEXT NOT NULL,"
    " size INTEGER NOT NULL, since REAL NOT NULL) WITHOUT ROWID",
    "CREATE TABLE IF NOT EXISTS requests (key TEXT, account TEXT, batch TEXT NOT NULL,"
    " PRIMARY KEY (key, account)) WITHOUT ROWID",
)


@dataclass(slots=True)
class Sent:
    """A batch that was sent, or was about to be: then its ``id`` is empty."""

    name: str
    id: str
    size: int
    since: float


class Ledger:
    """The batches of one account in a file. For one thread at a time.

    Raises
    ------
    ConfigError
        If the file can't be used.
    """

    def __init__(self, path: str | Path, account: str) -> None:
        self._path = str(path)
        self._account = hashlib.blake2b(account.encode(), digest_size=16).hexdigest()
        try:
            self._database = opened(self._path, shared=True)
            for table in _TABLES:
                self._database.execute(table)
        except (sqlite3.Error, OSError) as error:
            raise unusable(self._path, error) from None
        self._write(("DELETE FROM batches WHERE since < ?", [(time.time() - _KEPT,)]), _ORPHANS)

    def begin(self, name: str, keys: Iterable[str]) -> Sent:
        """Write down a batch that is about to be sent."""
        rows = [(key, self._account, name) for key in keys]
        sent = Sent(name, "", len(rows), time.time())
        self._write(
            (
                "INSERT INTO batches VALUES (?, ?, '', ?, ?)",
                [(name, self._account, sent.size, sent.since)],
            ),
            ("INSERT OR REPLACE INTO requests VALUES (?, ?, ?)", rows),
        )
        return sent

    def named(self, sent: Sent, identity: str) -> None:
        """The vendor has given it an id."""
        sent.id = identity
        self._write(("UPDATE batches SET id = ? WHERE name = ?", [(identity, sent.name)]))

    def find(self, key: str) -> Sent | None:
        """The batch that holds a request."""
        found = self._read(
            "SELECT name, id, size, since FROM requests JOIN batches ON name = batch"
            " WHERE key = ? AND requests.account = ?",
            (key, self._account),
        )
        return Sent(*found[0]) if found else None

    def open(self) -> list[Sent]:
        """Every batch of the account that may still have answers for somebody."""
        read = "SELECT name, id, size, since FROM batches WHERE account = ?"
        return [Sent(*row) for row in self._read(read, (self._account,))]

    def forget(self, sent: Sent) -> None:
        """It was never made."""
        self._write(("DELETE FROM batches WHERE name = ?", [(sent.name,)]), _ORPHANS)

    def drop(self, keys: Iterable[str]) -> None:
        """These requests need no answer any more, or another one."""
        rows = [(key, self._account) for key in keys]
        self._write(("DELETE FROM requests WHERE key = ? AND account = ?", rows), _EMPTY)

    def close(self) -> None:
        self._database.close()

    def _read(self, statement: str, values: tuple[Any, ...]) -> list[Any]:
        try:
            return self._database.execute(statement, values).fetchall()
        except sqlite3.Error as error:
            raise unusable(self._path, error) from None

    def _write(self, *statements: tuple[str, list[tuple[Any, ...]]]) -> None:
        try:
            with self._database:
                for statement, rows in statements:
                    self._database.executemany(statement, rows)
        except sqlite3.Error as error:
            raise unusable(self._path, error) from None


_ORPHANS: tuple[str, list[tuple[Any, ...]]] = (
    "DELETE FROM requests WHERE batch NOT IN (SELECT name FROM batches)",
    [()],
)
_EMPTY: tuple[str, list[tuple[Any, ...]]] = (
    "DELETE FROM batches WHERE name NOT IN (SELECT batch FROM requests)",
    [()],
)
