"""What SQLite and the system say when something fails -> what a person reads."""

from __future__ import annotations

import errno
import sqlite3
from pathlib import Path

from agent_magics.errors import StoreError

ELSEWHERE = "Until then turns run in memory. $AGENT_MAGICS_HOME may name another folder."


FAULTS = (sqlite3.Error, OSError, UnicodeDecodeError)
"""What using a file may raise. SQLite quotes a damaged file in its message, which may then be no text."""

_DAMAGE = (
    sqlite3.SQLITE_CORRUPT,
    sqlite3.SQLITE_NOTADB,
    sqlite3.SQLITE_CONSTRAINT,  # a broken index: what we write breaks no rule
)

Fault = sqlite3.Error | OSError | UnicodeDecodeError


def is_damage(error: Exception) -> bool:
    """Whether this may come from a file that is broken, or no database at all."""
    return isinstance(error, UnicodeDecodeError) or _code(error) in _DAMAGE


def is_read_only(error: Exception) -> bool:
    return _code(error) == sqlite3.SQLITE_READONLY


def is_busy(error: Exception) -> bool:
    return _code(error) in (sqlite3.SQLITE_BUSY, sqlite3.SQLITE_LOCKED)


def is_passing(error: Exception) -> bool:
    """Whether the open file is still good: to open it again needs room on the disk."""
    return is_busy(error) or _is_full(error)


def explained(error: Fault, path: Path) -> StoreError:
    """The error as three lines."""
    if is_busy(error):
        return StoreError(
            f"The file of sessions is locked: {str(path)!r}.",
            "Another program has held it for several seconds: a database browser, or a backup.",
            f"Close it there. {ELSEWHERE}",
        )
    if _is_full(error):
        return StoreError(
            f"The file of sessions can't grow: {str(path)!r}.",
            f"The disk is full ({error}). What was stored before is kept.",
            f"Make room there. {ELSEWHERE}",
        )
    if _is_closed(error):
        return StoreError(
            f"The file of sessions can't be written: {str(path)!r}.",
            f"The file or its folder is read-only, or belongs to somebody else ({error}).",
            f"Give yourself the right to write there. {ELSEWHERE}",
        )
    return StoreError(
        f"The file of sessions could not be used: {str(path)!r}.",
        f"SQLite or the system says: {error}.",
        f"What was stored before is kept. {ELSEWHERE}",
    )


def newer(path: Path, version: int, known: int) -> StoreError:
    return StoreError(
        f"The file of sessions is of a newer agent_magics: {str(path)!r}.",
        f"It has version {version}; this one reads up to {known}. It was left as it is.",
        f"Upgrade agent-magics. {ELSEWHERE}",
    )


def not_ours(path: Path) -> StoreError:
    return StoreError(
        f"This is another program's database: {str(path)!r}.",
        "It stands where the file of sessions belongs. It was left as it is.",
        f"Move it away. {ELSEWHERE}",
    )


def set_aside(path: Path, aside: Path) -> StoreError:
    return StoreError(
        f"The file of sessions was damaged and has been set aside: {str(aside)!r}.",
        f"SQLite could not read {str(path)!r} any more. A fresh one was begun.",
        "Notebooks hold their turns, too: `%agent /restore` brings them back.",
    )


def unreadable(session: str, error: Exception) -> StoreError:
    """A session whose records are newer, or not what was written."""
    what = str(error).split("\n")[0]
    return StoreError(
        f"The session {session!r} can't be opened.",
        f"{what} It was left as it is; other sessions are as they were.",
        "Upgrade agent-magics if it is newer. `%agent /restore` brings back what the notebook holds.",
    )


def _code(error: Exception) -> int:
    return getattr(error, "sqlite_errorcode", 0) & 0xFF


def _is_full(error: Exception) -> bool:
    if isinstance(error, OSError):
        return error.errno in (errno.ENOSPC, errno.EDQUOT, errno.EFBIG)
    return _code(error) == sqlite3.SQLITE_FULL


def _is_closed(error: Exception) -> bool:
    if isinstance(error, OSError):
        return error.errno in (errno.EACCES, errno.EPERM, errno.EROFS)
    return _code(error) in (sqlite3.SQLITE_READONLY, sqlite3.SQLITE_PERM, sqlite3.SQLITE_CANTOPEN)
