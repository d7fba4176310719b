"""20,000 rows over two workers, a vendor that fails, and one worker killed; see ``bench_extract``.

python -m tests.benchmarks.peers.killed PORT
"""

from __future__ import annotations

import logging
import os
import signal
import sys
import time
from collections import Counter
from typing import Any

from distributed import LocalCluster

from agent_magics import extract_many
from agent_magics.extract.progress import Progress
from tests.extract.vendor import SCHEMA, expected, prompt

ROWS, OPEN, KILL_AT = 20_000, 100, 5_000


def main(port: int) -> None:
    killed: list[int] = []

    def kill(now: Progress) -> None:
        if now.done >= KILL_AT and not killed:
            killed.append(min(client.run(os.getpid).values()))
            os.kill(killed[0], signal.SIGKILL)

    how: dict[str, Any] = {
        "provider": "openai:fixed",
        "base_url": f"http://127.0.0.1:{port}/extract-20-5-1-1/v1",
        "api_key": "x",
        "progress": kill,
        "concurrency": OPEN,
    }
    options: dict[str, Any] = {"dashboard_address": ":0", "silence_logs": logging.CRITICAL}
    made: Any = LocalCluster(n_workers=2, threads_per_worker=1, **options)
    with made as cluster, cluster.get_client() as client:
        client.wait_for_workers(2)
        began = time.perf_counter()
        texts = (prompt(at) for at in range(ROWS))
        pairs = list(extract_many(texts, SCHEMA, client=client, stream="ordered", **how))
        took = time.perf_counter() - began
    times = Counter(index for index, _ in pairs)
    print(
        f"{took:.1f} s for {ROWS:,} rows, {len(killed)} worker killed after {KILL_AT:,}: "
        f"{ROWS - len(times)} lost, {sum(times.values()) - len(times)} doubled, "
        f"{sum(value == expected(index) for index, value in pairs):,} right, "
        f"order {'kept' if [index for index, _ in pairs] == sorted(times) else 'broken'}",
        flush=True,
    )


if __name__ == "__main__":
    main(int(sys.argv[1]))
