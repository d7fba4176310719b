"""A session of a thousand turns: what a fact costs, what the session costs when it comes back.

    python -m tests.benchmarks.bench_store

Flat means that the ten-thousandth fact costs what the first did. Each fact is committed, and survives the
process; those that end a step are flushed to the disk as well, which costs what this disk takes for it. What
only computes (load, fold, ``/context``) is told in CPU time: so a busy machine tells much the same.
"""

from __future__ import annotations

import gc
import os
import subprocess
import sys
import tempfile
import time
import tracemalloc
from collections.abc import Callable
from pathlib import Path
from statistics import median, quantiles

from agent_magics import Session
from agent_magics.masking import masked
from agent_magics.store import SQLiteStore
from agent_magics.talk import Memory, RequestSent, SessionInfo, TurnEnded
from agent_magics.talk.history import conversation
from agent_magics.talk.memory import Scope
from agent_magics.testing import ScriptedProvider
from tests.conftest import ROOT
from tests.store.facts import a_turn

TURNS = 1_000
PROMPT = "What do the readings of March say, and which of the sensors are off? " * 2
REPLY = "Two of the twelve sensors drift by more than half a degree from the median of the others. " * 5
WRITERS = 10


def timed(work: Callable[[], object], times: int = 7) -> float:
    """Median milliseconds of CPU of a few runs, after one that warms up."""
    work()
    return median(_once(work) for _ in range(times))


def _once(work: Callable[[], object]) -> float:
    began = time.process_time()
    work()
    return (time.process_time() - began) * 1e3


def flushed(folder: Path) -> float:
    """Microseconds that this disk takes for one flush of a page."""
    took: list[float] = []
    with (folder / "page").open("wb", buffering=0) as file:
        for _ in range(200):
            began = time.perf_counter()
            file.write(bytes(4096))
            os.fsync(file.fileno())
            took.append((time.perf_counter() - began) * 1e6)
    return median(took)


def written(store: SQLiteStore) -> tuple[list[float], list[float]]:
    """Write the turns; microseconds of every fact within a step, and of every one that ends a step."""
    within: list[float] = []
    ending: list[float] = []
    for number in range(TURNS):
        for fact in a_turn(f"t{number}", PROMPT, REPLY):
            began = time.perf_counter()
            store.append("s", fact)
            took = (time.perf_counter() - began) * 1e6
            (ending if isinstance(fact, RequestSent | TurnEnded) else within).append(took)
    store.enroll(SessionInfo(id="s", title="A thousand turns", turns=TURNS))
    return within, ending


def talked(store: SQLiteStore) -> None:
    """A thousand turns without tools."""
    for number in range(TURNS):
        for fact in a_turn(f"u{number}", PROMPT, REPLY):
            if type(fact).__name__ in ("TurnBegan", "TurnEnded") or getattr(fact, "step", 0) == 1:
                store.append("talk", fact)


def kept(store: SQLiteStore) -> float:
    """Megabytes that the conversation holds."""
    gc.collect()
    tracemalloc.start()
    turns = conversation("s", store.load("s")).turns
    gc.collect()
    held, _ = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    assert len(turns) == TURNS
    return held / 1e6


def opened(path: Path) -> float:
    """Milliseconds until a store that was just made has its list of sessions, with its look at the file."""

    def first() -> None:
        store = SQLiteStore(path)
        store.sessions()
        store.close()

    return timed(first)


def in_context(store: SQLiteStore) -> tuple[float, float]:
    """Milliseconds of ``/context`` when the session has just come back, and once more."""
    with Session(ScriptedProvider([]), store=store, resume="s", tool_making="off") as session:
        return _once(lambda: session.command("/context")), timed(lambda: session.command("/context"))


def together(path: Path) -> float:
    """Facts a second that ten processes write to one file at once."""
    command = [sys.executable, "-m", "tests.store.writer", str(path)]
    writers = [
        subprocess.Popen([*command, f"w{n}"], stdin=-1, stdout=-1, text=True, cwd=ROOT)
        for n in range(WRITERS)
    ]
    for writer in writers:
        assert writer.stdout is not None
        writer.stdout.readline()
    began = time.perf_counter()
    for writer in writers:
        assert writer.stdin is not None
        writer.stdin.write("go\n")
        writer.stdin.flush()
    for writer in writers:
        writer.communicate()
    took = time.perf_counter() - began
    store = SQLiteStore(path)
    facts = sum(len(store.load(info.id)) for info in store.sessions())
    store.close()
    return facts / took


def main() -> None:
    print(f"| {'what':62} | {'figure':>16} | {'target':>10} |\n|{'-' * 64}|{'-' * 17}:|{'-' * 11}:|")

    def row(what: str, figure: str, target: str = "") -> None:
        print(f"| {what:62} | {figure:>16} | {target:>10} |", flush=True)

    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "sessions.db"
        store = SQLiteStore(path, mask=masked)
        within, ending = written(store)
        facts = len(within) + len(ending)
        for what, took in (
            ("a fact within a step", within),
            ("a fact that ends a step, with a flush", ending),
        ):
            row(f"append {what}", f"{median(took):.0f} µs", "≤ 2 ms" if took is within else "")
            row(
                "  the first 500, the last 500",
                f"{median(took[:500]):.0f}, {median(took[-500:]):.0f} µs",
                "flat",
            )
            row("  one of a hundred takes longer than", f"{quantiles(took, n=100)[98]:.0f} µs")
        row("  one flush of this disk, for comparison", f"{flushed(Path(folder)):.0f} µs")
        talked(store)
        loaded = store.load("s")
        load, fold = timed(lambda: store.load("s")), timed(lambda: conversation("s", loaded))
        row(f"load {TURNS:,} turns, each with an approved call ({facts:,} facts)", f"{load:.0f} ms")
        row("  fold them", f"{fold:.0f} ms")
        row("  both", f"{load + fold:.0f} ms", "≤ 100 ms")
        both = timed(lambda: conversation("talk", store.load("talk")))
        row(f"load and fold {TURNS:,} turns without tools", f"{both:.0f} ms", "≤ 100 ms")
        row("  memory that the turns hold", f"{kept(store):.1f} MB")
        first, again = in_context(store)
        row(
            f"/context after {TURNS:,} turns, the first time, then",
            f"{first:.0f}, {again:.0f} ms",
            "≤ 100 ms",
        )
        scopes: tuple[Scope, Scope] = ("user", "notebook")
        for number, scope in enumerate(scopes * 20):
            store.remember(
                Memory(id=str(number), text="I prefer Polars. " * 5, scope=scope, notebook="/x.ipynb")
            )
        row(
            "read 40 memories, as every round does",
            f"{timed(lambda: store.memories('/x.ipynb')):.2f} ms",
            "≤ 2 ms",
        )
        store.close()
        row("open the file, check it and list the sessions", f"{opened(path):.1f} ms")
        row("the file, a turn", f"{path.stat().st_size / TURNS / 2 / 1e3:.1f} kB")
        row(f"{WRITERS} processes write at once", f"{together(Path(folder) / 'ten.db'):,.0f} facts/s")


if __name__ == "__main__":
    main()
