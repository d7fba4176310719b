"""The checkpoint: what is kept, under what, and what a crash leaves."""

from __future__ import annotations

import signal
import sqlite3
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from agent_magics.errors import ConfigError
from agent_magics.extract.checkpoint import Checkpoint

COMMON: dict[str, Any] = {"provider": "p", "model": "m", "schema": {"type": "object"}, "instruction": "i"}


def test_what_was_kept_is_known_the_next_time(tmp_path: Path) -> None:
    path = tmp_path / "run.db"
    with Checkpoint(path, **COMMON) as first:
        first.keep([("a", {"x": "é"}), ("b", None), ("a\ud83d", [1])])
    with Checkpoint(path, **COMMON) as second:
        assert {"a": {"x": "é"}, "b": None, "a\ud83d": [1]} == second.known(["a", "b", "c", "a\ud83d"])


@pytest.mark.parametrize(
    "change",
    [
        {"provider": "q"},
        {"model": "n"},
        {"schema": {"type": "array"}},
        {"instruction": "j"},
    ],
)
def test_another_question_is_another_key(tmp_path: Path, change: dict[str, Any]) -> None:
    path = tmp_path / "run.db"
    with Checkpoint(path, **COMMON) as first:
        first.keep([("a", 1)])
    with Checkpoint(path, **COMMON | change) as second:
        assert {} == second.known(["a"])


def test_thousands_of_rows_are_looked_up_together(tmp_path: Path) -> None:
    texts = [f"row {at}" for at in range(3_000)]
    with Checkpoint(tmp_path / "run.db", **COMMON) as kept:
        kept.keep([(text, at) for at, text in enumerate(texts)])
        assert {text: at for at, text in enumerate(texts)} == kept.known(texts)


def test_neither_row_nor_instruction_is_in_the_file(tmp_path: Path) -> None:
    path = tmp_path / "run.db"
    asked: dict[str, Any] = COMMON | {"instruction": "look for secrets"}
    with Checkpoint(path, **asked) as kept:
        kept.keep([("the row's own text", {"x": 1})])

    written = b"".join(each.read_bytes() for each in tmp_path.glob("run.db*"))
    assert b"own text" not in written
    assert b"secrets" not in written
    assert 0o600 == path.stat().st_mode & 0o777


def test_a_file_of_somebody_else_is_left_alone(tmp_path: Path) -> None:
    text = tmp_path / "notes.txt"
    text.write_text("not a database, but long enough to look at" * 10)
    other = tmp_path / "other.db"
    with sqlite3.connect(other) as database:
        database.execute("CREATE TABLE theirs (x)")
    database.close()

    for path in (text, other, tmp_path / "no" / "folder.db"):
        before = path.read_bytes() if path.exists() else None
        with pytest.raises(ConfigError, match="checkpoint"):
            Checkpoint(path, **COMMON)
        assert before == (path.read_bytes() if path.exists() else None)


def test_a_killed_process_leaves_what_it_had_kept(tmp_path: Path) -> None:
    path = tmp_path / "run.db"
    code = f"""
import os, signal
from agent_magics.extract.checkpoint import Checkpoint
kept = Checkpoint({str(path)!r}, **{COMMON!r})
for at in range(50):
    kept.keep([(f"row {{at}}", at)])
os.kill(os.getpid(), signal.SIGKILL)
"""
    ended = subprocess.run([sys.executable, "-c", code], timeout=60, check=False)
    assert -signal.SIGKILL == ended.returncode

    with Checkpoint(path, **COMMON) as kept:
        assert 50 == len(kept.known([f"row {at}" for at in range(50)]))
