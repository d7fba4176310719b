"""Processes with pipes, and processes at a terminal, each with limits."""

from __future__ import annotations

import os
import pty
import select
import signal
import subprocess
import sys
import time
from codecs import getincrementaldecoder
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

PROGRAM = Path(__file__).with_name("program.py")
ROOT = PROGRAM.parents[2]
LIMIT = 30.0


def environment() -> dict[str, str]:
    return {**os.environ, "PYTHONPATH": str(ROOT), "PYTHONIOENCODING": "utf-8", "TERM": "xterm"}


def run(*arguments: str, stdin: str | bytes = "") -> subprocess.CompletedProcess[str]:
    """Run a command to its end, with pipes for everything."""
    given = stdin.encode() if isinstance(stdin, str) else stdin
    done = subprocess.run(
        [sys.executable, PROGRAM, *arguments],
        input=given,
        capture_output=True,
        timeout=LIMIT,
        env=environment(),
        check=False,
    )
    return subprocess.CompletedProcess(done.args, done.returncode, done.stdout.decode(), done.stderr.decode())


class Screen:
    """A command at a terminal of its own: what it shows, and what is typed."""

    def __init__(self, process: subprocess.Popen[bytes], terminal: int) -> None:
        self.process = process
        self.text = ""
        self._terminal = terminal
        self._seen = 0
        self._decoder = getincrementaldecoder("utf-8")(errors="replace")

    def expect(self, wanted: str) -> str:
        """Read until ``wanted`` comes, after what was expected before; return the text up to it."""
        end = time.monotonic() + LIMIT
        while (at := self.text.find(wanted, self._seen)) < 0:
            assert time.monotonic() < end, f"{wanted!r} did not come; shown: {self.text[self._seen :]!r}"
            assert self._read(0.1), f"{wanted!r} did not come before the end; shown: {self.text!r}"
        before, self._seen = self.text[self._seen : at], at + len(wanted)
        return before

    def type(self, text: str) -> None:
        os.write(self._terminal, text.encode())

    def interrupt(self) -> None:
        self.process.send_signal(signal.SIGINT)

    def interrupt_until(self, wanted: str) -> None:
        """Interrupt until ``wanted`` comes. While a line is edited, Python hears of an interrupt only where
        it waits for a key; one that comes a moment too early is heard with the next."""
        end = time.monotonic() + LIMIT
        while self.text.find(wanted, self._seen) < 0:
            assert time.monotonic() < end, f"{wanted!r} did not come; shown: {self.text!r}"
            self.interrupt()
            soon = time.monotonic() + 2
            while time.monotonic() < soon and self.text.find(wanted, self._seen) < 0:
                self._read(0.1)
        self.expect(wanted)

    def end(self) -> int:
        """Wait for the end and return the exit code."""
        end = time.monotonic() + LIMIT
        while self._read(0.1):
            assert time.monotonic() < end, f"it did not end; shown: {self.text!r}"
        return self.process.wait(LIMIT)

    def _read(self, seconds: float) -> bool:
        """Read what there is; whether more may come."""
        if not select.select([self._terminal], [], [], seconds)[0]:
            return self.process.poll() is None
        try:
            piece = os.read(self._terminal, 65536)
        except OSError:  # the other end is closed
            return False
        self.text += self._decoder.decode(piece)
        return bool(piece)


@contextmanager
def at_terminal(*arguments: str, stdout: int | None = None) -> Iterator[Screen]:
    """Run a command at a pseudo-terminal; its standard output may go elsewhere."""
    ours, theirs = pty.openpty()
    process = subprocess.Popen(
        [sys.executable, PROGRAM, *arguments],
        stdin=theirs,
        stdout=theirs if stdout is None else stdout,
        stderr=theirs,
        env=environment(),
        start_new_session=True,
    )
    os.close(theirs)
    try:
        yield Screen(process, ours)
    finally:
        process.kill()
        process.wait(LIMIT)
        os.close(ours)
