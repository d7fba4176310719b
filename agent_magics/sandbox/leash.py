"""How one thread ends what another one waits for."""

from __future__ import annotations

import threading
from typing import Protocol


class Cancellable(Protocol):
    """Something under way that any thread may end."""

    def cancel(self) -> None:
        """End it as soon as possible."""
        ...


class Leash:
    """Lets one thread end the call that another one waits for."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._call: Cancellable | None = None
        self.pulled = False

    def pull(self) -> None:
        """End the call, also one that has not begun."""
        with self._lock:
            self.pulled = True
            if self._call is not None:
                self._call.cancel()

    def hold(self, call: Cancellable | None) -> None:
        """Say which call it is that pulling ends."""
        with self._lock:
            self._call = call
            if call is not None and self.pulled:
                call.cancel()
