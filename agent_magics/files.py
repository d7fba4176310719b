"""Files that are there whole or not at all."""

from __future__ import annotations

import os
import sys
import uuid
from contextlib import suppress
from pathlib import Path


def write_whole(path: Path, text: str) -> None:
    """Write a file so that whoever reads it finds the old text or the new one, also after a power cut.

    Parameters
    ----------
    path : Path
        In a folder that exists.
    text : str
        Kept as it is: line ends are not translated.

    Raises
    ------
    OSError
        If it can't be written; what was there before still is.
    """
    beside = path.with_name(f".{uuid.uuid4().hex[:12]}.tmp")
    try:
        with beside.open("x", encoding="utf-8", newline="") as file:
            file.write(text)
            file.flush()
            os.fsync(file.fileno())
        beside.replace(path)
    except BaseException:
        with suppress(OSError):
            beside.unlink()
        raise
    sync(path.parent)


def sync(folder: Path) -> None:
    """Have a folder's entries on the disk; where folders can't be opened the system sees to it by itself."""
    if sys.platform == "win32":
        return
    descriptor = os.open(folder, os.O_RDONLY)
    try:
        os.fsync(descriptor)
    finally:
        os.close(descriptor)
