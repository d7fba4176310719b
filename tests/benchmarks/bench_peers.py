"""agent_magics beside its peers, in one run: start, streaming, tool rounds, and the same in a kernel.

    make bench                                       # with the other benchmarks
    python -m tests.benchmarks.bench_peers tools     # one measure

The harness with the peers' adapters and the scripted server is not part of this project; its folder is
``$AGENT_MAGICS_PEERS``, by default ``../shared/spikes/peers``. Each peer gets a venv under ``.build/peers``,
made when it is first needed. Where the harness is missing this says so and measures nothing.
"""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
import time
import urllib.error
import urllib.request
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
HARNESS = Path(os.environ.get("AGENT_MAGICS_PEERS", ROOT.parent / "shared" / "spikes" / "peers"))
WORK = ROOT / ".build" / "peers"
PORT = 8911
PEERS = "bare,bareparse,chatlas_,jai2,openai_sdk,ours"
VENVS = ("base", "server", "chatlas", "jai2", "openai")

MEASURES = {
    "startup": ("bench.py", "startup", "--runs", "5", "--peers", "chatlas_,jai2,openai_sdk,ours"),
    "stream": ("bench.py", "stream", "--runs", "5", "--peers", PEERS),
    "tools": ("bench.py", "tools", "--runs", "5", "--peers", PEERS),
    "kernel": ("kernel_bench.py", "--runs", "3", "--peers", "bareprint,chatlas_,jai2,ours"),
    "kernel-paced": (
        *("kernel_bench.py", "--runs", "2", "--scenario", "paced-2000"),
        *("--peers", "bareprint,jai2,ours"),
    ),
}
"""Measure -> the harness's command. Targets: PERFORMANCE.md beside the harness."""


def main(measures: list[str]) -> int:
    if not (HARNESS / "bench.py").exists():
        print(f"The peers' harness is not at {HARNESS}; nothing is measured.")
        return 0
    _prepare()
    with _server():
        for measure in measures or MEASURES:
            print(f"\n── {measure}", flush=True)
            script, *arguments = MEASURES[measure]
            python = WORK / "venvs" / "base" / "bin" / "python"
            subprocess.run(
                [python, script, *arguments, "--port", str(PORT)], cwd=WORK, check=True, timeout=1800
            )
    return 0


def _prepare() -> None:
    """Copy the harness, add our adapter, and make the venvs that are not there yet."""
    shutil.copytree(HARNESS, WORK, dirs_exist_ok=True)
    for folder in ("results", "logs"):
        (WORK / folder).mkdir(exist_ok=True)
    for path in WORK.rglob("*"):
        path.chmod(path.stat().st_mode | 0o200)
    shutil.copy(ROOT / "tests" / "benchmarks" / "peers" / "ours.py", WORK / "adapters" / "ours.py")
    missing = [name for name in VENVS if not (WORK / "venvs" / name / "bin" / "python").exists()]
    if missing:
        print(f"Installing {', '.join(missing)} …", flush=True)
        subprocess.run(["bash", "setup_venvs.sh", *missing], cwd=WORK, check=True, timeout=1800)
    if not (WORK / "venvs" / "ours" / "bin" / "python").exists():
        ours = WORK / "venvs" / "ours"
        subprocess.run([sys.executable, "-m", "venv", ours], check=True, timeout=120)
        install = [ours / "bin" / "python", "-m", "pip", "install", "-q", "-e", ROOT, "ipykernel"]
        subprocess.run(install, check=True, timeout=900)


@contextmanager
def _server() -> Iterator[None]:
    """The scripted server; it stops by itself after an hour."""
    python = WORK / "venvs" / "server" / "bin" / "python"
    server = subprocess.Popen([python, "server.py", str(PORT), "3600"], cwd=WORK)
    try:
        for _ in range(100):
            try:
                urllib.request.urlopen(f"http://127.0.0.1:{PORT}/stats", timeout=1).close()
                break
            except (urllib.error.URLError, ConnectionError):
                time.sleep(0.1)
        yield
    finally:
        server.terminate()
        server.wait(10)


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
