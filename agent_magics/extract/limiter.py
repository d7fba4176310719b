"""The pace: when the next request may go out. One for everything that shares a quota.

Three things hold a request back. *Places*: so many requests are open at once, fewer when the vendor or its
answers say that this is too many, more again when all goes well (additive increase, multiplicative decrease:
https://doi.org/10.1016/0169-7552(89)90019-6). *Rates*: requests and tokens a minute. *The gate*: closed for
as long as the vendor said, when the quota that all share is used up.

A refusal (429) always holds its own row for as long as the vendor said. Whether it also closes the gate for
the others is decided by what they hear: refusals in a row without an answer between them, one for every four
open requests but twelve at most, or a third of the last fifty, mean that the quota is used up. With four or
fewer at once that is the first refusal; with a hundred, a stray one costs its own row the wait only.
"""

from __future__ import annotations

import asyncio
import time
from collections import deque
from collections.abc import Callable

FIRST_PLACES = 16
MOST_PLACES = 256
"""Where the number of open requests begins, and where it ends, when nobody sets ``concurrency``."""

_RECENT = 50
_PAUSE, _LONGEST_PAUSE = 1.0, 30.0
_CLEAR = 12
_CUT = 0.7
_GROWTH = 4.0
_SLOW = 2.0
_WEIGHT = 0.1
_WORTH_TELLING = 0.05


class Rate:
    """So many units a minute, evenly: a leaky bucket that allows a burst of two seconds' worth.

    >>> rate = Rate(60, now=0.0)
    >>> [rate.reserve(1, now=0.0) for _ in range(4)]
    [0.0, 0.0, 1.0, 2.0]
    """

    def __init__(self, per_minute: float, *, now: float) -> None:
        self._each = 60.0 / per_minute
        self._burst = max(2.0, self._each)
        self._paid = now

    def reserve(self, units: float, *, now: float) -> float:
        """Take ``units``; returns the seconds to wait before they may be used."""
        self._paid = max(self._paid, now) + units * self._each
        return max(0.0, self._paid - self._burst - now)

    def correct(self, units: float) -> None:
        """``units`` more than were reserved have been used (fewer, if negative)."""
        self._paid += units * self._each


class Pace:
    """Lets requests out at a pace that the vendor bears. For one event loop.

    Parameters
    ----------
    concurrency : int, optional
        The most open requests. By default the number is found: it begins at 16 and grows to at most 256
        while answers come as quickly as before.
    requests_per_minute, tokens_per_minute : float, optional
        The account's limits, where they are known.

    Attributes
    ----------
    on_pause : callable or None
        Is told of the seconds when the gate closes, for others who share the quota.
    """

    def __init__(
        self,
        concurrency: int | None = None,
        *,
        requests_per_minute: float | None = None,
        tokens_per_minute: float | None = None,
        clock: Callable[[], float] = time.monotonic,
    ) -> None:
        self.most = concurrency or MOST_PLACES
        self.places = float(concurrency or FIRST_PLACES)
        self.open = 0
        self.on_pause: Callable[[float], None] | None = None
        self._clock = clock
        now = clock()
        self._requests = Rate(requests_per_minute, now=now) if requests_per_minute else None
        self._tokens = Rate(tokens_per_minute, now=now) if tokens_per_minute else None
        self._waiting: deque[asyncio.Future[None]] = deque()
        self._opens_at = now
        self._recent: deque[bool] = deque(maxlen=_RECENT)
        self._refusals = 0
        self._closings = 0
        self._cut_at = now
        self._searching = concurrency is None
        self._latency = self._best = 0.0
        self._answers = 0

    @property
    def paused(self) -> float:
        """Seconds until the gate opens; 0 when it is open."""
        return max(0.0, self._opens_at - self._clock())

    async def enter(self, tokens: float = 0.0, *, again: bool = False) -> None:
        """Wait until a request of about ``tokens`` may go out. :meth:`leave` when it has come back.

        ``again`` goes before those that wait for the first time: what was refused has waited already.
        """
        if self._waiting or self.open >= int(self.places):
            await self._place(again)
        else:
            self.open += 1
        try:
            await self._allowed(tokens)
        except BaseException:
            self.leave()
            raise

    def leave(self) -> None:
        """Give the place back."""
        self.open -= 1
        self._admit()

    # -- what came of it --------------------------------------------------------------------------

    def answered(self, seconds: float, tokens: float = 0.0) -> None:
        """An answer came after ``seconds``; it took ``tokens`` more than were foreseen."""
        self._recent.append(True)
        self._refusals = self._closings = 0
        if self._tokens and tokens:
            self._tokens.correct(tokens)
        self._measure(seconds)
        if self.places < self.most and self._latency < _SLOW * self._best:
            self.places = min(self.most, self.places + (1.0 if self._searching else _GROWTH / self.places))
            self._admit()

    def refused(self, announced: float | None) -> float:
        """The vendor said "not now"; returns the seconds that this request has to wait."""
        self._recent.append(False)
        self._refusals += 1
        in_a_row = min(_CLEAR, max(1.0, self.open / 4))
        used_up = self._refusals >= in_a_row or self._share() > 1 / 3
        wait = announced if announced is not None else min(_LONGEST_PAUSE, _PAUSE * 2.0**self._closings)
        if used_up:
            self._close(wait)
        return wait

    def troubled(self) -> None:
        """The vendor is overloaded, or the connection dropped: fewer at once, if this happens often."""
        self._recent.append(False)
        if self._share() > 1 / 5 and self._clock() - self._cut_at > self._latency:
            self._fewer()

    def pause(self, seconds: float) -> None:
        """Close the gate for so long, because somebody else who shares the quota was told to wait."""
        self._opens_at = max(self._opens_at, self._clock() + seconds)

    # -- inside -----------------------------------------------------------------------------------

    def _close(self, seconds: float) -> None:
        if self.paused == 0:
            self._closings += 1
            self._fewer()
        before, self._opens_at = self._opens_at, max(self._opens_at, self._clock() + seconds)
        if self.on_pause is not None and self._opens_at > before + _WORTH_TELLING:
            self.on_pause(seconds)

    def _fewer(self) -> None:
        self.places = max(1.0, self.places * _CUT)
        self._searching = False
        self._cut_at = self._clock()

    def _share(self) -> float:
        enough = len(self._recent) == _RECENT
        return self._recent.count(False) / _RECENT if enough else 0.0

    def _measure(self, seconds: float) -> None:
        """A running mean of how long answers take, and the best that it has been."""
        self._answers += 1
        weight = max(_WEIGHT, 1.0 / self._answers)
        self._latency += weight * (seconds - self._latency)
        if self._answers >= FIRST_PLACES and (not self._best or self._latency < self._best):
            self._best = self._latency
        if not self._best:
            self._best = self._latency

    async def _allowed(self, tokens: float) -> None:
        """Wait for the rates, then for the gate, which may close again meanwhile."""
        now, wait = self._clock(), 0.0
        if self._requests:
            wait = self._requests.reserve(1, now=now)
        if self._tokens:
            wait = max(wait, self._tokens.reserve(tokens, now=now))
        if wait:
            await asyncio.sleep(wait)
        while paused := self.paused:  # noqa: ASYNC110 (a time is waited for, and it may be put off)
            await asyncio.sleep(paused)

    async def _place(self, again: bool) -> None:
        turn: asyncio.Future[None] = asyncio.get_running_loop().create_future()
        if again:
            self._waiting.appendleft(turn)
        else:
            self._waiting.append(turn)
        try:
            await turn
        except asyncio.CancelledError:
            if turn.done() and not turn.cancelled():
                self.leave()  # the place was given in the same moment
            raise

    def _admit(self) -> None:
        while self._waiting and self.open < int(self.places):
            turn = self._waiting.popleft()
            if not turn.done():
                self.open += 1
                turn.set_result(None)
