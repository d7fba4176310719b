"""What does an answer of 20,000 tokens cost through ``%%agent``, in a real kernel?

Messages and bytes on iopub, wall time, the kernel's CPU time, the time to the first output: as fast as
possible, and paced at 2,000 and 450 tokens a second. Targets: 1.0 s as fast as possible; 1.5 CPU-s and 50 ms
to the first output at 2,000 a second; 1,500 messages and 4 MB always.

    python -m tests.benchmarks.bench_stream
"""

from __future__ import annotations

import tempfile
import time
from pathlib import Path

from tests.kernels.kernel import LiveKernel, Request

SETUP = """
import asyncio, random, resource, time
from agent_magics import provider
from agent_magics.talk import Saying, Stop, Usage

SENTENCES = ("The mean of `speed` is **34.2** in the sample, a little above what was expected. ",
             "See [the notes](https://example.org/notes) for how *outliers* were found and why they stay. ")
BLOCKS = ("## A heading\\n\\n", "- one item with `code`\\n- another item\\n\\n",
          "| vehicle | trips |\\n|:--|--:|\\n| car | 611 |\\n| van | 402 |\\n\\n",
          "```python\\ntrips['fpf'] = trips['mph'] * 2688\\n```\\n\\n", "So $n = 1284$ it is.\\n\\n")
chance, text = random.Random(7), ""
while len(text) < 100_000:
    text += "".join(chance.choices(SENTENCES, k=chance.randint(2, 7))) + "\\n\\n"
    text += chance.choice(BLOCKS) if chance.random() < 0.4 else ""
TOKENS = [text[at : at + 5] for at in range(0, 100_000, 5)]

class Stream:
    name, window = "stream", 0

    def __init__(self, model=None, **options):
        self.model = model or "0"

    async def fetch(self, messages, tools, *, schema=None):
        rate, began = float(self.model), time.monotonic()
        for at, token in enumerate(TOKENS):
            if rate and (ahead := at / rate - (time.monotonic() - began)) > 0:
                await asyncio.sleep(ahead)
            yield Saying(text=token)
        yield Usage(input=10, output=len(TOKENS))
        yield Stop(reason="end")

    async def aclose(self):
        pass

provider("stream")(Stream)
get_ipython().run_line_magic("load_ext", "agent_magics")
get_ipython().run_line_magic("config", "AgentMagics.frontend = 'widgets'")
def cpu():
    used = resource.getrusage(resource.RUSAGE_SELF)
    return used.ru_utime + used.ru_stime
"""
RUNS = {"as fast as possible": 0, "2,000 tokens/s": 2000, "450 tokens/s": 450}


def measured(kernel: LiveKernel, rate: int) -> tuple[int, float, float, float, float]:
    """Messages, MB, seconds, CPU seconds and milliseconds to the first output of one answer."""
    before = float(kernel.run("print(cpu())").text)
    kernel.heard.clear()
    began = time.monotonic()
    cell = kernel.execute(f"%%agent --provider stream:{rate}\nGo on and on.")
    kernel.until(lambda: any(cell.answers("iopub", "display_data")), "the panel", 60)
    first = time.monotonic() - began
    kernel.until(lambda: cell.done, "the answer", 120)
    seconds = time.monotonic() - began
    messages, size = weight(cell)
    return messages, size / 1e6, seconds, float(kernel.run("print(cpu())").text) - before, first * 1000


def weight(cell: Request) -> tuple[int, int]:
    """How many messages a cell published, and how many bytes."""
    from jupyter_client.session import json_packer

    sizes = [
        sum(
            len(json_packer(part))
            for part in (each["header"], each["parent_header"], each["metadata"], each["content"])
        )
        for each in cell.answers("iopub")
    ]
    return len(sizes), sum(sizes)


def main() -> None:
    print("20,000 tokens through %%agent, ipykernel 7.4.0")
    print(f"{'pace':<20} {'messages':>8} {'MB':>6} {'seconds':>8} {'CPU-s':>6} {'first ms':>8}")
    with tempfile.TemporaryDirectory() as folder, LiveKernel("7.4.0", Path(folder)) as kernel:
        kernel.run(SETUP, 60)
        measured(kernel, 0)  # what is imported once
        for name, rate in RUNS.items():
            messages, size, seconds, cpu, first = measured(kernel, rate)
            print(f"{name:<20} {messages:8,} {size:6.2f} {seconds:8.2f} {cpu:6.2f} {first:8.0f}", flush=True)


if __name__ == "__main__":
    main()
