"""One round of tool calls, and the caps that end a turn which leads nowhere."""

from __future__ import annotations

import asyncio
import time
from collections.abc import Awaitable, Callable, Iterable, Sequence
from dataclasses import dataclass, field
from hashlib import sha256
from itertools import groupby

from agent_magics.talk import Fact, ToolCall, ToolCalled, ToolResult, ToolReturned
from agent_magics.tools.result import json_text
from agent_magics.tools.toolbox import Toolbox

AT_ONCE = 4
"""How many calls that are safe beside each other run together."""

STOPPED = ToolResult(
    ok=False, text='{"error": "The turn was stopped before this call had a result.", "ok": false}'
)

RunCall = Callable[[ToolCall], Awaitable[ToolResult]]


async def run_round(
    calls: Sequence[ToolCall], toolbox: Toolbox, run: RunCall, emit: Callable[[Fact], None]
) -> list[ToolResult]:
    """Run the calls of one reply; the results stand in the order of the calls.

    Neighbours that are marked ``parallel_safe`` run together, everything else one by one. Whatever ends the
    round early, every call has a result when it is over: strict vendors refuse a history with an open call.
    """
    results: dict[str, ToolResult] = {}
    called: dict[str, float] = {}

    async def one(call: ToolCall) -> None:
        called[call.id] = time.monotonic()
        emit(ToolCalled(call=call, shown=toolbox.shown(call.name), at=time.time()))
        results[call.id] = result = await run(call)
        seconds = time.monotonic() - called[call.id]
        emit(ToolReturned(id=call.id, result=result, seconds=seconds, at=time.time()))

    try:
        for safe, group in groupby(calls, key=lambda call: _is_parallel_safe(toolbox, call)):
            if safe:
                await _together(one, group)
            else:
                for call in group:
                    await one(call)
    except BaseException:
        _close(calls, toolbox, results, called, emit)
        raise
    return [results[call.id] for call in calls]


def _is_parallel_safe(toolbox: Toolbox, call: ToolCall) -> bool:
    tool = toolbox.resolve(call.name)
    return tool is not None and tool.parallel_safe


async def _together(one: Callable[[ToolCall], Awaitable[None]], calls: Iterable[ToolCall]) -> None:
    limit = asyncio.Semaphore(AT_ONCE)

    async def limited(call: ToolCall) -> None:
        await limit.acquire()
        await one(call)
        limit.release()  # not when it raised: then the round is over, and no further call may begin

    try:
        async with asyncio.TaskGroup() as group:
            for call in calls:
                group.create_task(limited(call))
    except BaseExceptionGroup as errors:
        raise errors.exceptions[0] from None


def _close(
    calls: Sequence[ToolCall],
    toolbox: Toolbox,
    results: dict[str, ToolResult],
    called: dict[str, float],
    emit: Callable[[Fact], None],
) -> None:
    """Give every call that has none a result that says so."""
    for call in calls:
        if call.id in results:
            continue
        began = called.get(call.id)
        if began is None:
            emit(ToolCalled(call=call, shown=toolbox.shown(call.name), at=time.time()))
        seconds = time.monotonic() - began if began is not None else 0.0
        emit(ToolReturned(id=call.id, result=STOPPED, seconds=seconds, at=time.time(), stopped=True))


@dataclass(kw_only=True)
class Caps:
    """Counts the rounds of one turn and says when it must come to an end.

    Parameters
    ----------
    max_rounds : int
        Rounds of tool calls.
    max_failures : int
        Rounds in a row in which every call failed.
    max_repeats : int
        Rounds in a row that only repeated earlier ones: the same calls with the same arguments and the same
        results. Two rounds that alternate are repeats too.
    """

    max_rounds: int = 25
    max_failures: int = 3
    max_repeats: int = 3
    _rounds: int = 0
    _failures: int = 0
    _repeats: int = 0
    _seen: set[bytes] = field(default_factory=set[bytes])

    def after(self, calls: Sequence[ToolCall], results: Sequence[ToolResult]) -> str:
        """Count a round; the name of the cap that it reached, or nothing."""
        pairs = zip(calls, results, strict=True)
        told = json_text([[call.name, dict(call.arguments), result.text] for call, result in pairs])
        fingerprint = sha256(told.encode()).digest()
        self._rounds += 1
        self._failures = 0 if any(result.ok for result in results) else self._failures + 1
        self._repeats = self._repeats + 1 if fingerprint in self._seen else 0
        self._seen.add(fingerprint)
        if self._failures >= self.max_failures:
            return "too_many_failures"
        if self._repeats >= self.max_repeats:
            return "no_progress"
        return "max_rounds" if self._rounds >= self.max_rounds else ""
