"""What does an answer of 20,000 tokens cost the page that shows it?

JupyterLab in headless Chromium, through ``%%agent``, at 450 tokens a second: the seconds that the page's main
thread was busy, of these in scripts and in layout, and the longest time without a frame.

    python -m tests.benchmarks.bench_page
"""

from __future__ import annotations

import tempfile
from pathlib import Path

from playwright.sync_api import Browser, sync_playwright

from tests.benchmarks.bench_stream import SETUP
from tests.browser.lab import CHROMIUM, FLAGS, Lab, Notebook

FRAMES = """() => {
    window.longest = 0;
    let last = performance.now();
    const frame = now => {
        window.longest = Math.max(window.longest, now - last);
        last = now;
        requestAnimationFrame(frame);
    };
    requestAnimationFrame(frame);
}"""
SPENT = ("TaskDuration", "ScriptDuration", "LayoutDuration", "RecalcStyleDuration")


def main() -> None:
    with tempfile.TemporaryDirectory() as folder, sync_playwright() as playwright:
        lab = Lab(Path(folder))
        try:
            browser = playwright.chromium.launch(executable_path=CHROMIUM, args=FLAGS, headless=True)
            spent, longest = measured(browser, lab)
        finally:
            lab.close()
    print("20,000 tokens at 450 a second, shown in JupyterLab: seconds of the page's main thread")
    print(f"{'in all':>8} {'scripts':>8} {'layout':>8} {'styles':>8} {'longest ms without a frame':>27}")
    print(" ".join(f"{spent[name]:8.2f}" for name in SPENT) + f" {longest:27.0f}")


def measured(browser: Browser, lab: Lab) -> tuple[dict[str, float], float]:
    """Seconds by kind and the longest gap in ms, from the first token to the settled turn."""
    lab.write("stream", SETUP, "%%agent --provider stream:450\nGo on and on.")
    page = browser.new_page(viewport={"width": 1000, "height": 1000})
    notebook = Notebook(page, lab, "stream")
    session = page.context.new_cdp_session(page)
    session.send("Performance.enable")

    def spent() -> dict[str, float]:
        metrics = session.send("Performance.getMetrics")["metrics"]
        return {each["name"]: each["value"] for each in metrics if each["name"] in SPENT}

    notebook.run_all()
    notebook.at(".agm-text").wait_for()
    page.evaluate(FRAMES)
    before = spent()
    notebook.settled().wait_for(timeout=120_000)
    after = spent()
    return {name: after[name] - before[name] for name in SPENT}, page.evaluate("() => window.longest")


if __name__ == "__main__":
    main()
