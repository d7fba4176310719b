"""Many rows beside the peers in one run, and what only we measure: memory over a stream, chaos, a cluster.

    make bench                                           # with the other benchmarks
    python -m tests.benchmarks.bench_extract extract     # one measure

The vendor is ``tests/extract/vendor.py``. Each peer runs in a venv of its own under ``.build/rows``, made
when it is first needed; a fresh process for each run, round after round, so that a busy machine hits all
alike. Compare within one run only.
"""

from __future__ import annotations

import json
import statistics
import subprocess
import sys
import urllib.request
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any

ROOT = Path(__file__).resolve().parents[2]
VENVS = ROOT / ".build" / "rows"
OPEN = 100

PACKAGES = {
    "openai": ["openai"],
    "instructor": ["instructor", "openai"],
    "pydantic_ai": ["pydantic-ai-slim[openai]"],
    "chatlas": ["chatlas[openai]"],
    "async_batch_llm": ["async-batch-llm", "openai"],
}
BESIDE = {
    # measure: (scenario, rows, runs, seconds that a run may take)
    "extract": ("extract-200", 2_000, 3, 60),
    "many": ("extract-20", 20_000, 1, 300),
    "faults": ("extract-200-5-1", 2_000, 2, 60),
}
OURS = ("chaos", "memory", "dask", "killed")

MEMORY = """
import sys
from agent_magics import extract_many
from tests.benchmarks.peers.rows import memory, reset_peak
from tests.extract.vendor import SCHEMA, prompt

port, count = int(sys.argv[1]), int(sys.argv[2])
url = f"http://127.0.0.1:{port}/extract-0/v1"
how = dict(provider="openai:fixed", base_url=url, api_key="x", progress=False, stream=True, concurrency=100)
for _ in extract_many((prompt(at) for at in range(2_000)), SCHEMA, **how):
    pass
reset_peak()
start, marks = memory()[0], []
for seen, _ in enumerate(extract_many((prompt(at) for at in range(count)), SCHEMA, **how), 1):
    if seen % (count // 10) == 0:
        marks.append(f"{memory()[0] - start:+.1f}")
print("MB above the start, at each tenth of", count, "rows:", *marks, f"· peak {memory()[1] - start:+.1f}")
"""


def main(measures: Sequence[str]) -> int:
    for measure in measures or (*BESIDE, *OURS):
        print(f"\n── {measure}", flush=True)
        with vendor() as port:
            match measure:
                case "chaos":
                    _show("ours", [_run("ours", port, "extract-20-5-1-1", 20_000, 300)], 20_000)
                    print(f"{'':16} the vendor counted {_stats(port)}")
                case "memory":
                    command = [sys.executable, "-c", MEMORY, str(port), "200000"]
                    subprocess.run(command, cwd=ROOT, check=True, timeout=1_200)
                case "dask":
                    _cluster(port)
                case "killed":
                    command = [sys.executable, "-m", "tests.benchmarks.peers.killed", str(port)]
                    subprocess.run(command, cwd=ROOT, check=True, timeout=900)
                case _:
                    _beside(measure, port)
    return 0


def _beside(measure: str, port: int) -> None:
    scenario, count, runs, limit = BESIDE[measure]
    peers = ["ours", *PACKAGES]
    found: dict[str, list[dict[str, Any]]] = {peer: [] for peer in peers}
    for peer in peers:
        _python(peer)
    for at in range(runs):
        for peer in peers:
            found[peer].append(_run(peer, port, scenario, count, limit))
            _show(f"{at + 1}. {peer}", found[peer][-1:], count)
    print(
        f"{'the median':20} {'s':>7} {'CPU ms/row':>10} {'peak MB':>8} {'right':>7} {'wrong':>6} {'lost':>6}"
    )
    for peer in peers:
        _show(peer, found[peer], count)


def _run(peer: str, port: int, scenario: str, count: int, limit: float) -> dict[str, Any]:
    urllib.request.urlopen(f"http://127.0.0.1:{port}/reset", timeout=10).close()
    command = [_python(peer), "-m", "tests.benchmarks.peers.rows", peer, str(port), scenario]
    try:
        ended = subprocess.run(
            [*command, str(count), str(OPEN)],
            cwd=ROOT,
            capture_output=True,
            text=True,
            timeout=limit,
            check=False,
        )
    except subprocess.TimeoutExpired:
        return {"error": f"not finished after {limit:.0f} s"}
    if ended.returncode:
        return {"error": ended.stderr.strip().splitlines()[-1][:100]}
    return json.loads(ended.stdout.strip().splitlines()[-1])


def _show(peer: str, runs: Sequence[dict[str, Any]], count: int) -> None:
    if broken := [run["error"] for run in runs if "error" in run]:
        print(f"{peer:20} {broken[0]}", flush=True)
        return
    wall, cpu, peak = (statistics.median(run[name] for run in runs) for name in ("wall", "cpu", "peak"))
    right, wrong, lost = (min(run["right"] for run in runs), runs[-1]["wrong"], runs[-1]["lost"])
    best = min(run["wall"] for run in runs)
    print(
        f"{peer:20} {wall:7.2f} {cpu / count * 1e3:10.2f} {peak:8.0f} {right:7} {wrong:6} {lost:6}"
        f"   best {best:.2f} s",
        flush=True,
    )


def _cluster(port: int) -> None:
    """The same rows over 1, 2 and 4 workers on this machine."""
    for workers in (1, 2, 4):
        command = [sys.executable, "-m", "tests.benchmarks.peers.cluster", str(port), str(workers)]
        subprocess.run(command, cwd=ROOT, check=True, timeout=300)


def _python(peer: str) -> str:
    if peer == "ours":
        return sys.executable
    python = VENVS / peer / "bin" / "python"
    if not python.exists():
        print(f"Installing {peer} …", flush=True)
        subprocess.run([sys.executable, "-m", "venv", VENVS / peer], check=True, timeout=120)
        install = [python, "-m", "pip", "install", "-q", *PACKAGES[peer]]
        subprocess.run(install, check=True, timeout=900)
    return str(python)


def _stats(port: int) -> dict[str, Any]:
    with urllib.request.urlopen(f"http://127.0.0.1:{port}/stats", timeout=10) as response:
        return json.load(response)


@contextmanager
def vendor() -> Iterator[int]:
    """The scripted vendor in a process of its own; yields its port."""
    command = [sys.executable, "-m", "tests.extract.vendor", "0"]
    with subprocess.Popen(command, cwd=ROOT, stdout=subprocess.PIPE, text=True) as process:
        assert process.stdout
        try:
            yield int(process.stdout.readline())
        finally:
            process.terminate()


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
