"""One writer at a time, across threads and processes."""

from __future__ import annotations

import contextlib
import sys
import threading
import time
from collections.abc import Generator
from pathlib import Path
from typing import IO

from agent_magics.errors import ConfigError

PATIENCE = 10.0
"""Seconds to wait for another writer."""

_TICK = 0.01
_threads = threading.RLock()


@contextlib.contextmanager
def locked(folder: Path) -> Generator[None]:
    """Hold the folder's lock for a block; the operating system lets go of it when a process dies.

    Raises
    ------
    ConfigError
        If another process holds it too long.
    """
    folder.mkdir(parents=True, exist_ok=True, mode=0o700)
    with _threads, (folder / ".lock").open("a+b") as file:
        _take(file, folder)
        try:
            yield
        finally:
            _let_go(file)


def _take(file: IO[bytes], folder: Path) -> None:
    deadline = time.monotonic() + PATIENCE
    while not _try(file):
        if time.monotonic() > deadline:
            raise ConfigError(
                f"{str(folder)!r} is in use.",
                "Another process has been writing there for more than 10 s.",
                "Try again when it is done.",
            )
        time.sleep(_TICK)


if sys.platform == "win32":
    import msvcrt

    def _try(file: IO[bytes]) -> bool:
        try:
            file.seek(0)
            msvcrt.locking(file.fileno(), msvcrt.LK_NBLCK, 1)
        except OSError:
            return False
        return True

    def _let_go(file: IO[bytes]) -> None:
        file.seek(0)
        msvcrt.locking(file.fileno(), msvcrt.LK_UNLCK, 1)

else:
    import fcntl

    def _try(file: IO[bytes]) -> bool:
        try:
            fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            return False
        return True

    def _let_go(file: IO[bytes]) -> None:
        fcntl.flock(file, fcntl.LOCK_UN)
