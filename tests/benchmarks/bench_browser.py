"""What a person waits for, and what a long answer costs, in JupyterLab in Chromium.

Clicks: 30 on Approve in one ``%%agent`` cell, on each generation of the kernel; from the click event in the
page to the answer's arrival in the turn (resumed; the target is a median of 15 ms), and to the approved
code's first statement (runs).

Stream: one answer of 20,000 tokens, paced and as fast as possible; what Chromium's processes used of the
processor, what came over the kernel's socket, and the longest time for which the page could not react.
The targets are those of the prototype: 10 CPU-s at 450 tokens a second, 1,500 frames, 4 MB; no stall over
200 ms.

    python -m tests.benchmarks.bench_browser
"""

from __future__ import annotations

import json
import statistics
import tempfile
from collections.abc import Generator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from playwright.sync_api import Browser, Page, WebSocket, sync_playwright

from tests.benchmarks.bench_stream import SETUP
from tests.browser.lab import CHROMIUM, FLAGS, Lab
from tests.browser.live import LiveNotebook

KERNELS = ("7.4.0", "7.3.0", "6.31.0")
CLICKS = 30
PACES = {"450 tokens/s": 450, "as fast as possible": 0}

ASKS = f"""%load_ext agent_magics
import json, time
from agent_magics import current_session, provider
from agent_magics.talk import ApprovalGiven, ToolCall
from agent_magics.testing import ScriptedProvider

resumed, ran = [], []
code = "ran.append(time.time() * 1000)  # call "
def call(number):
    return ToolCall(id=f"c{{number}}", name="run_python", arguments={{"code": f"{{code}}{{number}}."}})

provider("script", lambda **_: ScriptedProvider([*map(call, range({CLICKS})), "Done."]))
%config AgentMagics.provider = "script"
current_session().subscribe(lambda e: isinstance(e, ApprovalGiven) and resumed.append(time.time() * 1000))
"""
CLICKED = """() => {
    window.clicks = [];
    const note = event => event.target.textContent === 'Approve' && window.clicks.push(Date.now());
    document.addEventListener('click', note, {capture: true});
}"""
STALLS = """() => {
    window.stalls = [0];
    new PerformanceObserver(list => list.getEntries().forEach(each => window.stalls.push(each.duration)))
        .observe({type: 'longtask'});
}"""


class Wire:
    """Counts what comes to a page over its kernel's socket."""

    def __init__(self, page: Page) -> None:
        self.frames = self.size = 0
        page.on("websocket", self._opened)

    def _opened(self, socket: WebSocket) -> None:
        if "/channels" in socket.url:
            socket.on("framereceived", self._count)

    def _count(self, payload: str | bytes) -> None:
        self.frames += 1
        self.size += len(payload)


class Bench:
    """A JupyterLab and a Chromium."""

    def __init__(self, lab: Lab, browser: Browser) -> None:
        self._lab = lab
        self._browser = browser
        self._context = browser.new_context(viewport={"width": 1000, "height": 900})

    @contextmanager
    def opened(self, *cells: str, kernel: str = "7.4.0") -> Generator[tuple[LiveNotebook, Wire]]:
        self._lab.write("bench", *cells, kernel=f"ipykernel-{kernel}")
        page = self._context.new_page()
        wire = Wire(page)
        yield LiveNotebook(page, self._lab, "bench"), wire
        page.close()
        self._lab.shut_kernels()

    def clicks(self, kernel: str) -> tuple[list[float], list[float]]:
        """Milliseconds from each click to the turn's knowing of it, and to the code's running."""
        ask = f"%agent --max-rounds {CLICKS + 2} Go on."
        with self.opened(ASKS, ask, "print(json.dumps([resumed, ran]))", kernel=kernel) as (page, _):
            page.page.evaluate(CLICKED)
            page.run_all()
            for call in range(CLICKS):
                page.page.locator(".agm-src", has_text=f"call {call}.").wait_for()
                page.press("Approve")
            page.output(2).get_by_text("[[").wait_for()
            began = page.page.evaluate("window.clicks")
            resumed, ran = json.loads(page.output(2).inner_text())
        return _delays(began, resumed), _delays(began, ran)

    def stream(self, rate: int) -> dict[str, float]:
        """What one answer took."""
        ask = f"import time; began = time.time()\n%agent --provider stream:{rate} Go on.\ntime.time() - began"
        with self.opened(SETUP, ask) as (page, wire):
            page.run(0)
            page.at_rest()
            page.page.evaluate(STALLS)
            before, wire.frames, wire.size = self._cpu(), 0, 0
            page.run(1)
            page.settled().wait_for(timeout=120_000)
            page.at_rest()
            return {
                "seconds": float(page.output(1).locator("pre").last.inner_text()),
                "cpu": self._cpu() - before,
                "frames": wire.frames,
                "MB": wire.size / 1e6,
                "stall": max(page.page.evaluate("window.stalls")),
            }

    def _cpu(self) -> float:
        """Seconds of processor time that Chromium has used, all of its processes together."""
        session = self._browser.new_browser_cdp_session()
        told: dict[str, Any] = session.send("SystemInfo.getProcessInfo")
        session.detach()
        return sum(process["cpuTime"] for process in told["processInfo"])


def _delays(began: list[float], ended: list[float]) -> list[float]:
    assert CLICKS == len(began) == len(ended), (len(began), len(ended))
    return sorted(end - begin for begin, end in zip(began, ended, strict=True))


@contextmanager
def bench() -> Generator[Bench]:
    """Everything running, in a folder of its own."""
    with tempfile.TemporaryDirectory() as folder, sync_playwright() as playwright:
        lab = Lab(Path(folder))
        try:
            with playwright.chromium.launch(executable_path=CHROMIUM, args=FLAGS) as browser:
                yield Bench(lab, browser)
        finally:
            lab.close()


def show_clicks(run: Bench) -> None:
    print(f"Click on Approve in a browser, ms, {CLICKS} clicks; target: resumed ≤ 15 median")
    print(f"{'ipykernel':<10} {'until':<8} {'median':>7} {'p95':>7} {'max':>7}")
    for kernel in KERNELS:
        for name, taken in zip(("resumed", "runs"), run.clicks(kernel), strict=True):
            p95 = statistics.quantiles(taken, n=20)[-1]
            print(
                f"{kernel:<10} {name:<8} {statistics.median(taken):7.1f} {p95:7.1f} {taken[-1]:7.1f}",
                flush=True,
            )


def show_streams(run: Bench) -> None:
    print("\n20,000 tokens in a browser; targets: 10 CPU-s at 450 tokens/s, 1,500 frames, 4 MB, 200 ms stall")
    print(f"{'pace':<20} {'seconds':>8} {'CPU-s':>6} {'frames':>7} {'MB':>6} {'longest stall ms':>17}")
    for name, rate in PACES.items():
        took = run.stream(rate)
        print(
            f"{name:<20} {took['seconds']:8.1f} {took['cpu']:6.1f} {took['frames']:7,} {took['MB']:6.2f}"
            f" {took['stall']:17.0f}",
            flush=True,
        )


def main() -> None:
    with bench() as run:
        show_clicks(run)
        show_streams(run)


if __name__ == "__main__":
    main()
