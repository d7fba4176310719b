"""Processes as the kernel lists them: which there are, and whether one is gone."""

from __future__ import annotations

import contextlib
import os
from pathlib import Path

ZYGOTE = "agent_magics.sandbox.zygote"


def children(pid: int) -> set[int]:
    """The processes that have it as their parent.

    The kernel lists them by thread. When one ends, its children pass to another, which may have been read
    already: so they are read twice.
    """
    found: set[int] = set()
    for _ in range(2):
        with contextlib.suppress(FileNotFoundError, ProcessLookupError):  # it has ended
            for task in Path(f"/proc/{pid}/task").iterdir():
                found.update(map(int, _read(task / "children").split()))
    return found


def zygotes(pid: int | None = None) -> set[int]:
    """The zygotes of a process; of this one if none is named."""
    return {
        child for child in children(pid or os.getpid()) if ZYGOTE in _read(Path(f"/proc/{child}/cmdline"))
    }


def ours(mark: str) -> set[int]:
    """The children of this process whose command line says this."""
    return {child for child in children(os.getpid()) if mark in _read(Path(f"/proc/{child}/cmdline"))}


def calls(pid: int | None = None) -> set[int]:
    """The calls that the zygotes of a process have under way."""
    return {call for zygote in zygotes(pid) for call in calls_of(zygote)}


def calls_of(zygote: int) -> set[int]:
    """The calls of one zygote; the child that waits for one is none."""
    return {child for child in children(zygote) if _name(child) == "sandbox-call"}


def gone(pid: int) -> bool:
    """Whether it has ended; a zombie has."""
    state = _read(Path(f"/proc/{pid}/stat")).rpartition(")")[2].split()[:1]
    return state in ([], ["Z"], ["X"])


def _name(pid: int) -> str:
    return _read(Path(f"/proc/{pid}/comm")).strip()


def _read(path: Path) -> str:
    """What the kernel tells; nothing of who is gone."""
    try:
        return path.read_text(errors="replace")
    except (FileNotFoundError, ProcessLookupError):
        return ""
