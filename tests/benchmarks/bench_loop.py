"""The loop by itself: rounds of tool calls, a long answer, and what each costs, with a scripted provider.

    python -m tests.benchmarks.bench_loop

No network and no vendor: what is left is our own overhead. Flat means that a round late in the turn, or in a
session with a long history, costs what the first one did.
"""

from __future__ import annotations

import asyncio
import threading
import time
import tracemalloc
from collections.abc import AsyncIterator, Callable
from contextlib import suppress
from itertools import cycle, pairwise
from statistics import median

from agent_magics import Session, tool
from agent_magics.talk import Event, ProviderEvent, Saying, ToolCall, Turn, TurnImported
from agent_magics.testing import Hang, ScriptedProvider

ROUNDS = 50
EVENTS = 20_000
TURNS = 300
BEFORE = 1_000
CANCELLED = {
    "stream": "the model speaks",
    "doze": "an async tool",
    "sleep": "a synchronous tool",
    "cling": "an async tool that won't end",
}


@tool
def add(a: int, b: int) -> int:
    """Add."""
    return a + b


@tool
async def add_async(a: int, b: int) -> int:
    """Add."""
    return a + b


class Quick:
    """Plays a list of replies round and round, and remembers nothing."""

    name, model, window = "quick", "script", 0

    def __init__(self, replies: list[list[ProviderEvent]]) -> None:
        self._replies = cycle(replies)

    async def fetch(self, messages: object, tools: object, **_: object) -> AsyncIterator[ProviderEvent]:
        for event in next(self._replies):
            yield event

    async def aclose(self) -> None: ...


def rounds_of(name: str, rounds: int) -> Quick:
    calls = [ToolCall(id=f"c{n}", name=name, arguments={"a": n, "b": 1}) for n in range(rounds)]
    return Quick([*([call] for call in calls), [Saying(text="done")]])


def timed(work: Callable[[], object], times: int = 5) -> float:
    """Median seconds of a few runs, after one that warms up."""
    work()
    return median(_once(work) for _ in range(times))


def _once(work: Callable[[], object]) -> float:
    began = time.perf_counter()
    work()
    return time.perf_counter() - began


def per_round(name: str, *, before: int = 0, window: int = 0) -> tuple[float, float, float]:
    """Milliseconds a round, and those of the first and the last ten rounds of a turn; with turns before it,
    in a window that they half fill."""
    stamps: list[float] = []

    def watch(event: Event) -> None:
        if type(event).__name__ == "RequestSent":
            stamps.append(time.perf_counter())

    quick = rounds_of(name, ROUNDS)
    quick.window = window
    with Session(quick, tools=[add, add_async], max_rounds=ROUNDS + 1, tool_making="off") as session:
        for number in range(before):
            turn = Turn(id=f"t{number}", prompt="Go on.", reply="An answer. " * 10, stop="done")
            session.past.take(TurnImported(turn=turn, at=0.0))
        whole = timed(lambda: session.ask("go")) / ROUNDS
        stamps.clear()
        session.ask("go", on_event=watch)
    gaps = [after - before for before, after in pairwise(stamps)]
    return whole * 1e3, median(gaps[:10]) * 1e3, median(gaps[-10:]) * 1e3


def long_answer(views: int) -> float:
    """Seconds for an answer of many small pieces, watched by some who do nothing."""
    pieces: list[ProviderEvent] = [Saying(text="word ")] * EVENTS
    with Session(Quick([pieces]), tool_making="off") as session:
        for _ in range(views):
            session.subscribe(lambda event: None)
        return timed(lambda: session.ask("go"), times=3)


def long_session() -> tuple[float, float, float]:
    """Milliseconds of the first and the last ten of many turns, and kilobytes that each turn keeps."""
    with Session(Quick([[Saying(text="A short answer.")]]), tool_making="off") as session:
        session.ask("warm up")
        took = [_once(lambda: session.ask("again")) for _ in range(TURNS)]
        tracemalloc.start()
        for _ in range(TURNS):
            session.ask("again")
        kept, _ = tracemalloc.get_traced_memory()
        tracemalloc.stop()
    return median(took[:10]) * 1e3, median(took[-10:]) * 1e3, kept / TURNS / 1024


def big_result() -> float:
    """Milliseconds for a round whose tool returns five megabytes."""

    @tool
    def big(a: int, b: int) -> str:
        return f"{a} line of text\n" * 300_000

    with Session(rounds_of("big", 3), tools=[big], tool_making="off") as session:
        return timed(lambda: session.ask("go"), times=3) / 3 * 1e3


def cancelled(what: str) -> float:
    """Milliseconds from the cancellation to the turn's end, while the model speaks or a tool runs."""
    running, go = threading.Event(), threading.Event()

    @tool
    def sleep() -> None:
        running.set()
        go.wait(10)

    @tool
    async def doze() -> None:
        running.set()
        await asyncio.sleep(10)

    @tool
    async def cling() -> None:
        running.set()
        while not go.is_set():
            with suppress(asyncio.CancelledError):
                await asyncio.sleep(0.05)

    replies = [Saying(text="Once"), Hang()] if what == "stream" else ToolCall(id="c", name=what)
    took: list[float] = []
    for _ in range(5):
        running.clear()
        go.clear()
        with Session(ScriptedProvider([replies]), tools=[sleep, doze, cling], tool_making="off") as session:
            future = session.start("go", lambda event: running.set() if isinstance(event, Saying) else None)
            running.wait(10)
            began = time.perf_counter()
            session.cancel()
            future.result(10)
            took.append(time.perf_counter() - began)
        go.set()
    return median(took) * 1e3


def main() -> None:
    print(f"| {'what':58} | {'figure':>12} | {'target':>8} |\n|{'-' * 60}|{'-' * 13}:|{'-' * 9}:|")

    def row(what: str, figure: str, target: str = "") -> None:
        print(f"| {what:58} | {figure:>12} | {target:>8} |", flush=True)

    for name in ("add", "add_async"):
        whole, first, last = per_round(name)
        row(f"a round of tool calls, of {ROUNDS} ({name})", f"{whole:.2f} ms", "≤ 2 ms")
        row("  its first ten, its last ten", f"{first:.2f}, {last:.2f} ms", "flat")
    whole, first, last = per_round("add", before=BEFORE, window=100_000)
    row(f"a round of tool calls, after {BEFORE} turns, in a window", f"{whole:.2f} ms", "≤ 2 ms")
    row("  its first ten, its last ten", f"{first:.2f}, {last:.2f} ms", "flat")
    for views in (0, 1, 4):
        row(f"{EVENTS:,} pieces of an answer, {views} watching", f"{long_answer(views):.3f} s", "≤ 0.5 s")
    first, last, kept = long_session()
    row(f"a turn of a session, its first ten, its last ten of {TURNS}", f"{first:.2f}, {last:.2f} ms", "flat")
    row("  kept of each turn", f"{kept:.1f} kB")
    row("a round whose tool returns 5 MB", f"{big_result():.0f} ms")
    for what, said in CANCELLED.items():
        row(f"cancel → ended, {said}", f"{cancelled(what):.1f} ms", "≤ 500 ms")


if __name__ == "__main__":
    main()
