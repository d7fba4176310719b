"""The checkpoint: answers kept in SQLite under what was asked, so that a second run goes on where one ended.

A key is a hash over the provider, its model, the schema, the instruction and the row's text; nothing else
of them is in the file. Only values are kept: a row that failed is asked again. Writing is by batches in
write-ahead mode: a process that is killed loses the last batch at most, never the file, and two runs may
share one file. https://sqlite.org/wal.html
"""

from __future__ import annotations

import hashlib
import json
import sqlite3
from collections.abc import Mapping, Sequence
from pathlib import Path
from types import TracebackType
from typing import Any, Self

from agent_magics.errors import ConfigError
from agent_magics.talk import JSON

_APPLICATION = 0x61676D78  # "agmx"
_VERSION = 1
_PATIENCE = 30.0
_LOOKUP = 500

_TABLE = "CREATE TABLE IF NOT EXISTS answers (key BLOB PRIMARY KEY, value TEXT NOT NULL) WITHOUT ROWID"


class Checkpoint:
    """Answers in a file. For the thread that opened it.

    Parameters
    ----------
    path : path
        The file; made when it isn't there, readable for its owner only.
    provider, model, instruction : str
        What all rows have in common.
    schema : dict
        The JSON Schema.

    Raises
    ------
    ConfigError
        If the file can't be used.

    Examples
    --------
    >>> with Checkpoint(":memory:", provider="p", model="m", schema={}, instruction="") as kept:
    ...     kept.keep([("a row", {"age": 3})])
    ...     kept.known(["a row", "another"])
    {'a row': {'age': 3}}
    """

    def __init__(
        self,
        path: str | Path,
        *,
        provider: str,
        model: str,
        schema: Mapping[str, JSON] | bool,
        instruction: str,
    ) -> None:
        self.path = str(path)
        common = json.dumps([provider, model, schema, instruction], sort_keys=True, ensure_ascii=True)
        self._run = hashlib.blake2b(common.encode(), digest_size=16)
        try:
            self._database = opened(self.path)
        except (sqlite3.Error, OSError) as error:
            raise unusable(self.path, error) from None

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()

    def known(self, texts: Sequence[str]) -> dict[str, JSON]:
        """The values that were kept for some of ``texts``."""
        keys = {self.key(text): text for text in texts}
        found: dict[str, JSON] = {}
        listed = [*keys]
        for at in range(0, len(listed), _LOOKUP):
            some = listed[at : at + _LOOKUP]
            marks = ",".join("?" * len(some))
            rows = self._do(f"SELECT key, value FROM answers WHERE key IN ({marks})", some)  # noqa: S608 (marks only)
            found |= {keys[key]: json.loads(value) for key, value in rows}
        return found

    def keep(self, answers: Sequence[tuple[str, JSON]]) -> None:
        """Keep the values of these texts, all or none."""
        rows = [(self.key(text), json.dumps(value, ensure_ascii=False)) for text, value in answers]
        try:
            with self._database:
                self._database.executemany("INSERT OR REPLACE INTO answers VALUES (?, ?)", rows)
        except sqlite3.Error as error:
            raise unusable(self.path, error) from None

    def key(self, text: str) -> bytes:
        """What a text's value is kept under."""
        hashed = self._run.copy()
        hashed.update(text.encode("utf-8", "surrogatepass"))
        return hashed.digest()

    def close(self) -> None:
        self._database.close()

    def _do(self, statement: str, values: Sequence[Any]) -> list[Any]:
        try:
            return self._database.execute(statement, values).fetchall()
        except sqlite3.Error as error:
            raise unusable(self.path, error) from None


def opened(path: str, *, shared: bool = False) -> sqlite3.Connection:
    """A database of ours at ``path``; ``shared`` by threads that take turns."""
    if path != ":memory:":
        Path(path).touch(mode=0o600)
    database = sqlite3.connect(path, timeout=_PATIENCE, check_same_thread=not shared)
    try:
        ours = database.execute("PRAGMA application_id").fetchone()[0]
        empty = not database.execute("SELECT count(*) FROM sqlite_master").fetchone()[0]
        if ours != _APPLICATION and not empty:
            raise sqlite3.DatabaseError("it holds something else")
        database.execute("PRAGMA journal_mode=WAL")
        database.execute("PRAGMA synchronous=NORMAL")
        database.execute(f"PRAGMA application_id={_APPLICATION}")
        database.execute(f"PRAGMA user_version={_VERSION}")
        database.execute(_TABLE)
    except BaseException:
        database.close()
        raise
    return database


def unusable(path: str, error: Exception) -> ConfigError:
    """The error of a file that can't be used."""
    return ConfigError(
        f"The checkpoint {path!r} can't be used.",
        f"{type(error).__name__}: {error}.",
        "Name another file, or remove this one.",
    )
