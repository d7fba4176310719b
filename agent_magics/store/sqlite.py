"""Sessions and memories in one SQLite file, for all notebooks of a user at once."""

from __future__ import annotations

import logging
from collections.abc import Callable
from dataclasses import replace
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any

from agent_magics.errors import ConfigError
from agent_magics.store.in_memory import check_length, check_room, known_memory, unknown_memory
from agent_magics.store.records import Mask, check_all, checksum, key, pack, unpack
from agent_magics.talk import (
    ConversationChanged,
    HistoryFact,
    Memory,
    RequestSent,
    SessionInfo,
    TurnEnded,
    TurnImported,
)
from agent_magics.talk.memory import MOST

if TYPE_CHECKING:
    import sqlite3

    from agent_magics.store.database import Database

log = logging.getLogger("agent_magics")

_LAST = """
SELECT number, (SELECT ifnull(max(place), 0) FROM facts WHERE session = number) FROM sessions WHERE id = ?
"""
_FACTS = """
SELECT record, facts.sum FROM facts JOIN sessions ON session = number WHERE id = ? ORDER BY place
"""
_MEMORIES = "SELECT id, record, sum FROM memories"
_INFOS = "SELECT id, used, info, sum FROM sessions"

_ENDS_A_STEP = (RequestSent, TurnEnded, ConversationChanged, TurnImported)
"""Facts with which everything up to them is on the disk; the others survive the process only."""


class SQLiteStore:
    """A :class:`~agent_magics.ports.Store` and :class:`~agent_magics.ports.Memories` in a file.

    Any number of threads and processes may use the same file at once. The file is opened when first used,
    and opened again after :meth:`close`, a fork, or when it was moved away.

    Parameters
    ----------
    path : Path
        The file. It is made private, and so is its folder if it has to be made.
    mask : callable
        Given every text that is stored; what it returns is what reaches the disk.
    notice : callable, optional
        Told, in three lines, that a damaged file was found and set aside. Default: a warning in the log.
    wal : bool, optional
        Whether to use SQLite's write-ahead log. Default: unless other machines may share the folder.
    patience : float
        Seconds to wait for another process's write.

    Examples
    --------
    >>> import tempfile
    >>> from agent_magics.talk import Noticed
    >>> store = SQLiteStore(Path(tempfile.mkdtemp()) / "sessions.db")
    >>> store.append("s1", Noticed(text="hello", at=1.0))
    >>> store.load("s1")
    [Noticed(text='hello', at=1.0)]
    >>> store.close()
    """

    def __init__(
        self,
        path: Path,
        *,
        mask: Mask = lambda text: text,
        notice: Callable[[str], None] | None = None,
        wal: bool | None = None,
        patience: float = 5.0,
    ) -> None:
        self.path = path
        self._mask = mask
        self._notice = notice or log.warning
        self._wal = wal
        self._patience = patience

    @cached_property
    def _database(self) -> Database:
        from agent_magics.store.database import Database

        return Database(self.path, self._notice, wal=self._wal, patience=self._patience)

    def close(self) -> None:
        """Close the file; the next use opens it again."""
        self._database.close()

    # -- sessions --------------------------------------------------------------------------------

    def append(self, session: str, *facts: HistoryFact) -> None:
        """Keep these facts, all of them or none; when this returns they survive the process."""
        if not facts:
            return
        name, records = key(session), [pack(fact, self._mask) for fact in facts]

        def work(connection: sqlite3.Connection) -> None:
            number, last = connection.execute(_LAST, (name,)).fetchone() or (0, 0)
            if not number:
                row = (name, facts[-1].at)
                number = connection.execute("INSERT INTO sessions (id, used) VALUES (?, ?)", row).lastrowid
            connection.executemany(
                "INSERT INTO facts (session, place, record, sum) VALUES (?, ?, ?, ?)",
                (
                    (number, place, record, checksum(record, name, place))
                    for place, record in enumerate(records, last + 1)
                ),
            )

        self._database.write(work, durable=any(isinstance(fact, _ENDS_A_STEP) for fact in facts))

    def load(self, session: str) -> list[HistoryFact]:
        """All facts of a session, in order; empty if there is none of that id."""
        name = key(session)
        rows = self._rows(_FACTS, name)
        try:
            check_all(rows, name)
            return unpack([record for record, _ in rows])
        except (ConfigError, ValueError, RecursionError) as error:
            from agent_magics.store.faults import unreadable

            raise unreadable(session, error) from error

    def enroll(self, info: SessionInfo) -> None:
        """Make a session known, or replace what is known of it."""
        name, record = key(info.id), pack(info, self._mask)
        row = (name, info.used, record, checksum(record, name))
        self._database.write(
            lambda connection: connection.execute(
                "INSERT INTO sessions (id, used, info, sum) VALUES (?, ?, ?, ?) ON CONFLICT (id) "
                "DO UPDATE SET used = excluded.used, info = excluded.info, sum = excluded.sum",
                row,
            )
        )

    def sessions(self) -> list[SessionInfo]:
        """All sessions, the one used last first.

        Of one that was not enrolled, or by a newer version, only its id and last use are told.
        """
        rows = self._rows(f"{_INFOS} ORDER BY used DESC, number DESC")
        return [_info(*row) for row in rows]

    def session(self, session: str) -> SessionInfo | None:
        """What is known of one; ``None`` if nothing is."""
        rows = self._rows(f"{_INFOS} WHERE id = ?", key(session))
        return _info(*rows[0]) if rows else None

    def forget(self, session: str) -> None:
        """Delete a session and its facts, from the file as well."""
        self._database.write(
            lambda connection: connection.execute("DELETE FROM sessions WHERE id = ?", (key(session),))
        )
        self._wipe()

    # -- memories --------------------------------------------------------------------------------

    def remember(self, memory: Memory) -> None:
        """Keep one. Raises a ``UsageError`` if it is too long, or its scope is full."""
        check_length(memory)
        notebook = self._scope(memory.notebook if memory.scope == "notebook" else "")
        name, record = key(memory.id), pack(memory, self._mask)
        row = (name, notebook, record, checksum(record, name))

        def work(connection: sqlite3.Connection) -> None:
            counted = connection.execute("SELECT count(*) FROM memories WHERE notebook = ?", (notebook,))
            check_room(memory, counted.fetchone()[0])
            insert = "INSERT OR IGNORE INTO memories (id, notebook, record, sum) VALUES (?, ?, ?, ?)"
            if connection.execute(insert, row).rowcount == 0:
                raise known_memory(memory.id)

        self._database.write(work)

    def forget_memory(self, which: str) -> Memory:
        """Delete one and return it. Raises a ``UsageError`` if there is none of that id."""

        def work(connection: sqlite3.Connection) -> Memory:
            found = connection.execute(f"{_MEMORIES} WHERE id = ?", (key(which),))
            row = found.fetchone()
            if row is None:
                raise unknown_memory(which)
            connection.execute("DELETE FROM memories WHERE id = ?", (key(which),))
            return _readable(*row) or Memory(id=which, text="")

        forgotten = self._database.write(work)
        self._wipe()
        return forgotten

    def move_memories(self, notebook: str, to: str) -> None:
        """Let one notebook's be another's, the oldest first; those that find no room there stay."""
        here, there = self._scope(notebook), self._scope(to)

        def work(connection: sqlite3.Connection) -> None:
            counted = connection.execute("SELECT count(*) FROM memories WHERE notebook = ?", (there,))
            room = max(0, MOST - counted.fetchone()[0])
            rows = connection.execute(f"{_MEMORIES} WHERE notebook = ? ORDER BY number LIMIT ?", (here, room))
            for memory in filter(None, [_readable(*row) for row in rows.fetchall()]):
                name, record = key(memory.id), pack(replace(memory, notebook=to), self._mask)
                connection.execute(
                    "UPDATE memories SET notebook = ?, record = ?, sum = ? WHERE id = ?",
                    (there, record, checksum(record, name), name),
                )

        self._database.write(work)

    def memories(self, notebook: str = "") -> list[Memory]:
        """The user's and this notebook's, oldest first, as they are on disk now.

        Those that a newer version remembered are passed over.
        """
        rows = self._rows(f"{_MEMORIES} WHERE notebook IN ('', ?) ORDER BY number", self._scope(notebook))
        return [memory for row in rows if (memory := _readable(*row))]

    # -- inside ----------------------------------------------------------------------------------

    def _wipe(self) -> None:
        """What was deleted is overwritten in the file; the log may still hold it."""
        self._rows("PRAGMA wal_checkpoint(TRUNCATE)")

    def _scope(self, notebook: str) -> str:
        return key(self._mask(notebook))

    def _rows(self, query: str, *values: object) -> list[Any]:
        return self._database.read(lambda connection: connection.execute(query, values).fetchall())


def _info(name: bytes, used: float, info: bytes | None, total: int) -> SessionInfo:
    return _readable(name, info, total) or SessionInfo(id=name.decode("utf-8", "replace"), used=used)


def _readable(name: bytes, record: bytes | None, total: int) -> Any:
    """What was packed, or ``None`` where that can't be told."""
    if record is None or checksum(record, name.decode("utf-8", "replace")) != total:
        return None
    try:
        return unpack([record])[0]
    except (ConfigError, ValueError, RecursionError):
        return None
