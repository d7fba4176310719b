"""The file of a store, as all threads of a process use it.

One connection serves all threads of a process, one at a time. WAL lets readers and the one writer of all
processes work side by side; where other machines may share the file the old rollback journal is used.

**Durable.** A commit in WAL with ``synchronous=NORMAL`` survives the process, however it dies; with ``FULL``
it survives the machine as well, together with every commit before it. Facts within a step are committed in
the first way, those that end one in the second: one flush to the disk a step.

**Forks.** SQLite keeps its locks a process, and a child would inherit the belief that it holds some. So
connections are closed before a fork; parent and child each open their own when they next need one.

**Moved.** A file that was set aside, deleted or replaced meanwhile is seen at the next use, and the one that
stands there now is opened.
"""

from __future__ import annotations

import os
import sqlite3
import threading
import time
import weakref
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path
from typing import TypeVar

from agent_magics.errors import StoreError
from agent_magics.store import disk, faults, opening

T = TypeVar("T")
Work = Callable[[sqlite3.Connection], T]


class Database:
    """A database file that any thread may use.

    Parameters
    ----------
    path : Path
        The file; it and its folder are made when first used.
    notice : callable
        Told when a damaged file was found and set aside.
    wal : bool, optional
        Whether to use WAL. Default: where the file system allows it.
    patience : float
        Seconds to wait for other processes.
    """

    def __init__(
        self,
        path: Path,
        notice: Callable[[str], None],
        *,
        wal: bool | None = None,
        patience: float = 5.0,
    ) -> None:
        self.path = path.absolute()
        self._patience = patience
        self._notice = notice
        self._wal = wal
        self._lock = threading.RLock()
        self._connection: sqlite3.Connection | None = None
        self._identity: tuple[int, int] = (0, 0)
        self._checked: tuple[int, int] = (0, 0)
        self._uses_wal = True
        self._durable = True
        self._notices: list[str] = []
        _all.add(self)

    def read(self, work: Work[T]) -> T:
        """Do ``work`` on what is there now.

        Raises
        ------
        StoreError
            Here and below: if the file can't be used.
        """
        return self._run(work)

    def write(self, work: Work[T], *, durable: bool = True) -> T:
        """Do ``work`` whole or not at all. ``durable``: it is on the disk when this returns."""

        def transaction(connection: sqlite3.Connection) -> T:
            self._sync(connection, durable)
            connection.execute("BEGIN IMMEDIATE")
            try:
                result = work(connection)
                connection.execute("COMMIT")
            except BaseException:
                with suppress(sqlite3.Error):
                    if connection.in_transaction:
                        connection.execute("ROLLBACK")
                raise
            return result

        return self._run(transaction)

    def close(self) -> None:
        """Close the file. The next use opens it again."""
        with self._lock:
            connection, self._connection = self._connection, None
            if connection is not None:
                with suppress(sqlite3.Error):
                    connection.close()

    def hold(self) -> None:
        """Close the file, and keep every other thread from opening it until :meth:`let_go`."""
        self._lock.acquire()
        self.close()

    def let_go(self) -> None:
        self._lock.release()

    def __del__(self) -> None:
        with suppress(Exception):
            self.close()

    # -- inside ----------------------------------------------------------------------------------

    def _run(self, work: Work[T], *, again: bool = True) -> T:
        try:
            with self._lock:
                try:
                    return self._patiently(work)
                except faults.FAULTS as error:
                    if not faults.is_passing(error):
                        self.close()
                    if not faults.is_damage(error):
                        raise faults.explained(error, self.path) from error
                    if found := self._set_aside_if_damaged():
                        raise found from error
                    if not again:
                        raise faults.explained(error, self.path) from error
            return self._run(work, again=False)
        finally:
            self._tell()

    def _patiently(self, work: Work[T]) -> T:
        """Do it once others let us.

        SQLite would wait longer from try to try, so that under many writers one might never have its turn.
        """
        deadline = time.monotonic() + self._patience
        while True:
            try:
                return work(self._open_one())
            except sqlite3.Error as error:
                if not faults.is_busy(error) or time.monotonic() > deadline:
                    raise

    def _tell(self) -> None:
        while self._notices:
            self._notice(self._notices.pop(0))

    def _sync(self, connection: sqlite3.Connection, durable: bool) -> None:
        if durable != self._durable and self._uses_wal:
            connection.execute(f"PRAGMA synchronous = {'FULL' if durable else 'NORMAL'}")
            self._durable = durable

    def _open_one(self) -> sqlite3.Connection:
        if self._connection is not None and self._identity != self._found():
            self.close()
        if self._connection is None:
            self._connection = self._open()
        return self._connection

    def _found(self) -> tuple[int, int]:
        """Which file stands there now."""
        try:
            found = self.path.stat()
        except FileNotFoundError:
            return (0, 0)
        return found.st_dev, found.st_ino

    def _open(self) -> sqlite3.Connection:
        disk.make_private_folder(self.path.parent)
        with opening.alone(self.path):
            if opening.is_damaged(self.path, self._check()):
                self._notices.append(str(faults.set_aside(self.path, opening.set_aside(self.path))))
            connection = opening.prepared(self.path, wal=self._wal)
            self._identity = self._checked = self._found()
        self._uses_wal, self._durable = opening.uses_wal(connection), True
        return connection

    def _check(self) -> opening.Check | None:
        if self._checked == self._found() or disk.size(self.path) > opening.QUICKLY_CHECKED:
            return None
        return "quick_check"

    def _set_aside_if_damaged(self) -> StoreError | None:
        """SQLite said so in the middle of its work; the fact that was written then is not stored."""
        try:
            with opening.alone(self.path):
                if opening.is_damaged(self.path, "integrity_check"):
                    return faults.set_aside(self.path, opening.set_aside(self.path))
        except faults.FAULTS as error:
            return faults.explained(error, self.path)
        return None


_all: weakref.WeakSet[Database] = weakref.WeakSet()
_held: list[Database] = []


def _before_fork() -> None:
    for each in sorted(_all, key=id):
        each.hold()
        _held.append(each)


def _after_fork() -> None:
    while _held:
        _held.pop().let_go()


if hasattr(os, "register_at_fork"):
    os.register_at_fork(before=_before_fork, after_in_parent=_after_fork, after_in_child=_after_fork)
