"""The check as others use it: in a process of its own, within half a second.

The parser and the check are programs, and the source is a stranger's. Whatever it does to them, the host gets
a verdict: if the worker is late, or dies, the verdict is a refusal, and the next source gets a new worker.
"""

from __future__ import annotations

import atexit
import json
import os
import queue
import subprocess
import sys
import threading
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any

from agent_magics.forge.tree.verdict import Verdict, verdict

SECONDS = 0.5
"""Time for one source."""

STARTING = 10.0
"""Seconds for the worker to start, on a machine that is busy with other things."""

LONGEST = 1_000_000
"""Characters that are sent to the worker at all."""

_RUN = "import sys; sys.path.insert(0, {root!r}); from agent_magics.forge.tree.worker import main; main()"


def check(
    source: str, name: str, schema: Mapping[str, Any] | None = None, *, capabilities: Iterable[str] = ()
) -> Verdict:
    """Check whether a source may become a tool: its tree, its function, and its schema. Nothing of it is run.

    Parameters
    ----------
    source : str
        Python source; a whole module.
    name : str
        The function in it that is called.
    schema : mapping, optional
        JSON Schema of the arguments; it must describe the function's signature.
    capabilities : iterable of str
        What the tool is to be granted; without ``clock`` and ``random`` it can't ask for either.

    Returns
    -------
    Verdict
        Fail closed: whatever the check can't follow is refused. It takes at most half a second.

    Examples
    --------
    >>> check("def double(x: int) -> int:\\n    return 2 * x", "double").ok
    True
    >>> print(check("def double(x):\\n    return eval(x)", "double"))
    Line 2: 'eval' can't be used in a tool: use ast.literal_eval for data, or parse the text yourself.
    """
    return _checker.ask({
        "do": "check", "source": source, "name": name, "schema": schema, "capabilities": list(capabilities)
    })  # fmt: skip


def compile_check(source: str) -> Verdict:
    """Whether Python's compiler takes the source, asked in the same process."""
    return _checker.ask({"do": "compile", "source": source})


def rest() -> None:
    """End the worker; the next check starts a new one."""
    _checker.close()


class Checker:
    """A worker, and the patience to wait for it."""

    def __init__(self, seconds: float = SECONDS) -> None:
        self.seconds = seconds
        self._lock = threading.Lock()
        self._worker: subprocess.Popen[str] | None = None
        self._lines: queue.SimpleQueue[str] = queue.SimpleQueue()
        self._owner = 0

    def ask(self, request: Mapping[str, Any]) -> Verdict:
        """The worker's verdict, or a refusal if it has none in time."""
        if len(request["source"]) > LONGEST:
            return verdict([f"The source has more than {LONGEST:,} characters; a tool is a page or two."])
        try:
            text = json.dumps(request)
        except (TypeError, ValueError, RecursionError):
            return verdict(["The schema is not JSON."])
        with self._lock:
            return self._ask(text)

    def close(self) -> None:
        """End the worker; the next request starts a new one."""
        with self._lock:
            self._end()

    def _ask(self, text: str) -> Verdict:
        if not self._running() and not self._start():
            return verdict(["The check's own process did not start, so nothing was checked."])
        worker = self._worker
        assert worker is not None and worker.stdin is not None
        try:
            worker.stdin.write(text + "\n")
            worker.stdin.flush()
            line = self._lines.get(timeout=self.seconds)
        except queue.Empty:
            self._end()
            return verdict(
                [f"The check did not come to an end within {self.seconds:g} s; write it more simply."]
            )
        except OSError:
            line = ""
        if not line:
            self._end()
            return verdict(["The check broke down over this source; write it more simply."])
        said = json.loads(line)
        return Verdict(ok=said["ok"], reasons=tuple(said["reasons"]))

    def _running(self) -> bool:
        return self._worker is not None and self._owner == os.getpid() and self._worker.poll() is None

    def _start(self) -> bool:
        root = str(Path(__file__).resolve().parents[2])
        self._lines, self._owner = queue.SimpleQueue(), os.getpid()
        self._worker = subprocess.Popen(
            [sys.executable, "-I", "-B", "-c", _RUN.format(root=root)],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL,
            env={},
            text=True,
            encoding="utf-8",
            errors="surrogatepass",
        )
        reading = threading.Thread(target=_read, args=(self._worker, self._lines), daemon=True)
        reading.start()
        try:
            return self._lines.get(timeout=STARTING) == "ready\n"
        except queue.Empty:
            self._end()
            return False

    def _end(self) -> None:
        worker, self._worker = self._worker, None
        if worker is None or self._owner != os.getpid():
            return
        worker.kill()
        worker.wait()
        for pipe in (worker.stdin, worker.stdout):
            if pipe is not None:
                try:
                    pipe.close()
                except OSError:  # what was still unsent has nobody to go to
                    continue


def _read(worker: subprocess.Popen[str], lines: queue.SimpleQueue[str]) -> None:
    assert worker.stdout is not None
    try:
        for line in worker.stdout:
            lines.put(line)
    except (OSError, ValueError):  # closed under our hands when the worker was ended
        return
    finally:
        lines.put("")


_checker = Checker()
atexit.register(_checker.close)
