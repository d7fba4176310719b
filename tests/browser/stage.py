"""Imported in the kernel: plays a scripted turn through the real panel, with a small pump of its own.

A cell awaits :func:`play`; ipykernel 7.4 lets clicks through to a cell that awaits, so the panel is
tested here without the bridge. What the script says stands in :mod:`script`.
"""

from __future__ import annotations

import asyncio
import time
from collections import deque
from collections.abc import Iterable, Mapping
from typing import Any

import script
from IPython.display import display

from agent_magics.talk import Approval, ApprovalAsked, Event, Turn, advance
from agent_magics.ui.panel import Panel

TICK = 0.04
HELD = 300.0
"""Seconds after which a held turn gives up."""


class Handle:
    """A display that can be replaced."""

    def __init__(self, bundle: Mapping[str, Any]) -> None:
        self._shown: Any = display(dict(bundle), raw=True, display_id=True)

    def update(self, bundle: Mapping[str, Any], /) -> None:
        self._shown.update(dict(bundle), raw=True)


class Stage:
    """One scripted turn and its panel."""

    def __init__(self, patience: float = 600.0) -> None:
        self.answers: list[tuple[str, Approval]] = []
        self.edits: list[tuple[str, str]] = []
        self.stopped = False
        self.turn: Turn | None = None
        self.panel = Panel(
            Handle,
            on_stop=self._stop,
            on_answer=lambda id_, approval: self.answers.append((id_, approval)),
            on_edit=lambda id_, text: self.edits.append((id_, text)),
            patience=patience,
        )
        self.panel.show()

    async def play(
        self,
        events: Iterable[tuple[float, Event]],
        speed: float = 1.0,
        *,
        keep: bool = False,
        auto: bool = False,
    ) -> Turn:
        """Play to the end, wait for clicks where the script asks (unless ``auto``), and settle."""
        left = deque(events)
        while left and not self.stopped:
            pause, event = left.popleft()
            await self._wait(pause / speed)
            self._tell(event)
            if isinstance(event, ApprovalAsked):
                approval = await self._answered(event, auto=auto)
                if approval.decision == "reject":
                    left = deque(script.after_rejection(event, approval.comment))
        if self.stopped:
            self._tell(script.stopped())
        await self._wait(0.4)
        assert self.turn is not None
        self.panel.settle(self.turn, keep=keep)
        return self.turn

    async def linger(self, events: Iterable[tuple[float, Event]]) -> Turn:
        """Play all but the end, answering by itself; end and settle when Stop is pressed."""
        *most, (_, end) = events
        for at, (_, event) in enumerate(most):
            self._tell(event)
            self.panel.flush(time.monotonic() + at)  # as if each came a second after the other
            if isinstance(event, ApprovalAsked):
                await self._answered(event, auto=True)
        await self._until_stopped()
        self._tell(end)
        assert self.turn is not None
        self.panel.settle(self.turn)
        return self.turn

    async def hold(self, events: Iterable[tuple[float, Event]]) -> None:
        """Play all events at once and stay as it then is, until Stop."""
        for _, event in events:
            self._tell(event)
        await self._until_stopped()
        self.panel.close()

    async def _until_stopped(self) -> None:
        limit = time.monotonic() + HELD
        while not self.stopped and time.monotonic() < limit:
            await self._wait(TICK)

    async def _answered(self, asked: ApprovalAsked, *, auto: bool) -> Approval:
        """The answer of a person, or of nobody, played."""
        approval = Approval(decision="approve", by="you") if auto else await self._clicked(asked)
        await self._wait(TICK)
        self._tell(script.given(asked, approval))
        return approval

    async def _clicked(self, asked: ApprovalAsked) -> Approval:
        limit = time.monotonic() + HELD
        while not self.stopped:
            if self.answers and self.answers[-1][0] == asked.id:
                return self.answers[-1][1]
            assert time.monotonic() < limit, "nobody answered"
            await self._wait(TICK)
        return Approval(decision="reject", by="interrupt")

    async def _wait(self, seconds: float) -> None:
        end = time.monotonic() + seconds
        while True:
            self.panel.flush()
            left = end - time.monotonic()
            if left <= 0:
                return
            await asyncio.sleep(min(left, TICK))

    def _tell(self, event: Event) -> None:
        self.turn = advance(self.turn, event)
        self.panel.play(event)

    def _stop(self) -> None:
        self.stopped = True
