"""The check behind a pipe: one request a line in, one verdict a line out, both JSON.

Run as ``python -I -B`` by :mod:`agent_magics.forge.checking`, which ends it when a source takes too long. It
imports nothing but the check, ends when its input does, and ends itself if it is left alone with a source
that holds it up.
"""

from __future__ import annotations

import json
import signal
import sys
from typing import Any

from agent_magics.forge.tree.judge import compiled, judge
from agent_magics.forge.tree.verdict import Verdict

ALONE = 2.0
"""Seconds for one source when nobody is there to end us."""


def main() -> None:
    """Serve until the input ends."""
    _bound_memory()
    sys.stdout.write("ready\n")
    sys.stdout.flush()
    for line in sys.stdin:
        _alarm(ALONE)
        verdict = answer(json.loads(line))
        _alarm(0)
        sys.stdout.write(json.dumps({"ok": verdict.ok, "reasons": verdict.reasons}) + "\n")
        sys.stdout.flush()


def answer(request: dict[str, Any]) -> Verdict:
    """The verdict on one request."""
    if request["do"] == "compile":
        return compiled(request["source"])
    return judge(request["source"], request["name"], request["schema"], request["capabilities"])


def _alarm(seconds: float) -> None:
    if hasattr(signal, "setitimer"):  # not on Windows
        signal.setitimer(signal.ITIMER_REAL, seconds)


def _bound_memory() -> None:
    try:
        import resource
    except ImportError:  # Windows; there the time limit is the only one
        return
    resource.setrlimit(resource.RLIMIT_AS, (1 << 30, 1 << 30))


if __name__ == "__main__":
    main()
