"""What the notebook itself costs: loading, a click on Approve, a round of tool calls in a kernel.

The answer of 20,000 tokens is measured by `bench_stream` and `bench_browser`.

    python -m tests.benchmarks.bench_notebook
"""

from __future__ import annotations

import json
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from pathlib import Path
from statistics import median

from tests.kernels.conftest import SCRIPTING
from tests.kernels.kernel import VERSIONS, LiveKernel
from tests.kernels.page import Page

LOADS, CLICKS, ROUNDS = 9, 10, 24

LOAD = """
import json, sys, time
from IPython.core.interactiveshell import InteractiveShell
shell, before, began = InteractiveShell.instance(), set(sys.modules), time.perf_counter()
shell.extension_manager.load_extension({extension!r})
print(json.dumps([time.perf_counter() - began, sorted(set(sys.modules) - before)]))
"""
CLICK = """
play(run_python("print(time.time(), file=cell, flush=True)"), "Done.")
import sys
cell = sys.stdout
"""
TOOLS = """
@tool
async def on_the_loop(n: int) -> int:
    "Returns n."
    return n

@tool
def on_a_thread(n: int) -> int:
    "Returns n."
    return n

@tool(needs_kernel=True)
def on_main(n: int) -> int:
    "Returns n."
    return n

for each in (on_the_loop, on_a_thread, on_main):
    current_session().toolbox.add(each)

def rounds(name):
    play(*(call(name, n=n) for n in range({rounds})), "Done.")
    began = time.perf_counter()
    get_ipython().run_line_magic("agent", "go on")
    return (time.perf_counter() - began) * 1e3
"""


def table(title: str, *heads: str) -> None:
    print(f"\n{title}")
    row(*heads)


def row(first: str, *cells: object) -> None:
    shown = (f"{each:9.1f}" if isinstance(each, float) else f"{each:>9}" for each in cells)
    print(f"{first:<26}", *shown, flush=True)


def loading() -> None:
    table("%load_ext in a fresh process, ms; target 60", "extension", "median", "max", "modules")
    for extension in ("agent_magics", "autoreload"):  # one of IPython's own, to compare
        taken: list[float] = []
        modules: list[str] = []
        for _ in range(LOADS):
            said = subprocess.run(
                [sys.executable, "-c", LOAD.format(extension=extension)],
                check=True,
                capture_output=True,
                text=True,
                timeout=60,
            )
            seconds, modules = json.loads(said.stdout)
            taken.append(seconds * 1e3)
        row(extension, median(taken), max(taken), len(modules))


def clicks(page: Page, subshell: str | None) -> Iterator[float]:
    """The milliseconds from each click on Approve to the first statement that it let run."""
    for _ in range(CLICKS):
        page.run(CLICK)
        cell = page.start("%agent go on")
        approve = page.button("Approve")
        began = time.time()
        page.kernel.click(approve, subshell)
        cell.result()
        yield (float(page.printed(cell)) - began) * 1e3


def approving(kernel: LiveKernel, page: Page) -> None:
    routes = {"shell": None} | ({"subshell": kernel.new_subshell()} if kernel.version != "6.31.0" else {})
    for route, subshell in routes.items():
        taken = sorted(clicks(page, subshell))
        row(f"{kernel.version} {route}", median(taken), taken[-1])


def rounds(page: Page) -> None:
    """What a round costs: a turn of many, less a turn of none, by its number of rounds."""
    page.run(TOOLS.replace("{rounds}", str(ROUNDS)))
    page.run("rounds('on_the_loop')")
    none = median(
        _printed(page, "play('Done.'); t = time.perf_counter(); get_ipython().run_line_magic('agent', 'hi')")
    )
    for name in ("on_the_loop", "on_a_thread", "on_main"):
        whole = median(_printed(page, f"ms = rounds({name!r})"))
        row(name, (whole - none) / ROUNDS)


def _printed(page: Page, code: str) -> Iterator[float]:
    for _ in range(5):
        done = "print(ms)" if "ms =" in code else "print((time.perf_counter() - t) * 1e3)"
        yield float(page.printed(page.run(f"{code}\n{done}")))


def main() -> None:
    loading()
    table(
        f"Approve → approved code runs, ms, {CLICKS} scripted clicks; target 15", "ipykernel", "median", "max"
    )
    for version in VERSIONS:
        with tempfile.TemporaryDirectory() as folder, LiveKernel(version, Path(folder)) as kernel:
            page = Page(kernel)
            page.run(SCRIPTING)
            approving(kernel, page)
    table(f"A round of one tool call and its row in the panel, ms, {ROUNDS} rounds a turn", "tool", "a round")
    with tempfile.TemporaryDirectory() as folder, LiveKernel(VERSIONS[-1], Path(folder)) as kernel:
        page = Page(kernel)
        page.run(SCRIPTING)
        rounds(page)


if __name__ == "__main__":
    main()
