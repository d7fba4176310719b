"""Waiting for a condition, never for a time."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable
from typing import Any

LIMIT = 10.0
PROMPT = 3.0
"""Seconds that a busy machine may take for what is promised within half a second."""


def until(condition: Callable[[], object], what: str = "the condition") -> None:
    """Return as soon as ``condition`` holds; fail after ten seconds."""
    end = time.monotonic() + LIMIT
    while not condition():
        assert time.monotonic() < end, f"waited {LIMIT:.0f} s for {what}"
        threading.Event().wait(0.002)


class Asking:
    """A turn asked for on a thread of its own, and what came of it."""

    def __init__(self, ask: Callable[[], Any]) -> None:
        self.result: Any = None
        self.error: BaseException | None = None
        self._thread = threading.Thread(target=self._run, args=(ask,), daemon=True)
        self._thread.start()

    def _run(self, ask: Callable[[], Any]) -> None:
        try:
            self.result = ask()
        except BaseException as error:
            self.error = error

    @property
    def over(self) -> bool:
        return not self._thread.is_alive()

    def end(self) -> Any:
        """Wait for the end and return what came of it."""
        self._thread.join(LIMIT)
        assert self.over, "the turn did not end"
        if self.error is not None:
            raise self.error
        return self.result
