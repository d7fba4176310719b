"""Memory that is made code, and what might be left in memory."""

from __future__ import annotations

import os
import subprocess
import sys

from tests.redteam.rows import Family, Layer, Row, attack, twin

ONLY_SECCOMP = frozenset({Layer.SECCOMP})
BUFFERS = twin("import array; return memoryview(array.array('d', [1, 2])).nbytes == 16")
LOADS_EXTENSIONS = twin("import _decimal, _elementtree, _sqlite3; return _decimal.Decimal(1) == 1")


def _a_plain_process_sees_the_secret(_: object) -> bool:
    """A process that is simply started has its parent's environment."""
    reads = "import os; print(os.environ['REDTEAM_KEY'])"
    environment = {**os.environ, "REDTEAM_KEY": "sk-redteam"}
    command = [sys.executable, "-c", reads]
    heard = subprocess.run(command, env=environment, capture_output=True, timeout=20, check=False)
    return b"sk-redteam" in heard.stdout


def _row(name: str, body: str, honest: str = BUFFERS) -> Row:
    return Row(name=name, family=Family.MEMORY, attack=attack(body), twin=honest, stops=ONLY_SECCOMP)


ROWS = [
    _row(
        "memory to write and to run",
        "import mmap; return len(mmap.mmap(-1, 4096, flags=mmap.MAP_PRIVATE, prot=7)) == 4096",
    ),
    _row(
        "write memory, then run it",
        """
        libc.mmap.restype = ctypes.c_void_p
        page = libc.mmap(None, 4096, 3, 0x22, -1, 0)
        return libc.mprotect(ctypes.c_void_p(page), 4096, 5) == 0
        """,
    ),
    _row(
        "memory to run that comes from nowhere",
        """
        libc.mmap.restype = ctypes.c_long
        return libc.mmap(None, 4096, 5, 0x22, -1, 0) != -1
        """,
    ),
    _row(
        "rewrite a library's code",
        """
        libc.mprotect.argtypes = [ctypes.c_void_p, ctypes.c_size_t, ctypes.c_int]
        place = ctypes.cast(libc.getpid, ctypes.c_void_p).value & ~4095
        return libc.mprotect(place, 4096, 7) == 0
        """,
        LOADS_EXTENSIONS,
    ),
    Row(
        name="keys in the environment",
        family=Family.MEMORY,
        attack=attack("return [name for name in os.environ if 'KEY' in name or 'TOKEN' in name]"),
        twin=twin("import os; return os.environ.get('LANG') == 'C.UTF-8'"),
        stops=frozenset({Layer.ZYGOTE}),
        canary=_a_plain_process_sees_the_secret,
    ),
    Row(
        name="the host's secrets in the zygote's memory",
        family=Family.MEMORY,
        attack=attack("""
            import gc
            needle = "".join(reversed("maetder-ks"))
            kept = [*gc.get_objects(), dict(os.environ)]
            return [thing for thing in kept if isinstance(thing, dict) and needle in map(str, thing.values())]
            """),
        twin=twin("import gc; return gc.isenabled()"),
        stops=frozenset({Layer.ZYGOTE}),
        canary=_a_plain_process_sees_the_secret,
    ),
]
