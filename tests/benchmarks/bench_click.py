"""How long after a click does the waiting cell go on?

Scripted clicks on every kernel, by the plain shell and by a subshell, 50 each; from the moment before the
message is sent to the moment after `Bridge.wait` and `Bridge.pump` returned to the cell. Both ends read the
same clock.

    python -m tests.benchmarks.bench_click
"""

from __future__ import annotations

import random
import statistics
import tempfile
import time
from collections.abc import Iterator
from pathlib import Path

from tests.kernels.kernel import VERSIONS, LiveKernel

CLICKS = 50
CELL = f"""
import threading, time, ipywidgets
from IPython.display import display
from agent_magics.notebook.bridge import Bridge

bridge, button, wake, clicked = Bridge(get_ipython()), ipywidgets.Button(), threading.Event(), []
assert bridge.install(), bridge.why
button.on_click(clicked.append)
end = time.monotonic() + 60
with bridge.listening(button.comm.comm_id.__eq__):
    display(button)
    for _ in range({CLICKS}):
        while not clicked and time.monotonic() < end:
            bridge.wait(wake, 1)
            wake.clear()
            bridge.pump()
        print(time.time(), flush=True)
        clicked.clear()
bridge.uninstall()
"""


def delays(kernel: LiveKernel, subshell: str | None) -> Iterator[float]:
    """Yield the milliseconds of each click, one after the other."""
    cell = kernel.execute(CELL)
    button = kernel.widget("ButtonModel", cell)
    for done in range(CLICKS):
        time.sleep(random.uniform(0, 0.03))  # people don't click in step with the kernel
        began = time.time()
        kernel.click(button, subshell)
        kernel.until(lambda done=done: cell.text.count("\n") > done, "the cell to go on")
        yield (float(cell.text.split()[done]) - began) * 1000
    cell.result()


def main() -> None:
    print(f"click → resumed, ms, {CLICKS} scripted clicks")
    print(f"{'ipykernel':<10} {'route':<9} {'median':>7} {'p95':>7} {'max':>7}")
    for version in VERSIONS:
        with tempfile.TemporaryDirectory() as folder, LiveKernel(version, Path(folder)) as kernel:
            routes: dict[str, str | None] = {"shell": None}
            if version != "6.31.0":
                routes["subshell"] = kernel.new_subshell()
            for route, subshell in routes.items():
                taken = sorted(delays(kernel, subshell))
                p95 = statistics.quantiles(taken, n=20)[-1]
                print(
                    f"{version:<10} {route:<9} {statistics.median(taken):7.1f} {p95:7.1f} {taken[-1]:7.1f}",
                    flush=True,
                )


if __name__ == "__main__":
    main()
