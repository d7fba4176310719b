"""What a confined call costs: by itself, with libraries, with data, and beside others.

``python -m tests.benchmarks.bench_sandbox``
"""

from __future__ import annotations

import statistics
import threading
import time
from collections.abc import Callable

import numpy as np
import pandas as pd

from agent_magics.sandbox import Sandbox
from agent_magics.sandbox.launch import Zygote

BARE = "def f(x):\n    return x + 1"
NUMPY = "import numpy as np\ndef f(x):\n    return float(np.arange(x).sum())"
PANDAS = "import pandas as pd\ndef f(x):\n    return int(pd.Timestamp(x, unit='s').year)"
GROUPS = """
import pandas as pd
def f(x):
    d = pd.DataFrame({"a": [1, 2, 2], "b": [1.0, 2, 3]})
    return d.groupby("a").b.mean().to_dict()
"""
TAKES = "def f(d):\n    return float(d.iloc[:, 0].sum())"
GIVES = "def f(d):\n    return d"
WORKS = "def f(x):\n    return sum(range(1_500_000))"


def timed(work: Callable[[], object], times: int) -> list[float]:
    """Milliseconds of each of so many runs, after one that nobody counts."""
    work()
    found: list[float] = []
    for _ in range(times):
        began = time.perf_counter()
        work()
        found.append((time.perf_counter() - began) * 1000)
    return found


def line(what: str, found: list[float], target: float | None = None) -> str:
    """One row of the table."""
    median = statistics.median(found)
    met = "" if target is None else f"{target:8.0f}  {'met' if median <= target else 'MISSED'}"
    return f"{what:44s} {median:9.1f} {min(found):9.1f} {max(found):9.1f} {met}"


def main() -> None:
    """Measure and print."""
    print(f"{'milliseconds':44s} {'median':>9s} {'min':>9s} {'max':>9s} {'target':>8s}")
    for family in ("bare", "numpy", "pandas", "science"):
        print(line(f"zygote start, {family}", timed(lambda name=family: Zygote(name).close(), 5)))
    with Sandbox() as sandbox:
        assert sandbox.level == "A", sandbox.isolation

        def call(source: str, value: object = 1) -> object:
            name = "d" if isinstance(value, pd.DataFrame) else "x"
            outcome = sandbox.call(source, "f", {name: value})
            assert outcome.ok, outcome.error
            return outcome.value

        for what, source, target in (
            ("bare", BARE, 3),
            ("numpy", NUMPY, 4),
            ("pandas", PANDAS, 6),
            ("a small group-by", GROUPS, None),
        ):
            print(line(f"call, {what}", timed(lambda text=source: call(text), 100), target))
        frame = pd.DataFrame(np.random.default_rng(0).random((1_250_000, 10)))
        megabytes = frame.memory_usage().sum() / 1e6
        print(line(f"frame of {megabytes:.0f} MB in", timed(lambda: call(TAKES, frame), 10), 80))
        print(line(f"frame of {megabytes:.0f} MB in and out", timed(lambda: call(GIVES, frame), 5)))
        print(line("a call that works, alone", timed(lambda: call(WORKS), 10)))
        print(line("8 of them side by side, all", timed(lambda: beside(8, lambda: call(WORKS)), 5)))
        print(line("8 bare calls side by side, all", timed(lambda: beside(8, lambda: call(BARE)), 20)))


def beside(count: int, work: Callable[[], object]) -> None:
    """Do it so many times at once, and wait for all."""
    threads = [threading.Thread(target=work) for _ in range(count)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()


if __name__ == "__main__":
    main()
