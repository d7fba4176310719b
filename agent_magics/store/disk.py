"""The folder and the files: private, on the disk, and on which kind of file system."""

from __future__ import annotations

import os
import sys
from contextlib import suppress
from pathlib import Path

NETWORK = frozenset(
    (
        *(
            "9p",
            "afs",
            "beegfs",
            "ceph",
            "cifs",
            "coda",
            "davfs",
            "davfs2",
            "fuse",
            "gfs2",
            "glusterfs",
            "gpfs",
        ),
        *("lustre", "ncpfs", "nfs", "nfs4", "ocfs2", "smb3", "smbfs", "virtiofs"),
        *("fakeowner", "grpcfuse", "osxfs", "prl_fs", "vboxsf", "vmhgfs"),  # a host's folder in a guest
    )
)
"""File systems that several machines may share. WAL needs memory that all its users share, so it is not for
these; nor for FUSE (``fuse.sshfs``, ``fuse.s3fs`` ...), which may be anything."""

MOUNTS = Path("/proc/self/mountinfo")


def make_private_folder(folder: Path) -> None:
    """Make a folder that only its owner can enter. One that exists stays as its owner wants it."""
    folder.parent.mkdir(parents=True, exist_ok=True)
    with suppress(FileExistsError):
        folder.mkdir(mode=0o700)


def make_private_file(path: Path) -> bool:
    """Make an empty file that only its owner can read; whether it is new.

    An existing one is not opened: closing it would drop the locks that this process holds on it.
    """
    try:
        os.close(os.open(path, os.O_CREAT | os.O_EXCL | os.O_RDWR, 0o600))
    except FileExistsError:
        if path.stat().st_mode & 0o077:
            with suppress(OSError):  # somebody else's: then it isn't ours to close
                path.chmod(0o600)
        return False
    return True


def sync_folder(folder: Path) -> None:
    """Have a folder's entries on the disk, where folders can be opened."""
    if sys.platform == "win32":
        return
    descriptor = os.open(folder, os.O_RDONLY)
    try:
        with suppress(OSError):  # some network file systems can't
            os.fsync(descriptor)
    finally:
        os.close(descriptor)


def size(path: Path) -> int:
    """Bytes of a file; 0 if there is none."""
    try:
        return path.stat().st_size
    except FileNotFoundError:
        return 0


def is_shared_by_network(folder: Path, mounts: Path = MOUNTS) -> bool:
    """Whether other machines may see this folder too.

    Linux lists each mount with its device and kind, and a network path of Windows begins with two
    backslashes. Elsewhere this can't be told, and SQLite's own answer decides: it stays with the old journal
    where it can't share memory.
    """
    if sys.platform == "win32":
        return folder.drive.startswith("\\\\")
    device = folder.stat().st_dev
    wanted = f"{os.major(device)}:{os.minor(device)}"
    try:
        lines = mounts.read_text("utf-8", "replace").splitlines()
    except OSError:
        return False
    return any(_is_network(_kind(line)) for line in lines if _device(line) == wanted)


# A line is ``36 35 98:0 /mnt1 /mnt2 rw,noatime master:1 - ext3 /dev/root rw``.


def _device(line: str) -> str:
    return line.split(" ", 3)[2] if line.count(" ") > 2 else ""


def _kind(line: str) -> str:
    return line.partition(" - ")[2].partition(" ")[0]


def _is_network(kind: str) -> bool:
    return kind in NETWORK or kind.startswith("fuse.")
