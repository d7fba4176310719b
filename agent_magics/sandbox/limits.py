"""Limits that the kernel keeps for a process, whatever the code in it does.

Runs in the zygote and its children only, on Linux. The memory limit is an address-space limit
(``RLIMIT_AS``), since that is the one the kernel enforces without cgroups; it is set relative to what the
process uses after warm-up, so that the promised megabytes belong to the tool and not to the interpreter.
"""

from __future__ import annotations

import contextlib
import ctypes
import os
import resource
import signal
from pathlib import Path

PR_SET_PDEATHSIG = 1
PR_SET_DUMPABLE = 4
PR_SET_NAME = 15
PR_SET_CHILD_SUBREAPER = 36
LARGEST_FILE = 16 << 20  # a tool writes no files; this bounds what an unconfined level could write
OPEN_FILES = 64
CAPABILITY_VERSION_3 = 0x20080522  # linux/capability.h
CAPABILITY_HEADER = (ctypes.c_uint32 * 2)(CAPABILITY_VERSION_3, 0)  # made here, once, and not in every child
NO_CAPABILITIES = (ctypes.c_uint32 * 6)()  # effective, permitted, inheritable, two words each

libc = ctypes.CDLL(None, use_errno=True)


def _check(result: int, call: str) -> None:
    if result != 0:
        code = ctypes.get_errno()
        raise OSError(code, f"{call}: {os.strerror(code)}")


def die_with_parent(parent: int) -> None:
    """Let the kernel kill this process when the zygote dies, also if it died a moment ago."""
    _check(libc.prctl(PR_SET_PDEATHSIG, signal.SIGKILL, 0, 0, 0), "prctl(PR_SET_PDEATHSIG)")
    if os.getppid() != parent:
        os._exit(1)


def hide_from_siblings() -> None:
    """Make ``/proc/<pid>`` of this process unreadable and untraceable for others of the same user."""
    _check(libc.prctl(PR_SET_DUMPABLE, 0, 0, 0, 0), "prctl(PR_SET_DUMPABLE)")


def be_called(name: bytes) -> None:
    """Show by this name where processes are listed."""
    _check(libc.prctl(PR_SET_NAME, name, 0, 0, 0), "prctl(PR_SET_NAME)")


def adopt_orphans() -> None:
    """Become the parent of whatever an unconfined child leaves behind, so that it can be found and ended."""
    _check(libc.prctl(PR_SET_CHILD_SUBREAPER, 1, 0, 0, 0), "prctl(PR_SET_CHILD_SUBREAPER)")


def volunteer_for_oom() -> None:
    """If the machine runs out of memory, a tool dies before the user's kernel does."""
    with contextlib.suppress(OSError):  # some containers mount /proc read-only
        Path("/proc/self/oom_score_adj").write_text("800")


def drop_capabilities() -> None:
    """Give up root's powers for good; what no-new-privileges then keeps away."""
    _check(libc.capset(CAPABILITY_HEADER, NO_CAPABILITIES), "capset")


def address_space() -> int:
    """Bytes of address space that this process uses now."""
    return int(Path("/proc/self/statm").read_bytes().split()[0]) * resource.getpagesize()


def apply_limits(*, memory: int, cpu_seconds: int) -> None:
    """Set every limit for good; ``memory`` is the whole address space in bytes, baseline included.

    The soft CPU limit sends SIGXCPU, which code can ignore; the hard one, a second later, kills.
    """
    for kind, soft, hard in (
        (resource.RLIMIT_AS, memory, memory),
        (resource.RLIMIT_CPU, cpu_seconds, cpu_seconds + 1),
        (resource.RLIMIT_FSIZE, LARGEST_FILE, LARGEST_FILE),
        (resource.RLIMIT_NOFILE, OPEN_FILES, OPEN_FILES),
        (resource.RLIMIT_NPROC, 0, 0),
        (resource.RLIMIT_CORE, 0, 0),
        (resource.RLIMIT_MEMLOCK, 0, 0),
        (resource.RLIMIT_MSGQUEUE, 0, 0),
        (resource.RLIMIT_SIGPENDING, 0, 0),
    ):
        ceiling = resource.getrlimit(kind)[1]  # a container may allow less than we do
        highest = hard if ceiling == resource.RLIM_INFINITY else min(hard, ceiling)
        resource.setrlimit(kind, (min(soft, highest), highest))
