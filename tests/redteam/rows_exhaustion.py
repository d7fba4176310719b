"""Using up time, memory, processes, descriptors and whatever the host reads.

Each attack is bounded, so that it can succeed where nothing stops it: it takes more than a call is given, and
then returns. With the walls down it is given ten times as much.
"""

from __future__ import annotations

import itertools
import json
import pickle
import subprocess
import sys
from typing import Any

from tests.redteam.rows import Family, Layer, Row, attack, twin

LIMITS, HOST, WORKER = frozenset({Layer.LIMITS}), frozenset({Layer.HOST}), frozenset({Layer.WORKER})
PROCESSES = frozenset({Layer.SECCOMP})
MODEST = twin("return len(bytearray(40 << 20)) == 40 << 20")
QUICK = twin("return sum(range(100_000)) == 4999950000")
PRINTS = twin("print('x' * 10_000); return True")
RETURNS = twin("return ['x' * 100_000] * 5")
TAKES = twin("import itertools; return list(itertools.islice(itertools.count(), 3)) == [0, 1, 2]")
MATCHES = twin("import re; return re.findall(r'(a+)b', 'aab ab') == ['aa', 'a']")
RECURSES = twin("""
    def depth(n):
        return 0 if n == 0 else 1 + depth(n - 1)
    return depth(500) == 500
""")
SPIN = "end = time.thread_time() + 0.8"
AS_TEXT = 1 if sys.version_info < (3, 12) else 12
"""A number takes as long as twelve do since Python 3.12."""

OVERFLOW = """
import sys
sys.setrecursionlimit(10 ** 9)
class Endless:
    def __repr__(self): return repr([self])
"""


def _plain(source: str) -> subprocess.CompletedProcess[bytes]:
    """The same in a Python that nobody watches."""
    return subprocess.run([sys.executable, "-I", "-c", source], capture_output=True, timeout=30, check=False)


def _holds_itself(_: object) -> bool:
    held: list[Any] = []
    held.append(held)
    return pickle.loads(pickle.dumps(held))[0] is not None


def _row(name: str, body: str, ends: str, stops: frozenset[Layer], honest: str, **more: Any) -> Row:
    family = Family.EXHAUSTION
    return Row(name=name, family=family, attack=attack(body), twin=honest, stops=stops, ends=ends, **more)


def _memory(name: str, body: str) -> Row:
    return _row(name, body, "memory", LIMITS, MODEST)


def _time(name: str, body: str, honest: str = QUICK) -> Row:
    """Longer than the time that it is given; it has a clock only to know when it has won."""
    return _row(name, body, "timeout", HOST, honest, seconds=0.3, grants=("clock",))


MEMORY = [
    _memory("one large block", "return len(bytearray(200 << 20)) > 0"),
    _memory("many small blocks", "return len([bytes(1000) for _ in range(200_000)]) > 0"),
    _memory(
        "native blocks",
        """
        libc.malloc.restype = ctypes.c_void_p
        blocks = [libc.malloc(10 << 20) for _ in range(20)]
        if None in blocks:
            raise MemoryError
        return True
        """,
    ),
    _memory(
        "mapped pages",
        """
        import mmap
        try:
            return len(mmap.mmap(-1, 200 << 20)) > 0
        except OSError as error:
            raise MemoryError if error.errno == 12 else error
        """,
    ),
    _memory(
        "a text that doubles",
        """
        word = "x"
        for _ in range(28):
            word += word
        return len(word) > 0
        """,
    ),
    _memory("a list times a number", "return len([None] * (30 << 20)) > 0"),
    _memory("a dict of lists", "return len({n: [n] * 100 for n in range(120_000)}) > 0"),
    _memory("an array of numpy", "import numpy; return numpy.ones(25 << 20).sum() > 0"),
    _memory(
        "a frame of pandas", "import pandas; return pandas.DataFrame({'a': range(20 << 20)}).a.sum() > 0"
    ),
    _memory(
        "a bomb of compression",
        """
        import zlib
        packer, block = zlib.compressobj(1), bytes(5 << 20)
        packed = b"".join(packer.compress(block) for _ in range(20)) + packer.flush()
        return len(zlib.decompress(packed)) > 0
        """,
    ),
    _memory("a number that is large", "return (1 << 1_600_000_000).bit_length() > 0"),
    _memory(
        "garbage that holds itself",
        """
        held = []
        for _ in range(200):
            held = [held, bytearray(1 << 20)]
        return True
        """,
    ),
]

TIME = [
    _time("a loop", f"{SPIN}\nwhile time.thread_time() < end: pass\nreturn True"),
    _time("sleep", "time.sleep(0.8); return True"),
    _time(
        "a loop that catches everything",
        f"""
        {SPIN}
        while time.thread_time() < end:
            try:
                while time.thread_time() < end: pass
            except BaseException:
                pass
        return True
        """,
    ),
    _time(
        "a loop in finally",
        f"""
        {SPIN}
        try:
            return True
        finally:
            while time.thread_time() < end: pass
        """,
    ),
    _time(
        "a loop that no signal ends",
        f"""
        import signal
        for number in set(signal.Signals) - {{signal.SIGKILL, signal.SIGSTOP}}:
            signal.signal(number, signal.SIG_IGN)
        {SPIN}
        while time.thread_time() < end: pass
        return True
        """,
    ),
    _time("a loop inside the interpreter", "return sum(range(120_000_000)) > 0"),
    _time("a power", "return (3 ** 10_000_000).bit_length() > 0"),
    _time(
        "numbers as text",
        f"sys.set_int_max_str_digits(0); return all(str(7 ** 600_000) for _ in range({AS_TEXT}))",
    ),
    _time(
        "a search that backtracks", "import re; return re.match(r'(a+)+$', 'a' * 26 + 'b') is None", MATCHES
    ),
    _time(
        "combinations",
        "import itertools; return sum(1 for _ in itertools.product(range(12), repeat=7)) > 0",
        TAKES,
    ),
    _time(
        "keys that collide",
        """
        class Key(int):
            def __hash__(self): return 1
        return len({Key(n) for n in range(22_000)}) == 22_000
        """,
    ),
]

TALK = [
    _row(
        "print without end",
        "for _ in range(64): os.write(1, b'x' * 65536)\nreturn True",
        "output",
        HOST,
        PRINTS,
        canary=lambda _: (
            len(_plain("import os\nfor _ in range(64): os.write(1, b'x' * 65536)").stdout) == 4 << 20
        ),
    ),
    _row(
        "complain without end",
        "print('x' * (3 << 20), file=sys.stderr); return True",
        "output",
        HOST,
        PRINTS,
        canary=lambda _: len(_plain("import sys; print('x' * (3 << 20), file=sys.stderr)").stderr) > 3 << 20,
    ),
    _row(
        "return more parts than anybody reads",
        "return list(range(600_000))",
        "refused_reply",
        HOST,
        RETURNS,
        canary=lambda _: len(json.loads(json.dumps(list(range(600_000))))) == 600_000,
    ),
    _row(
        "return what holds itself",
        "held = []; held.append(held); return held",
        "refused_reply",
        WORKER,
        RETURNS,
        canary=_holds_itself,
    ),
    _row(
        "return what never ends",
        "import itertools; return itertools.count()",
        "refused_reply",
        WORKER,
        TAKES,
        canary=lambda _: sum(1 for _ in itertools.islice(itertools.count(), 1_000_000)) == 1_000_000,
    ),
    _row(
        "recurse until the stack is gone",
        f"{OVERFLOW}\nreturn repr(Endless())",
        "crashed",
        HOST,
        RECURSES,
        canary=lambda _: _plain(f"{OVERFLOW}\nrepr(Endless())").returncode < 0,
        needs="a Python that can run out of stack; 3.13 raises before",
    ),
]

NUMBERS = [
    _row(
        "processes without end",
        """
        children = []
        for _ in range(20):
            children.append(os.fork())
            if children[-1] == 0:
                os._exit(0)
        return len([os.waitpid(child, 0) for child in children]) == 20
        """,
        "exception",
        PROCESSES,
        QUICK,
    ),
    _row(
        "threads without end",
        """
        import threading
        threads = [threading.Thread(target=print) for _ in range(20)]
        for thread in threads: thread.start()
        return len([thread.join() for thread in threads]) == 20
        """,
        "exception",
        PROCESSES,
        QUICK,
    ),
    _row(
        "descriptors without end",
        "return len([os.dup(1) for _ in range(100)]) == 100",
        "exception",
        LIMITS,
        QUICK,
    ),
    _row(
        "pipes without end",
        "return len([os.pipe() for _ in range(100)]) == 100",
        "exception",
        frozenset({Layer.LIMITS, Layer.SECCOMP}),
        QUICK,
    ),
    _row(
        "files without end",
        """
        for number in range(100):
            open(f"{world['folder']}/{number}", "w").close()
        return True
        """,
        "exception",
        frozenset({Layer.LANDLOCK, Layer.SECCOMP}),
        QUICK,
    ),
    _row(
        "a file without end",
        """
        with open(world["folder"] + "/large", "wb") as file:
            for _ in range(20): file.write(bytes(1 << 20))
        return True
        """,
        "exception",
        frozenset({Layer.LANDLOCK, Layer.SECCOMP}),
        QUICK,
    ),
]

ROWS = [*MEMORY, *TIME, *TALK, *NUMBERS]
