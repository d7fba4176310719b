"""The rows in flight. They live on the agent's loop; rows are handed in and outcomes taken on the caller's
thread, many at a time, since waking a thread costs as much as a row.
"""

from __future__ import annotations

import asyncio
import threading
import time
from collections import deque
from collections.abc import Sequence
from concurrent.futures import Future, wait

from agent_magics.errors import AgentMagicsError
from agent_magics.extract.ask import ask_once
from agent_magics.extract.limiter import Pace
from agent_magics.extract.paced import Paced
from agent_magics.extract.task import Outcome, Row, Task

TICK = 0.02
"""Seconds after which few outcomes are seen; many are seen at once."""


class LocalCrew:
    """Asks from this process; see :class:`~agent_magics.extract.task.Crew`.

    The window is twice the most open requests: a row that waits after a refusal gives its place to another.

    Parameters
    ----------
    task : Task
        What is asked.
    loop : AbstractEventLoop
        Where the asking runs; never the caller's own.
    pace : Pace, optional
        A pace that was kept before, to go on with.
    """

    def __init__(self, task: Task, loop: asyncio.AbstractEventLoop, pace: Pace | None = None) -> None:
        limits = task.limits
        self._pace = pace or Pace(
            limits.concurrency,
            requests_per_minute=limits.requests_per_minute,
            tokens_per_minute=limits.tokens_per_minute,
        )
        self._task = task
        self._loop = loop
        self._paced = Paced(task.provider, self._pace)
        self.window = 2 * self._pace.most + 16
        self._batch = max(1, self.window // 8)
        self._handed = self._taken = 0
        self._tasks: set[asyncio.Task[None]] = set()
        self._done: deque[Outcome] = deque()
        self._ready = threading.Event()
        self._stopped = False

    @property
    def paused(self) -> float:
        return self._pace.paused

    @property
    def fatal(self) -> AgentMagicsError | None:
        return self._paced.fatal

    @property
    def busy(self) -> int:
        return self._handed - self._taken

    def hand_in(self, rows: Sequence[Row]) -> None:
        self._handed += len(rows)
        self._loop.call_soon_threadsafe(self._begin, rows)

    def take(self, timeout: float = TICK) -> list[Outcome]:
        if not self._ready.wait(timeout) and not self._done:
            return []
        self._ready.clear()
        outcomes = [self._done.popleft() for _ in range(len(self._done))]
        self._taken += len(outcomes)
        return outcomes

    def stop(self, limit: float) -> None:
        closing: Future[None] = asyncio.run_coroutine_threadsafe(self._cancel(), self._loop)
        end = time.monotonic() + limit
        while not closing.done() and time.monotonic() < end:
            wait((closing,), timeout=TICK)

    # -- on the loop ------------------------------------------------------------------------------

    def _begin(self, rows: Sequence[Row]) -> None:
        if self._stopped:
            return
        for index, text in rows:
            task = self._loop.create_task(self._go(index, text))
            self._tasks.add(task)
            task.add_done_callback(self._tasks.discard)

    async def _go(self, index: int, text: str) -> None:
        try:
            found = await ask_once(
                self._paced,
                text,
                self._task.schema,
                instruction=self._task.instruction,
                repairs=self._task.repairs,
            )
        except AgentMagicsError as error:
            self._tell(Outcome(index, usage=getattr(error, "usage", None), error=error))
        except Exception as error:  # a provider of the user's own may raise anything
            self._tell(Outcome(index, error=error))
        else:
            self._tell(Outcome(index, value=found.value, usage=found.usage))

    def _tell(self, outcome: Outcome) -> None:
        self._done.append(outcome)
        if len(self._done) >= self._batch or len(self._tasks) <= 1:
            self._ready.set()

    async def _cancel(self) -> None:
        self._stopped = True
        tasks = [*self._tasks]
        for task in tasks:
            task.cancel()
        if tasks:
            await asyncio.wait(tasks)
