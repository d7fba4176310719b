"""Interrupts, held back where they would tear something in two.

An interrupt raises `KeyboardInterrupt` between any two steps of the main thread. Between reading a message
and keeping it, that loses the message; between two parts of a reply, it sends half of one, and the kernel's
next reply becomes the other half; between taking an event and drawing it, a panel never shows how its turn
ended. ipykernel works on its sockets only while interrupts are ignored; a cell that does so while it runs has
to hold them back itself.
"""

from __future__ import annotations

import signal
import threading
import time
from collections.abc import Generator
from contextlib import contextmanager
from typing import Any, Self


class HeldInterrupts:
    """Hold back interrupts for the length of a ``with`` block, then let the last one through.

    Only for moments: whatever may take long runs under `lifted`. On other threads than the main one, which
    interrupts never reach, nothing is held.
    """

    def __enter__(self) -> Self:
        self._held: tuple[int, Any] | None = None
        self._here = _on_main()
        if self._here:
            self._before = signal.signal(signal.SIGINT, self._note)
        return self

    def __exit__(self, *_: object) -> None:
        self._let_through()

    @contextmanager
    def lifted(self) -> Generator[None]:
        """Take interrupts as usual for a while, in the midst of a block that holds them."""
        try:
            self._let_through()
            yield
        finally:
            if self._here:
                signal.signal(signal.SIGINT, self._note)

    def _note(self, number: int, frame: Any) -> None:
        self._held = (number, frame)

    def _let_through(self) -> None:
        if not self._here:
            return
        signal.signal(signal.SIGINT, self._before or signal.default_int_handler)
        held, self._held = self._held, None
        if held is not None and callable(self._before):
            self._before(*held)


def count_as_one(seconds: float = 0.3) -> None:
    """Count interrupts of the next moments as the one that was just obeyed.

    People press twice. ipykernel sends a cell's reply with interrupts on: a second one that comes in that
    moment costs the reply, the page waits for it forever, and the queue behind it runs. The kernel puts its
    own handler back with the next message.
    """
    if not _on_main():
        return
    end, before = time.monotonic() + seconds, signal.getsignal(signal.SIGINT)

    def take(number: int, frame: Any) -> None:
        if time.monotonic() > end and callable(before):
            before(number, frame)

    signal.signal(signal.SIGINT, take)


def _on_main() -> bool:
    return threading.current_thread() is threading.main_thread()
