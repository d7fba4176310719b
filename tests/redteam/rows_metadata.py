"""Metadata that is data: what a path, a process or the machine is like, without opening anything."""

from __future__ import annotations

from typing import Any

from tests.redteam.rows import Family, Layer, Row, attack, twin

ONLY_SECCOMP = frozenset({Layer.SECCOMP})
IMPORTS = twin("import plistlib, cProfile; return plistlib.__name__ == 'plistlib'")
STATS_LIBRARY = twin("import os; return os.stat(os.__file__).st_size > 1000 and os.path.exists(os.__file__)")
RESOLVES = twin("import os; return os.path.realpath(os.__file__).endswith('os.py')")
TELLS = twin("import sys; return sys.version_info >= (3, 11) and sys.byteorder in ('little', 'big')")

EMPTY_PATH = (
    "C libraries before glibc 2.39 make fstat() of newfstatat with AT_EMPTY_PATH, which the loader of "
    "extension modules needs; seccomp can't see whether the path is really empty. Existence, size, owner and "
    "times of a guessed path; only from native code."
)


def _row(
    name: str, body: str, honest: str = STATS_LIBRARY, stops: frozenset[Layer] = ONLY_SECCOMP, **more: Any
) -> Row:
    return Row(name=name, family=Family.METADATA, attack=attack(body), twin=honest, stops=stops, **more)


ROWS = [
    _row("a file's size", "return os.stat(world['secret']).st_size == len(world['content'])"),
    _row("a file's existence", "return os.path.exists(world['secret'])"),
    _row("a link's own facts", "return os.lstat(world['link']).st_size > 0"),
    _row(
        "a file's facts by newfstatat",
        """
        facts = ctypes.create_string_buffer(256)
        return raw(262, 79, -100, text(world["secret"]), facts, 0) == 0
        """,
    ),
    _row(
        "a file's facts by newfstatat with AT_EMPTY_PATH",
        """
        facts = ctypes.create_string_buffer(256)
        return raw(262, 79, -100, text(world["secret"]), facts, 0x1000) == 0
        """,
        stops=frozenset(),
        open=EMPTY_PATH,
    ),
    _row(
        "a file's facts by statx",
        """
        facts = ctypes.create_string_buffer(512)
        return raw(332, 291, -100, text(world["secret"]), 0, 0x7FF, facts) == 0
        """,
    ),
    _row("what one may do with a file", "return os.access(world['secret'], os.R_OK)"),
    _row("where a link leads", "return os.readlink(world['link']) == 'secret'", RESOLVES),
    _row("which program one is", "return bool(os.readlink('/proc/self/exe'))", RESOLVES),
    _row("a file's attributes", "return os.listxattr(world['secret']) == []"),
    _row(
        "an attribute's value",
        """
        try:
            os.getxattr(world["secret"], "user.none")
        except OSError as error:
            return error.errno == 61  # no such attribute: we were let in to look
        """,
    ),
    _row("how full the disk is", "return os.statvfs('/').f_blocks > 0", TELLS),
    _row(
        "a handle that outlives its path",
        """
        handle = (ctypes.c_uint32 * 34)(128)
        mount = ctypes.c_int()
        return raw(303, 264, -100, text(world["secret"]), handle, ctypes.byref(mount), 0) == 0
        """,
        needs="a file system with handles",
    ),
    _row("the machine's name", "return bool(os.uname().nodename)", TELLS),
    _row(
        "uptime and memory of the machine",
        "return raw(99, 179, ctypes.create_string_buffer(256)) == 0",
        TELLS,
    ),
    _row("the processors of another process", "return bool(os.sched_getaffinity(world['host']))", TELLS),
    # 0 is an answer too: a leader outside of the container has no number within
    _row("the group of another process", "return os.getpgid(world['host']) >= 0", TELLS),
    _row("the session of another process", "return os.getsid(world['host']) >= 0", TELLS),
    _row(
        "the priority of another process", "return os.getpriority(os.PRIO_PROCESS, world['host']) < 20", TELLS
    ),
    _row(
        "the limits of another process",
        """
        import resource
        return bool(resource.prlimit(world["victim"], resource.RLIMIT_NOFILE))
        """,
        TELLS,
    ),
    _row("whether a process is there", "return os.pidfd_open(world['host']) >= 0", TELLS),
]
