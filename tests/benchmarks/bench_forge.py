"""The tree check over the corpus of honest tools: how long one takes, and that none is refused.

``python -m tests.benchmarks.bench_forge``. The target is 2 ms a tool.
"""

from __future__ import annotations

import statistics
import time
from collections.abc import Callable

from agent_magics.forge import check
from agent_magics.forge.tree.judge import judge
from tests.forge.corpus import Honest, corpus, size
from tests.redteam.rows_tree_language import ROWS as LANGUAGE
from tests.redteam.rows_tree_libraries import ROWS as LIBRARIES

ROUNDS = 7


def main() -> None:
    tools = corpus()
    check(tools[0].source, tools[0].name)  # the worker is there from the first check on
    refused = [tool.name for tool in tools if not judge(tool.source, tool.name).ok]
    attacks = [*LANGUAGE, *LIBRARIES]
    missed = [row.name for row in attacks if judge(row.attack, "attack").ok]
    print(f"honest tools falsely refused   {len(refused)} of {len(tools)} {' '.join(refused)}")
    print(f"attacks refused                {len(attacks) - len(missed)} of {len(attacks)} {' '.join(missed)}")
    print(f"{'tree check, a tool':30} {'median':>9} {'95 %':>9} {'max':>9}   largest")
    show("in this process", tools, lambda tool: judge(tool.source, tool.name))
    show("in the worker, as used", tools, lambda tool: check(tool.source, tool.name))


def show(label: str, tools: tuple[Honest, ...], work: Callable[[Honest], object]) -> None:
    """One row: the best of some rounds for each tool."""
    best = {tool.name: min(timed(work, tool) for _ in range(ROUNDS)) for tool in tools}
    times = sorted(best.values())
    slowest = max(best, key=lambda name: best[name])
    nodes = next(size(tool) for tool in tools if tool.name == slowest)
    told = [statistics.median(times), times[int(0.95 * len(times))], times[-1]]
    print(f"{label:30} {' '.join(f'{each * 1e3:6.2f} ms' for each in told)}   {slowest}, {nodes} nodes")


def timed(work: Callable[[Honest], object], tool: Honest) -> float:
    began = time.perf_counter()
    work(tool)
    return time.perf_counter() - began


if __name__ == "__main__":
    main()
