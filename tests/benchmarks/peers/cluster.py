"""Many rows over a cluster on this machine; see ``bench_extract``.

python -m tests.benchmarks.peers.cluster PORT WORKERS
"""

from __future__ import annotations

import logging
import sys
import time
from typing import Any

from distributed import LocalCluster

from agent_magics import extract_many
from tests.extract.vendor import SCHEMA, expected, prompt

ROWS, OPEN = 4_000, 100


def main(port: int, workers: int) -> None:
    how: dict[str, Any] = {
        "provider": "openai:fixed",
        "base_url": f"http://127.0.0.1:{port}/extract-200/v1",
        "api_key": "x",
        "progress": False,
        "concurrency": OPEN,
    }
    texts = [prompt(at) for at in range(ROWS)]
    options: dict[str, Any] = {"dashboard_address": ":0", "silence_logs": logging.ERROR}
    made: Any = LocalCluster(n_workers=workers, threads_per_worker=1, **options)
    with made as cluster, cluster.get_client() as client:
        client.wait_for_workers(workers)
        extract_many(texts[: 50 * workers], SCHEMA, client=client, **how)
        began = time.perf_counter()
        rows = extract_many(texts, SCHEMA, client=client, **how)
        took = time.perf_counter() - began
    right = sum(value == expected(at) for at, value in enumerate(rows))
    ideal = ROWS / OPEN * 0.2
    print(
        f"{workers} workers {took:10.2f} s for {ROWS} rows (ideal {ideal:.1f} s), {right} right", flush=True
    )


if __name__ == "__main__":
    main(int(sys.argv[1]), int(sys.argv[2]))
