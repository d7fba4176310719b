"""The portable tier: a fresh process for each call, where there is no zygote (macOS, Windows).

It is level D and says so: the process has a scrubbed environment, a time limit and bounds on what it may say,
and on POSIX limits on CPU and files. Memory, files, the network and other processes are not confined. Nothing
runs here unless somebody opted in.
"""

from __future__ import annotations

import contextlib
import json
import os
import queue
import subprocess
import sys
import threading
import time
from collections.abc import Callable
from pathlib import Path
from typing import IO, Any

from agent_magics.sandbox import parcel
from agent_magics.sandbox.families import family_for
from agent_magics.sandbox.leash import Leash
from agent_magics.sandbox.order import Order
from agent_magics.sandbox.outcome import Fault, Outcome
from agent_magics.sandbox.parcel import Packed
from agent_magics.sandbox.verdict import End, Heard, Promise, judge

ROOT = str(Path(__file__).resolve().parents[2])
BOOT = "import sys;sys.path.append(sys.argv[1]);from agent_magics.sandbox.solo import main;main(sys.argv[2])"
NEEDED = ("SYSTEMROOT", "TEMP", "TMP")  # without these Windows starts no Python
READ_SIZE = 1 << 16
LAST_WORDS = 0.5


def run(order: Order, packed: Packed, *, leash: Leash | None = None) -> Outcome:
    """Start a process for the order, wait for it within its limits, and judge what came of it."""
    began = time.monotonic()
    if order.grants.errands:
        message = "This system has no zygotes, and without them no pages and no scratch folder."
        return Outcome(error=Fault(kind="level", message=message))
    memory = order.memory(packed.size)
    words = json.dumps(order.words(packed.size)).encode()
    family = family_for(order.source, packed.packages).name
    call = _Call(family, [memoryview(words), *packed.parts], largest_reply=max(memory, 1 << 20))
    leash = leash or Leash()
    leash.hold(call)
    try:
        heard = call.listen(order.seconds)
    finally:
        leash.hold(None)
    value, fault = judge(heard, Promise(seconds=order.seconds, memory_mb=memory >> 20))
    printed = heard.output.decode("utf-8", "replace")
    return Outcome(value=value, error=fault, seconds=time.monotonic() - began, stdout=printed)


class _Call:
    """One process, and three threads that write and read, for pipes can't be polled everywhere."""

    def __init__(self, family: str, parts: list[memoryview], *, largest_reply: int) -> None:
        self._largest = largest_reply
        self._heard = Heard()
        self._ends: queue.SimpleQueue[End] = queue.SimpleQueue()
        self._process = subprocess.Popen(
            [sys.executable, "-I", "-B", "-X", "utf8", "-c", BOOT, ROOT, family],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            env={name: os.environ[name] for name in NEEDED if name in os.environ},
            cwd=Path(ROOT).anchor,
            start_new_session=True,
        )
        self._in_thread(lambda: self._write(parts))
        self._reader = self._in_thread(lambda: self._read(self._process.stdout, self._hear_reply))
        self._printer = self._in_thread(lambda: self._read(self._process.stderr, self._heard.more_output))

    def listen(self, seconds: float) -> Heard:
        """Wait for whichever end comes first, at most ``seconds``, and leave no process behind."""
        try:
            self._heard.end = self._ends.get(timeout=seconds)
        except queue.Empty:
            self._heard.end = "timeout"
        finally:
            self._settle()
        return self._heard

    def cancel(self) -> None:
        """End the call as soon as possible."""
        self._ends.put("cancelled")

    def _settle(self) -> None:
        with contextlib.suppress(subprocess.TimeoutExpired):
            if self._heard.end == "exited":
                self._heard.exit = self._process.wait(LAST_WORDS)
        if self._heard.end == "exited" and self._heard.exit is None:
            self._heard.end = "silent"  # it closed its output and went on
        self._process.kill()
        with contextlib.suppress(subprocess.TimeoutExpired):
            self._process.wait(LAST_WORDS)
        for thread in (self._reader, self._printer):
            thread.join(LAST_WORDS / 4)

    def _write(self, parts: list[memoryview]) -> None:
        into = self._process.stdin
        assert into is not None
        with contextlib.suppress(OSError), into:  # it ended before it had read everything
            for piece in parcel.pieces(parts):
                into.write(piece)

    def _read(self, stream: IO[bytes] | None, hear: Callable[[bytes], End | None]) -> None:
        assert stream is not None
        with stream:
            while data := os.read(stream.fileno(), READ_SIZE):
                if end := hear(data):
                    self._ends.put(end)
                    return
        if hear == self._hear_reply:
            self._ends.put("exited")

    def _hear_reply(self, data: bytes) -> End | None:
        return self._heard.more_reply(data, self._largest)

    def _in_thread(self, work: Callable[[], Any]) -> threading.Thread:
        thread = threading.Thread(target=work, name="sandbox-portable", daemon=True)
        thread.start()
        return thread
