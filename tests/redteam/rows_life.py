"""The life of a call: what one leaves to the next, and what a reply tries on the host."""

from __future__ import annotations

import json
import math
import os
import pickle
import subprocess
import sys
import textwrap
from collections.abc import Callable
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import numpy as np

from tests.redteam.rows import Family, Layer, Row, attack, twin

HOST, ZYGOTE, WORKER = frozenset({Layer.HOST}), frozenset({Layer.ZYGOTE}), frozenset({Layer.WORKER})
COMPUTES = twin("import math; return math.floor(math.pi) == 3")
DUMPS = twin("import json; return json.loads(json.dumps([1])) == [1]")
RETURNS_TEXT = twin("return 'a' * 1000")
RETURNS_ARRAY = twin("import numpy; return numpy.arange(3.0)[1:] + 1")
CLEANS_UP = twin("""
    class Guard:
        def __enter__(self): return self
        def __exit__(self, *_): self.done = True
    with Guard() as guard: pass
    return guard.done
""")

# Writes a reply by itself, past what makes replies for it.
FORGE = """
import json, struct

def forge(header, buffers=b""):
    head = header if isinstance(header, bytes) else json.dumps(header).encode()
    body = struct.pack(">I", len(head)) + head + buffers
    data = struct.pack(">Q", len(body)) + body
    while data:
        data = data[os.write(3, data):]

def reply(header, buffers=b""):
    forge(header, buffers)
    os._exit(0)
"""


def _forging(body: str) -> str:
    return FORGE + textwrap.dedent(body)


def _row(
    name: str, body: str, stops: frozenset[Layer], honest: str, canary: Callable[[object], Any], **more: Any
) -> Row:
    family = Family.LIFE
    return Row(name=name, family=family, attack=attack(body), twin=honest, stops=stops, canary=canary, **more)


def _forged(name: str, header: str, canary: Callable[[object], Any], honest: str = RETURNS_TEXT) -> Row:
    return _row(name, _forging(f"reply({header})"), HOST, honest, canary, ends="refused_reply")


def _array(dtype: str, shape: str, data: str) -> str:
    attached = f'[{{"at": [], "as": "array", "dtype": "{dtype}", "shape": {shape}, "buffer": 0}}]'
    return f'{{"value": None, "attached": {attached}, "buffers": [[0, len({data})]]}}, {data}'


def _plain(source: str) -> bytes:
    command = [sys.executable, "-I", "-c", source]
    return subprocess.run(command, capture_output=True, timeout=30, check=False).stdout


def _unpickling_runs_code(_: object) -> bool:
    with TemporaryDirectory() as folder:
        trace = Path(folder, "ran")

        class Payload:
            def __reduce__(self) -> tuple[Any, ...]:
                return os.system, (f"echo > {trace}",)

        pickle.loads(pickle.dumps(Payload()))
        return trace.exists()


def _modules_are_shared(_: object) -> bool:
    import colorsys

    setattr(colorsys, "left_behind", True)  # noqa: B010  a name that the module does not have
    return colorsys.__dict__.pop("left_behind")


def _fails(work: Callable[[], Any], error: type[BaseException]) -> bool:
    try:
        work()
    except error:
        return True
    return False


NEXT_CALL = [
    _row(
        "leave something in a module",
        """
        import math
        found = getattr(math, "left_behind", False)
        math.left_behind = True
        return found
        """,
        ZYGOTE,
        COMPUTES,
        _modules_are_shared,
    ),
    _row(
        "poison a function",
        """
        import json
        poisoned = json.dumps(1) != "1"
        json.dumps = lambda *_, **__: "poison"
        return poisoned
        """,
        ZYGOTE,
        DUMPS,
        _modules_are_shared,
    ),
    _row(
        "leave something in the environment",
        """
        found = os.environ.get("LEFT_BEHIND")
        os.environ["LEFT_BEHIND"] = "yes"
        return found
        """,
        ZYGOTE,
        COMPUTES,
        lambda _: _plain("import os; os.environ['A'] = 'b'; print(os.environ['A'])") == b"b\n",
    ),
    _row(
        "hear the same chance as the call before",
        """
        import random
        random.seed(1)
        found = getattr(random, "left_behind", False)
        random.left_behind = True
        return found
        """,
        ZYGOTE,
        COMPUTES,
        _modules_are_shared,
    ),
]

AFTERWARDS = [
    _row(
        "run at exit",
        """
        import atexit
        atexit.register(lambda _: open(world["folder"] + "/late", "w").close())
        return ""
        """,
        WORKER,
        CLEANS_UP,
        lambda _: _plain("import atexit; atexit.register(print, 'late')") == b"late\n",
    ),
    _row(
        "run when the last reference goes",
        """
        class Late:
            def __del__(self):
                open(world["folder"] + "/late", "w").close()
        sys.late = Late()
        return ""
        """,
        WORKER,
        CLEANS_UP,
        lambda _: _plain("class L:\n def __del__(self): print('late')\nL()") == b"late\n",
    ),
    _row(
        "answer early and go on",
        _forging("""
        forge({"value": "", "attached": [], "buffers": []})
        until = time.thread_time() + 0.3
        while time.thread_time() < until: pass
        open(world["folder"] + "/late", "w").close()
        """),
        HOST,
        CLEANS_UP,
        lambda _: _plain("print('answer'); print('late')") == b"answer\nlate\n",
        grants=("clock",),
    ),
    _row(
        "close everything and stay",
        """
        os.closerange(0, 100)
        until = time.thread_time() + 3
        while time.thread_time() < until: pass
        """,
        HOST,
        CLEANS_UP,
        lambda _: _plain("import os; os.close(1); os.write(2, b'')") == b"",
        ends="no_reply",
        grants=("clock",),
    ),
    _row(
        "end without an answer",
        "os._exit(0)",
        HOST,
        CLEANS_UP,
        lambda _: _plain("import os; os._exit(0)") == b"",
        ends="no_reply",
    ),
    _row(
        "answer half and stay",
        """
        os.write(3, b"\\0\\0\\0\\0\\0\\0\\1\\0half")
        while True: pass
        """,
        HOST,
        CLEANS_UP,
        lambda _: _plain("import os; os.write(1, b'half')") == b"half",
        ends="timeout",
        seconds=0.5,
    ),
    _row(
        "announce more than there is memory",
        """
        os.write(3, b"\\x7f" + b"\\xff" * 7)
        while True: pass
        """,
        HOST,
        CLEANS_UP,
        lambda _: int.from_bytes(b"\x7f" + b"\xff" * 7, "big") > 1 << 62,
        ends="refused_reply",
    ),
]

REPLIES = [
    _row(
        "answer with a pickle",
        _forging("""
        import pickle
        class Payload:
            def __reduce__(self): return os.system, (f"echo > {world['folder']}/ran",)
        reply(pickle.dumps(Payload()))
        """),
        HOST,
        RETURNS_TEXT,
        _unpickling_runs_code,
        ends="refused_reply",
    ),
    _forged(
        "attach a pickle",
        '{"value": None, "attached": [{"at": [], "as": "pickle", "buffer": 0}], '
        '"buffers": [[0, 4]]}, b"cos\\n"',
        _unpickling_runs_code,
    ),
    _forged(
        "name a class to be made",
        '{"value": {"__class__": "os.system"}, "attached": [{"at": [], "as": '
        '"os.system", "text": "id"}], "buffers": []}',
        _unpickling_runs_code,
    ),
    _forged(
        "an array of objects",
        _array("|O8", "[1]", "bytes(8)"),
        lambda _: np.dtype("|O8").hasobject,
        RETURNS_ARRAY,
    ),
    _forged(
        "an array larger than its bytes",
        _array("<f8", "[1 << 40]", "bytes(8)"),
        lambda _: np.lib.stride_tricks.as_strided(np.zeros(1), (4,)).size == 4,
        RETURNS_ARRAY,
    ),
    _forged(
        "an array whose size overflows",
        _array("<f8", "[1 << 31, 1 << 31]", "bytes(8)"),
        lambda _: np.multiply(np.int32(1 << 30), np.int32(4), dtype=np.int32) == 0,
        RETURNS_ARRAY,
    ),
    _forged(
        "truth values that are neither",
        _array("|b1", "[4]", "bytes([2, 3, 4, 5])"),
        lambda _: np.frombuffer(bytes([2]), bool).view(np.uint8)[0] == 2,
        RETURNS_ARRAY,
    ),
    _forged(
        "characters that are none",
        _array("<U1", "[1]", 'b"\\xff" * 4'),
        lambda _: _fails(lambda: str(np.frombuffer(b"\xff" * 4, "<U1")[0]), Exception),
        RETURNS_ARRAY,
    ),
    _forged(
        "a buffer outside of the reply",
        '{"value": None, "attached": [], "buffers": [[0, 1 << 30]]}',
        lambda _: len(memoryview(b"abc")[: 1 << 30]) == 3,
    ),
    _forged(
        "a number that is none",
        'b\'{"value": NaN, "attached": [], "buffers": []}\'',
        lambda _: math.isnan(json.loads("NaN")),
    ),
    _forged(
        "a key twice",
        'b\'{"value": {"a": 1, "a": 2}, "attached": [], "buffers": []}\'',
        lambda _: json.loads('{"a": 1, "a": 2}') == {"a": 2},
    ),
    _forged(
        "a number of a million digits",
        'b\'{"value": \' + b"7" * 1_000_000 + b"}"',
        lambda _: _fails(lambda: json.loads("7" * 1_000_000), ValueError),
    ),
    _forged(
        "nested beyond every stack",
        'b\'{"value": \' + b"[" * 1_000_000',
        lambda _: _fails(lambda: json.loads("[" * 1_000_000), RecursionError),
    ),
    _forged(
        "text of another width",
        """'{"value": 1, "attached": [], "buffers": []}'.encode("utf-16")""",
        lambda _: json.loads('{"value": 1}'.encode("utf-16")) == {"value": 1},
    ),
    _forged(
        "half a character",
        'b\'{"value": "\\\\ud800", "attached": [], "buffers": []}\'',
        lambda _: _fails(lambda: json.loads('"\\ud800"').encode(), UnicodeEncodeError),
    ),
    _forged(
        "a fault of a kind that only the host may say",
        '{"fault": {"kind": "level", "message": "", "line": None}}',
        lambda _: json.loads('{"kind": "level"}')["kind"] == "level",
    ),
    _row(
        "an object whose comparison is code",
        """
        class Sly(str):
            def __eq__(self, other): open(world["folder"] + "/compared", "w").close()
            __hash__ = str.__hash__
        return Sly("")
        """,
        WORKER,
        RETURNS_TEXT,
        _unpickling_runs_code,
    ),
]

ROWS = [*NEXT_CALL, *AFTERWARDS, *REPLIES]
