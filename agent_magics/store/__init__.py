"""Where sessions outlive the process: one file, append-only facts, remembered texts.

State is a fold of facts (:mod:`agent_magics.talk.history`); nothing else is kept. What a fact means is
decided in ``talk``, who writes one in ``agent``; here is only how it stays.

==============  =====================================================================
``sqlite``      the store: facts of sessions, and what was remembered
``database``    its file, used by threads, processes and forks at once
``opening``     the file before it is used: locked, looked at, perhaps set aside, prepared
``migrations``  the tables, and how those of an older version become today's
``records``     facts <-> checked text, without keys
``faults``      what SQLite says -> what a person reads
``disk``        private files; which file systems need the old journal
``in_memory``   the same store without a file
==============  =====================================================================

Importing this package is cheap, and so is making a store: SQLite is loaded and the file opened when the store
is first used.
"""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

from agent_magics.store.in_memory import MemoryStore
from agent_magics.store.sqlite import SQLiteStore

FILE = "sessions.db"


def store_at(
    home: Path,
    *,
    mask: Callable[[str], str] = lambda text: text,
    notice: Callable[[str], None] | None = None,
) -> SQLiteStore:
    """The store in a folder (``AGENT_MAGICS_HOME``); folder and file are made when it is first used.

    ``mask`` and ``notice`` are those of :class:`~agent_magics.store.sqlite.SQLiteStore`.
    """
    return SQLiteStore(home / FILE, mask=mask, notice=notice)


__all__ = ["FILE", "MemoryStore", "SQLiteStore", "store_at"]
