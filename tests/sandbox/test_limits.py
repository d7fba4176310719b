"""Code that would never end, or take all there is: a readable fault in time, and nothing left."""

from __future__ import annotations

import time

import pytest

from tests.patience import until
from tests.sandbox.processes import calls

SLOW = "It was not done after 0.5 s"
LARGE = "The call needed more memory than its 64 MB"
LOUD = "It printed more than 1 MB"

# By name: the source, the kind of fault, and what its message holds.
ENDLESS = {
    "loop": ("def f():\n    while True: pass", "timeout", SLOW),
    "sleep": ("import time\ndef f():\n    time.sleep(1000)", "timeout", SLOW),
    "power": ("def f():\n    return 9 ** 9 ** 9", "timeout", SLOW),
    "search": ("import re\ndef f():\n    re.match('(a+)+$', 'a' * 40 + 'b')", "timeout", SLOW),
    "while it is read": ("x = 1\nwhile True: pass", "timeout", SLOW),
    "finally": ("def f():\n  try: pass\n  finally:\n    while 1: pass", "timeout", SLOW),
    "catching all": (
        """
def f():
    while True:
        try:
            while True: pass
        except BaseException:
            pass
""",
        "timeout",
        SLOW,
    ),
    "ignoring every signal": (
        """
import signal
def f():
    for number in set(signal.Signals) - {signal.SIGKILL, signal.SIGSTOP}:
        signal.signal(number, signal.SIG_IGN)
    while True: pass
""",
        "timeout",
        SLOW,
    ),
    "while it answers": (
        """
class Endless(dict):
    def items(self):
        while True: pass
def f():
    return Endless()
""",
        "timeout",
        SLOW,
    ),
    "while it reports": (
        """
class Endless(Exception):
    def __str__(self):
        while True: pass
def f():
    raise Endless
""",
        "timeout",
        SLOW,
    ),
    "memory": ("def f():\n    x = []\n    while True: x.append(bytearray(1 << 20))", "memory", LARGE),
    "memory, caught": (
        """
def f():
    blocks = []
    while True:
        try:
            blocks.append(bytearray(1 << 20))
        except MemoryError:
            pass
""",
        "timeout",
        SLOW,
    ),
    "text": ("def f():\n    s = 'x'\n    while True: s += s", "memory", LARGE),
    "printing": ("def f():\n    while True: print('x' * 1000)", "output", LOUD),
    "printing one line": ("import os\ndef f():\n    while True: os.write(1, b'x' * 65536)", "output", LOUD),
    "forks": ("import os\ndef f():\n    while True: os.fork()", "exception", "PermissionError: [Errno 1]"),
    "threads": (
        "import threading\ndef f():\n    while True: threading.Thread(target=print).start()",
        "exception",
        "RuntimeError: can't start new thread",
    ),
    "descriptors": ("import os\ndef f():\n    while True: os.dup(1)", "exception", "OSError: [Errno 24]"),
    "recursion": ("def f():\n    return f()", "exception", "RecursionError"),
    "crash": ("import ctypes\ndef f():\n    ctypes.string_at(0)", "crashed", "process crashed (SIGSEGV)"),
    "abort": ("import os\ndef f():\n    os.abort()", "crashed", "The Python process crashed"),
    "no answer": ("import os\ndef f():\n    os._exit(0)", "no_reply", "The process ended without a value."),
    "closing everything and staying": (
        "import os\ndef f():\n    os.closerange(0, 99)\n    while True: pass",
        "no_reply",
        "It closed its way to answer",
    ),
    "closing all but the answer": (
        "import os\ndef f():\n    os.close(1); os.close(2)\n    while True: pass",
        "timeout",
        SLOW,
    ),
    "half an answer": (
        "import os\ndef f():\n    os.write(3, bytes(7))\n    while True: pass",
        "timeout",
        SLOW,
    ),
    "announcing too much": (
        "import os\ndef f():\n    os.write(3, b'\\xff' * 8)\n    while True: pass",
        "refused_reply",
        "The value is larger",
    ),
}


@pytest.mark.parametrize(("source", "kind", "message"), ENDLESS.values(), ids=ENDLESS)
def test_code_without_end_comes_to_a_readable_end_in_time(sandbox, source, kind, message):
    seconds = 0.5
    capabilities = ["clock"] if "sleep" in source else []
    outcome = sandbox.call(source, "f", seconds=seconds, capabilities=capabilities)
    assert (kind, True) == (outcome.error.kind, message in outcome.error.message), outcome.error
    assert outcome.seconds <= seconds + 1
    until(lambda: not calls(), "the child's end")


@pytest.mark.parametrize("megabytes", [16, 64, 256])
def test_memory_comes_close_to_what_is_promised(sandbox, megabytes):
    source = "def f(size):\n    return len(bytearray(size))"
    most, more = ({"size": round(megabytes * factor) << 20} for factor in (0.85, 1.05))
    assert most["size"] == sandbox.call(source, "f", most, memory_mb=megabytes).value
    assert "memory" == sandbox.call(source, "f", more, memory_mb=megabytes).error.kind


def test_memory_of_numpy_and_pandas_is_not_the_tool_s(sandbox):
    source = "import numpy as np, pandas as pd\ndef f():\n    return float(pd.Series(np.ones(3 << 20)).sum())"
    assert float(3 << 20) == sandbox.call(source, "f").value


def test_three_times_the_data_is_given_besides(sandbox):
    import numpy as np

    data = np.ones(8 << 20)  # 64 MB
    source = "def f(a):\n    b = a + 1\n    c = b * 2\n    return float(c[0])"
    assert 4.0 == sandbox.call(source, "f", {"a": data}, memory_mb=8).value
    more = source.replace("return", "d, e = c + 1, c + 2; return")
    assert "memory" == sandbox.call(more, "f", {"a": data}, memory_mb=8).error.kind


def test_talking_byte_by_byte_does_not_keep_the_host_busy(sandbox):
    began = time.thread_time()
    source = "import os\ndef f():\n    while True: os.write(1, b'x')"
    assert sandbox.call(source, "f", seconds=0.5).error.kind in {"timeout", "output"}
    assert time.thread_time() - began < 0.3


def test_output_is_cut_and_a_little_is_no_fault(sandbox):
    outcome = sandbox.call("def f():\n    print('é' * 100_000)\n    return 1", "f")
    assert (1, 64 << 10) == (
        outcome.value,
        len(outcome.stdout.encode(errors="replace").replace("�".encode(), b"?")),
    )


def test_limits_of_the_kernel_hold_by_themselves():
    """Without the host's deadline: a listener that waits longer than the processor time that was promised."""
    from contextlib import closing

    from agent_magics.sandbox.call import Call
    from agent_magics.sandbox.launch import Zygote
    from agent_magics.sandbox.order import Order
    from agent_magics.sandbox.parcel import pack

    order = Order(source="def f():\n    while True: pass", function="f", seconds=0.5)
    words = {**order.words(0), "cpu_seconds": 1}
    zygote = Zygote("bare")
    try:
        import json

        parts = [memoryview(json.dumps(words).encode()), *pack({}).parts]
        message = {"seconds": 60, "landlock": True, "seccomp": True, "files": True, "clock": False}
        with closing(Call(zygote, message, parts, largest_reply=1 << 20)) as call:
            heard = call.listen(60)
        assert ("exited", True) == (heard.end, heard.exit in (-24, -9))  # SIGXCPU, or SIGKILL a second later
    finally:
        zygote.close()
