"""Every kind of store, and the same one as another process would open it."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from agent_magics.store import MemoryStore, SQLiteStore


class Files:
    """Stores on one file."""

    def __init__(self, path: Path) -> None:
        self.path = path
        self.notices: list[str] = []
        self._opened: list[SQLiteStore] = []

    def open(self, **options: Any) -> SQLiteStore:
        """A further store on the file."""
        self._opened.append(SQLiteStore(self.path, notice=self.notices.append, **options))
        return self._opened[-1]

    def close(self) -> None:
        for store in self._opened:
            store.close()

    def damaged(self) -> list[Path]:
        """The files that were set aside."""
        return sorted(self.path.parent.glob("sessions.damaged-*.db"))


@pytest.fixture
def files(tmp_path: Path) -> Iterator[Files]:
    files = Files(tmp_path / "store" / "sessions.db")
    yield files
    files.close()


Kinds = {
    "in memory": lambda files: MemoryStore(),
    "with a write-ahead log": lambda files: files.open(wal=True),
    "with a rollback journal": lambda files: files.open(wal=False),
}


@pytest.fixture(params=Kinds.values(), ids=list(Kinds))
def store(request: pytest.FixtureRequest, files: Files) -> MemoryStore | SQLiteStore:
    make: Callable[[Files], MemoryStore | SQLiteStore] = request.param
    return make(files)
