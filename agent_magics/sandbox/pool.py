"""The zygotes of one sandbox: each started when first needed, by whoever needs it first."""

from __future__ import annotations

import os
import threading

from agent_magics.sandbox.families import BY_NAME
from agent_magics.sandbox.launch import NEWEST_ABI, Zygote
from agent_magics.sandbox.outcome import SandboxError


class Zygotes:
    """Zygotes by family.

    Parameters
    ----------
    abi : int, optional
        The highest Landlock ABI that they use.
    """

    def __init__(self, abi: int | None) -> None:
        self._abi = NEWEST_ABI if abi is None else abi
        self._lock = threading.Lock()
        # One lock a family: whoever waits two seconds for scipy holds up nobody who needs nothing.
        self._starting = {family: threading.Lock() for family in BY_NAME}
        self._running: dict[tuple[str, bool], Zygote] = {}
        self._owner = os.getpid()
        self._closed = False

    def get(self, family: str, *, hoard: bool) -> Zygote:
        """A running zygote of the family.

        Raises
        ------
        SandboxError
            If it does not start, or nothing may start any more.
        """
        with self._starting[family]:
            with self._lock:
                if self._owner != os.getpid():  # a forked copy has zygotes of its own, not its parent's
                    self._running, self._owner = {}, os.getpid()
                zygote = self._running.get((family, hoard))
            if zygote is not None and zygote.alive:
                return zygote
            return self._replace(zygote, family, hoard)

    def rest(self) -> None:
        """End them all, and the calls that they run; those that are needed start again."""
        with self._lock:
            running = self._running if self._owner == os.getpid() else {}
            self._running = {}
        for zygote in running.values():
            zygote.close()

    def close(self) -> None:
        """End them all for good."""
        with self._lock:
            self._closed = True
        self.rest()

    def _replace(self, dead: Zygote | None, family: str, hoard: bool) -> Zygote:
        if dead is not None:
            dead.close()
        zygote = Zygote(family, abi=self._abi, hoard=hoard)
        with self._lock:
            if not self._closed:
                self._running[family, hoard] = zygote
                return zygote
        zygote.close()
        raise SandboxError("The sandbox is closed.", "It was closed while the call was on its way.")
