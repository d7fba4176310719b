"""``agent-magics local install``: bring the local model, and show how far it is."""

from __future__ import annotations

import sys
import time

from agent_magics.providers.local import weights
from agent_magics.providers.local.weights import Progress

WIDTH = 30
PAUSE = 0.1
"""Seconds between two drawings of the bar."""


def install() -> int:
    """Install it, or find that it is there."""
    path = weights.install(Bar())
    print(f"The local model is here: {path}")
    print(weights.DESCRIPTION)
    print("Try it: agent-magics ask -p llama 'Say hello.'")
    return 0


class Bar:
    """A bar on standard error; where that is no terminal, a line a stage."""

    def __init__(self) -> None:
        self._stage = ""
        self._drawn = 0.0
        self._live = sys.stderr.isatty()

    def __call__(self, progress: Progress) -> None:
        fresh, whole = progress.stage != self._stage, progress.done >= progress.total
        if fresh and not self._live:
            print(progress.stage, file=sys.stderr, flush=True)
        self._stage = progress.stage
        if self._live and (fresh or whole or time.monotonic() - self._drawn > PAUSE):
            self._drawn = time.monotonic()
            end = "\n" if whole and progress.total else ""
            print(f"\r\x1b[K{line(progress)}", end=end, file=sys.stderr, flush=True)


def line(progress: Progress) -> str:
    """One stage as text.

    >>> line(Progress(stage="Fetching", done=25_000_000, total=100_000_000))
    'Fetching  ███████·······················   25 %  25.0 of 100.0 MB'
    """
    if not progress.total:
        return progress.stage
    share = min(1.0, progress.done / progress.total)
    full = int(share * WIDTH)
    size = f"{progress.done / 1e6:.1f} of {progress.total / 1e6:.1f} MB"
    return f"{progress.stage}  {'█' * full}{'·' * (WIDTH - full)}  {share:>4.0%}  {size}".replace("%", " %")
