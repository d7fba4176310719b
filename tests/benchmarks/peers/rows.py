"""Many rows through one library, measured inside its own venv; see ``bench_extract``.

    python -m tests.benchmarks.peers.rows PEER PORT SCENARIO ROWS OPEN

Prints one JSON line: seconds, processor seconds, peak memory, and what became of the rows. Each peer is used
as its documentation shows it, with a limit of its own on open requests where it has one.
"""

from __future__ import annotations

import asyncio
import importlib
import json
import re
import sys
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

from tests.extract.vendor import SCHEMA, expected, prompt

Results = list[Any]


def ours(url: str, rows: list[str], most: int) -> Results:
    from agent_magics import extract_many

    how = {"provider": "openai:fixed", "base_url": url, "api_key": "x", "progress": False}
    return extract_many(rows, SCHEMA, concurrency=most, **how)


def openai(url: str, rows: list[str], most: int) -> Results:
    """No library but the vendor's own, as one would write it by hand: nothing is repaired."""
    client = importlib.import_module("openai").AsyncOpenAI(base_url=url, api_key="x")
    form = {"type": "json_schema", "json_schema": {"name": "Row", "strict": True, "schema": SCHEMA}}

    async def one(text: str) -> Any:
        said = await client.chat.completions.create(
            model="fixed", messages=[{"role": "user", "content": text}], response_format=form
        )
        return json.loads(said.choices[0].message.content)

    return asyncio.run(_bounded(one, rows, most))


def instructor(url: str, rows: list[str], most: int) -> Results:
    plain = importlib.import_module("openai").AsyncOpenAI(base_url=url, api_key="x")
    client: Any = importlib.import_module("instructor").from_openai(plain)
    model = _model()

    async def one(text: str) -> Any:
        said = [{"role": "user", "content": text}]
        return await client.chat.completions.create(model="fixed", response_model=model, messages=said)

    return asyncio.run(_bounded(one, rows, most))


def pydantic_ai(url: str, rows: list[str], most: int) -> Results:
    models = importlib.import_module("pydantic_ai.models.openai")
    providers = importlib.import_module("pydantic_ai.providers.openai")
    model = models.OpenAIChatModel("fixed", provider=providers.OpenAIProvider(base_url=url, api_key="x"))
    agent = importlib.import_module("pydantic_ai").Agent(model, output_type=_model())

    async def one(text: str) -> Any:
        return (await agent.run(text)).output

    return asyncio.run(_bounded(one, rows, most))


def chatlas(url: str, rows: list[str], most: int) -> Results:
    library = importlib.import_module("chatlas")
    chat = library.ChatOpenAICompletions(base_url=url, api_key="x", model="fixed")

    async def all_rows() -> Results:
        found = await library.parallel_chat_structured(
            chat, rows, _model(), max_active=most, rpm=10_000_000, on_error="continue"
        )
        return [getattr(each, "data", each) for each in found]

    return asyncio.run(all_rows())


def async_batch_llm(url: str, rows: list[str], most: int) -> Results:
    library = importlib.import_module("async_batch_llm")
    parser = importlib.import_module("async_batch_llm.parsing").pydantic_json_parser(_model())
    form = {"type": "json_schema", "json_schema": {"name": "Row", "strict": True, "schema": SCHEMA}}
    how = {"base_url": url, "api_key": "x", "generation_config": {"response_format": form}}
    strategy = library.llm("openai-compatible:fixed", response_parser=parser, **how)

    async def all_rows() -> Results:
        batch = await library.process_prompts(strategy, rows, concurrency=most, preserve_order=True)
        return [each.output if each.success else None for each in batch.results]

    return asyncio.run(all_rows())


PEERS: dict[str, Callable[[str, list[str], int], Results]] = {
    each.__name__: each for each in (ours, openai, instructor, pydantic_ai, chatlas, async_batch_llm)
}


def _model() -> Any:
    create: Any = importlib.import_module("pydantic").create_model
    return create("Row", name=(str, ...), amount=(float, ...), tags=(list[str], ...))


async def _bounded(one: Callable[[str], Any], rows: list[str], most: int) -> Results:
    """The semaphore and gather that instructor and pydantic-ai document."""
    places = asyncio.Semaphore(most)

    async def placed(text: str) -> Any:
        async with places:
            try:
                return await one(text)
            except Exception as error:
                return error

    return await asyncio.gather(*[placed(text) for text in rows])


def memory() -> tuple[float, float]:
    """Now, and at most since the last reset, in MB."""
    status = Path("/proc/self/status").read_text()
    return _kilobytes("VmRSS", status) / 1024, _kilobytes("VmHWM", status) / 1024


def reset_peak() -> None:
    Path("/proc/self/clear_refs").write_text("5")


def _kilobytes(name: str, status: str) -> int:
    found = re.search(rf"{name}:\s+(\d+)", status)
    assert found
    return int(found[1])


def measure(peer: str, port: int, scenario: str, count: int, most: int) -> dict[str, Any]:
    """Run one peer over the rows; a small run before warms it up."""
    run = PEERS[peer]
    run(f"http://127.0.0.1:{port}/extract-5/v1", [prompt(10**6 + at) for at in range(40)], 20)
    rows = [prompt(at) for at in range(count)]
    reset_peak()
    began, processor = time.perf_counter(), time.process_time()
    found = run(f"http://127.0.0.1:{port}/{scenario}/v1", rows, most)
    wall, cpu = time.perf_counter() - began, time.process_time() - processor
    plain = [_plain(each) for each in found]
    right = sum(value == expected(at) for at, value in enumerate(plain))
    wrong = sum(isinstance(value, dict) for value in plain) - right
    return {
        "wall": wall,
        "cpu": cpu,
        "peak": memory()[1],
        "right": right,
        "wrong": wrong,
        "lost": count - right - wrong,
    }


def _plain(value: Any) -> Any:
    return value.model_dump() if hasattr(value, "model_dump") else value


if __name__ == "__main__":
    name, port, scenario, count, most = sys.argv[1:]
    print("\n" + json.dumps(measure(name, int(port), scenario, int(count), int(most))), flush=True)
