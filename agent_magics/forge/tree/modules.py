"""The modules that a tool may import, and the names that it may take from each.

``exports.txt`` lists them, one module a line. It is a list and not a look-up at run time, so that anybody can
read what tools may reach, a new release of a library adds nothing by itself, and the check imports nothing.
It is made by :mod:`agent_magics.forge.tree.gather`, which also says what is left out and why.
"""

from __future__ import annotations

from functools import cache
from pathlib import Path

CLOCK = frozenset({
    "time.time", "time.time_ns", "time.monotonic", "time.monotonic_ns", "time.perf_counter",
    "time.perf_counter_ns", "time.sleep",
})  # fmt: skip
CHANCE = frozenset({"uuid.uuid4", "random.SystemRandom", "secrets"})


@cache
def exports() -> dict[str, frozenset[str]]:
    """Module -> the names that may be taken from it."""
    text = (Path(__file__).parent / "exports.txt").read_text("utf-8")
    rows = (line.partition(":") for line in text.splitlines() if line and not line.startswith("#"))
    return {module: frozenset(names.split()) for module, _, names in rows}


def is_module(path: str) -> bool:
    """Whether a tool may import the module of this dotted name."""
    return path in exports()


def refusal(path: str) -> str:
    """Why a module can't be imported, and what there is."""
    top = sorted({name.partition(".")[0] for name in exports()})
    return f"the module {path!r} can't be imported; a tool may import {', '.join(top)}"
