"""Which system calls a confined child may make: data, read top to bottom by :mod:`.confine`.

The rule is an allow list: what is not named fails with ``EPERM``, whatever it may be. That is every call that
makes a process, a socket, a signal, a file, or a timer, that asks about a path, another process or the
machine, and every call that this table's authors have not heard of. A call that takes sub-commands is allowed
by its sub-commands, never by its name alone. Seccomp sees numbers and not what pointers point at, so paths
are Landlock's to judge. The table is short on purpose, with masks where numbers are neighbours: the kernel
compiles it anew in every child.

What stays open, knowingly:

``newfstatat`` with ``AT_EMPTY_PATH``
    glibc before 2.39 makes ``fstat(fd)`` of it, and the dynamic loader needs that. Native code can pass a
    path along with the flag, and so learn whether a path exists, its size, owner and times. Where the C
    library knows better (found by trying, :func:`.zygote.fstat_is_its_own_call`), it is closed as well.
Executable mappings of files that may be read
    Extension modules are loaded late. Memory that is written and then executed is refused.

Sources: ``man 2`` of each call; linux/fcntl.h, futex.h, mman.h, prctl.h as of Linux 6.18.
"""

from __future__ import annotations

import errno
import os
from dataclasses import dataclass

WORD = 0xFFFF_FFFF_FFFF_FFFF

O_TMPFILE_BIT = 0o20000000  # the kernel's __O_TMPFILE, without O_DIRECTORY
O_ASYNC = 0o20000  # the kernel would send SIGIO for the file
MAP_ANONYMOUS = 0x20
PROT_WRITE = 0x2
PROT_EXEC = 0x4
AT_EMPTY_PATH = 0x1000
FUTEX_FLAGS = 0x180  # FUTEX_PRIVATE_FLAG | FUTEX_CLOCK_REALTIME


@dataclass(frozen=True)
class Test:
    """Holds when ``argument & mask == value``; the whole 64-bit argument unless a mask says otherwise."""

    argument: int
    value: int
    mask: int = WORD


@dataclass(frozen=True)
class Rule:
    """What happens to a call whose arguments pass every test; the first matching rule wins."""

    call: str
    error: int = 0
    tests: tuple[Test, ...] = ()


def _allow(names: str) -> list[Rule]:
    return [Rule(name) for name in names.split()]


def _one_of(call: str, argument: int, values: tuple[int, ...], mask: int = WORD) -> list[Rule]:
    return [Rule(call, 0, (Test(argument, value, mask),)) for value in values]


# What running Python needs: its memory, its descriptors, its own signals, its end.
ALWAYS = [
    *_allow("read readv pread64 write writev lseek close fstat getdents64 getcwd dup"),
    *_allow("brk munmap mremap"),
    *_allow("rt_sigaction rt_sigprocmask rt_sigreturn sigaltstack"),
    *_allow("getpid gettid getuid geteuid getgid getegid sched_yield"),
    *_allow("exit exit_group restart_syscall"),
    # F_DUPFD, F_GETFD, F_SETFD, F_GETFL, F_DUPFD_CLOEXEC. Not F_SETOWN, F_SETSIG, F_NOTIFY or F_SETLEASE, by
    # which the kernel sends signals for us; not locks, which reach into other processes.
    *_one_of("fcntl", 1, (0,), WORD ^ 0b11),
    *_one_of("fcntl", 1, (1030,)),
    # TCGETS, TIOCGWINSZ, FIONREAD, FIONCLEX, FIOCLEX: what isatty() and open() ask.
    *_one_of("ioctl", 1, (0x5401, 0x5413, 0x541B)),
    *_one_of("ioctl", 1, (0x5450,), WORD ^ 0b1),
    # NORMAL, RANDOM, SEQUENTIAL, WILLNEED, DONTNEED, FREE, HUGEPAGE, NOHUGEPAGE. Not REMOVE, MERGEABLE,
    # SOFT_OFFLINE or HWPOISON.
    *_one_of("madvise", 2, (0,), WORD ^ 0b11),
    *_one_of("madvise", 2, (4, 8)),
    *_one_of("madvise", 2, (14,), WORD ^ 0b1),
    # WAIT, WAKE, WAIT_BITSET, WAKE_BITSET: no priority inheritance, no requeueing.
    *_one_of("futex", 1, (0, 1, 9, 10), WORD ^ FUTEX_FLAGS),
    Rule("prlimit64", 0, (Test(0, 0), Test(2, 0))),  # read one's own limits
    Rule("getrlimit"),
    Rule("sched_getaffinity", 0, (Test(0, 0),)),
    Rule("close_range", 0, (Test(2, 0),)),  # glibc aborts where it is refused
    Rule("mprotect", 0, (Test(2, 0, PROT_EXEC),)),
    Rule("mmap", 0, (Test(2, 0, PROT_EXEC),)),
    Rule("newfstatat", 0, (Test(3, AT_EMPTY_PATH),)),
]

# With a grant of the clock: reading it, and sleeping.
CLOCK = _allow(
    "clock_gettime clock_getres gettimeofday time times getrusage getitimer nanosleep clock_nanosleep"
)

# With Landlock watching: reading files and mapping extension modules.
_WRITING = os.O_WRONLY | os.O_RDWR | os.O_CREAT | os.O_TRUNC | os.O_APPEND | O_TMPFILE_BIT
_SIDEWAYS = getattr(os, "O_PATH", 0o10000000) | getattr(os, "O_NOATIME", 0o1000000) | O_ASYNC
FILES = [
    Rule("open", 0, (Test(1, 0, _WRITING | _SIDEWAYS),)),
    Rule("openat", 0, (Test(2, 0, _WRITING | _SIDEWAYS),)),
    Rule("mmap", 0, (Test(2, PROT_EXEC, PROT_EXEC | PROT_WRITE), Test(3, 0, MAP_ANONYMOUS))),
]

# Refusals that callers understand better than EPERM. "Not a symbolic link" lets realpath() go on; "no
# terminal" is what isatty() asks for.
REFUSED = [
    Rule("readlink", errno.EINVAL),
    Rule("readlinkat", errno.EINVAL),
    Rule("ioctl", errno.ENOTTY),
]


def rules(*, files: bool, clock: bool, path_stat: bool) -> list[Rule]:
    """The rules for one kind of child, in the order in which they are tried.

    Parameters
    ----------
    files : bool
        Whether files may be opened for reading; only with Landlock to say which.
    clock : bool
        Whether the clock was granted.
    path_stat : bool
        Whether this C library needs ``newfstatat`` for ``fstat`` (see above).
    """
    allowed = [*ALWAYS, *(CLOCK if clock else ()), *(FILES if files else ())]
    if not path_stat:
        allowed = [rule for rule in allowed if rule.call != "newfstatat"]
    return [*allowed, *REFUSED]
