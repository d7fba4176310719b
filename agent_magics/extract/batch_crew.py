"""The crew that asks through a vendor's batch API: rows in flight as always, with answers that take long."""

from __future__ import annotations

import asyncio
import time
from dataclasses import replace

from agent_magics.extract.batches import ROWS, Batched
from agent_magics.extract.crew import LocalCrew
from agent_magics.extract.ledger import Ledger
from agent_magics.extract.source import Reading
from agent_magics.extract.task import Limits, Task
from agent_magics.ports import Batches

AT_ONCE = 2 * ROWS
"""Rows at the vendor at once: while the answers of one batch are read, another is under way."""


class BatchCrew(LocalCrew):
    """Asks in batches; see :class:`~agent_magics.extract.task.Crew`.

    Attributes
    ----------
    left : list of str
        The batches that go on at the vendor although the run was left.
    """

    def __init__(
        self, task: Task, loop: asyncio.AbstractEventLoop, api: Batches, ledger: Ledger, reading: Reading
    ) -> None:
        most = task.limits.concurrency or AT_ONCE
        self._batched = Batched(task.provider, api, ledger, reading, min(ROWS, most))
        self.left: list[str] = []
        super().__init__(replace(task, provider=self._batched, limits=Limits(concurrency=most)), loop)

    @property
    def paused(self) -> float:
        return max(0.0, self._batched.paused - time.monotonic())

    def at_vendor(self) -> tuple[int, int, int]:
        """How many batches are open, how many of their requests are answered, and how many they hold."""
        return self._batched.at_vendor

    def stop(self, limit: float) -> None:
        left = [] if not self.busy else self._batched.ids
        whole = not self.busy
        super().stop(limit)
        self.left = left
        if whole:
            self._batched.settle()

    async def _cancel(self) -> None:
        await super()._cancel()
        await self._batched.aclose()
