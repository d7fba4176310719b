"""What a waiting cell sleeps on."""

from __future__ import annotations

from contextlib import suppress
from queue import Empty, SimpleQueue


class Wake:
    """An event, as ``threading.Event``, that an interrupt can't break.

    ``threading.Event`` is written in Python: an interrupt between two of its steps leaves its lock taken, and
    then the agent's thread hangs at the next ``set``. A queue that waits in C has no such steps.
    """

    def __init__(self) -> None:
        self._set = False
        self._tokens: SimpleQueue[None] = SimpleQueue()

    def is_set(self) -> bool:
        return self._set

    def set(self) -> None:
        if not self._set:
            self._set = True
            self._tokens.put(None)

    def clear(self) -> None:
        self._set = False
        while not self._tokens.empty():
            self._tokens.get()

    def wait(self, timeout: float | None = None) -> bool:
        """Sleep until it is set; for one thread at a time."""
        if not self._set:
            with suppress(Empty):
                self._tokens.get(timeout=timeout)
        return self._set
