"""Code on the main thread that a turn can end which has no time left, or was cancelled by somebody else.

A person's interrupt reaches the main thread by itself. When the turn ends for another reason while code of
its runs there, the agent's thread sends the same interrupt; it ends that code and nothing else.
"""

from __future__ import annotations

import _thread
import threading
import time
from collections.abc import Callable
from typing import TypeVar

T = TypeVar("T")

_ARRIVES = 0.2
"""Seconds in which an interrupt that was sent must have come; it takes a step of the interpreter."""


class Left(Exception):
    """The work was interrupted because nobody waits for it any more."""


class Stoppable:
    """One piece of work on the main thread."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._runs = False
        self._sent = False

    def run(self, work: Callable[[], T]) -> T:
        """Do it, on the main thread.

        Raises
        ------
        Left
            If :meth:`stop` ended it.
        """
        try:
            with self._lock:
                self._runs = True
            try:
                value = work()
            except Exception:
                self._over()
                raise
            self._over()
        except KeyboardInterrupt:
            self._runs = False
            if self._sent:
                raise Left from None
            raise
        return value

    def stop(self) -> None:
        """Interrupt it if it runs; from any other thread."""
        with self._lock:
            if self._runs and not self._sent:
                self._sent = True
                _thread.interrupt_main()

    def _over(self) -> None:
        """No interrupt is sent from here on; one that is on its way is met here, and not in the cell."""
        with self._lock:
            self._runs = False
        end = time.monotonic() + _ARRIVES
        while self._sent and time.monotonic() < end:
            time.sleep(0.001)
