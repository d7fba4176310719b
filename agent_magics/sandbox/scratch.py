"""A tool's scratch folder, in the host: the tool asks, the host writes.

The child itself never gets to write a file, so links, devices, start-up files and paths that lead elsewhere
can't be made; and the number and size of files is bounded exactly, which the kernel would not do for us.
"""

from __future__ import annotations

import os
import re
import shutil
import tempfile
from pathlib import Path

MOST_FILES = 64
LARGEST_FOLDER = 16 << 20
NAME = re.compile(r"[A-Za-z0-9][A-Za-z0-9._-]{0,99}")


class ScratchError(Exception):
    """Why a file was not written, read or removed."""


class ScratchFolder:
    """Files by plain names.

    Parameters
    ----------
    path : Path, optional
        An existing folder, left in place on close; a temporary one otherwise.
    """

    def __init__(self, path: Path | None = None) -> None:
        self._own = path is None
        self.path = Path(tempfile.mkdtemp(prefix="agent-magics-")) if path is None else path

    def names(self) -> list[str]:
        """The names of the files, sorted."""
        return sorted(entry.name for entry in os.scandir(self.path) if entry.is_file(follow_symlinks=False))

    def read(self, name: str) -> bytes:
        """The bytes of a file."""
        try:
            descriptor = os.open(self._place(name), os.O_RDONLY | os.O_NOFOLLOW | os.O_CLOEXEC)
        except OSError as error:
            raise ScratchError(f"there is no file {name!r}") from error
        with os.fdopen(descriptor, "rb") as file:
            return file.read(LARGEST_FOLDER)

    def write(self, name: str, data: bytes) -> None:
        """Write a file whole, replacing an earlier one."""
        place = self._place(name)
        sizes = {other: (self.path / other).stat().st_size for other in self.names() if other != name}
        if len(sizes) >= MOST_FILES:
            raise ScratchError(f"the folder holds {MOST_FILES} files already")
        if sum(sizes.values()) + len(data) > LARGEST_FOLDER:
            raise ScratchError(f"the folder would hold more than {LARGEST_FOLDER >> 20} MB")
        flags = os.O_WRONLY | os.O_CREAT | os.O_TRUNC | os.O_NOFOLLOW | os.O_CLOEXEC
        with os.fdopen(os.open(place, flags, 0o600), "wb") as file:
            file.write(data)

    def delete(self, name: str) -> None:
        """Remove a file."""
        try:
            self._place(name).unlink()
        except OSError as error:
            raise ScratchError(f"there is no file {name!r}") from error

    def close(self) -> None:
        """Remove the folder, if it is a temporary one."""
        if self._own:
            shutil.rmtree(self.path, ignore_errors=True)

    def _place(self, name: str) -> Path:
        if not NAME.fullmatch(name):
            raise ScratchError(f"{name!r} is no plain file name (letters, digits, '.', '_', '-')")
        return self.path / name
