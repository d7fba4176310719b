"""How far a run of many rows has come: what a bar, a line or a test is told. Drawing is not done here."""

from __future__ import annotations

import time
from collections import deque
from collections.abc import Callable
from dataclasses import dataclass, field, replace

from agent_magics.talk import Usage

EVERY = 0.25
"""Seconds between two reports."""

_LOOK_BACK = 15.0


@dataclass(frozen=True, kw_only=True, slots=True)
class Progress:
    """One report.

    Attributes
    ----------
    done : int
        Rows with an outcome: values, failures and what was reused.
    failed, reused : int
        Of these, the ones without a value, and those that came from the checkpoint.
    total : int or None
        How many rows there are, if that is known.
    seconds : float
        Since the start.
    rate : float
        Rows a second lately, without reused ones.
    usage : Usage
        The tokens so far.
    cost : float or None
        In US dollars; None where the price is not known.
    paused : float
        Seconds for which the vendor wants to be left alone; 0 when nothing is held back.
    batches, answered, sent : int
        Open batches at the vendor; of the requests in them, those that are done, and all.
    over : bool
        Whether this is the last report.
    """

    done: int = 0
    failed: int = 0
    reused: int = 0
    total: int | None = None
    seconds: float = 0.0
    rate: float = 0.0
    usage: Usage = field(default_factory=Usage)
    cost: float | None = None
    paused: float = 0.0
    batches: int = 0
    answered: int = 0
    sent: int = 0
    over: bool = False

    @property
    def left(self) -> float | None:
        """Seconds until the end at this rate, if that can be told."""
        if self.total is None or not self.rate or self.over:
            return None
        return (self.total - self.done) / self.rate


Watcher = Callable[[Progress], None]
"""Is told of the progress, on the thread that called."""


class Count:
    """Counts, and reports now and then."""

    def __init__(
        self, watcher: Watcher | None, total: int | None, price: Callable[[Usage], float | None]
    ) -> None:
        self._watcher = watcher
        self._price = price
        self._total = total
        self._began = self._told = time.monotonic()
        self._lately: deque[tuple[float, int]] = deque([(self._began, 0)])
        self.done = self.failed = self.reused = 0
        self.usage = Usage()
        self.at_vendor: Callable[[], tuple[int, int, int]] = lambda: (0, 0, 0)

    @property
    def seconds(self) -> float:
        """Since the start."""
        return time.monotonic() - self._began

    def tick(self, paused: float) -> None:
        """Report, if it is time."""
        now = time.monotonic()
        if self._watcher is None or now - self._told < EVERY:
            return
        self._told = now
        self._watcher(self._report(now, paused))

    def end(self) -> None:
        """Report for the last time."""
        if self._watcher is not None:
            self._watcher(replace(self._report(time.monotonic(), 0.0), over=True))

    def _report(self, now: float, paused: float) -> Progress:
        asked = self.done - self.reused
        self._lately.append((now, asked))
        while len(self._lately) > 2 and now - self._lately[0][0] > _LOOK_BACK:
            self._lately.popleft()
        since, before = self._lately[0]
        batches, answered, sent = self.at_vendor()
        return Progress(
            done=self.done,
            failed=self.failed,
            reused=self.reused,
            total=self._total,
            seconds=now - self._began,
            rate=(asked - before) / (now - since) if now > since else 0.0,
            usage=self.usage,
            cost=self._price(self.usage) if self.usage.total else None,
            paused=paused,
            batches=batches,
            answered=answered,
            sent=sent,
        )
