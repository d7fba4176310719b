"""Local models: the server is ours, hidden, shared, and never outlives us."""

from __future__ import annotations

import asyncio
import json
import os
import signal
import subprocess
import sys
import time
from contextlib import aclosing
from pathlib import Path
from typing import Any

import pytest

from agent_magics.agent.context import Context
from agent_magics.errors import ConfigError
from agent_magics.providers import Registry
from agent_magics.providers.local import serving
from agent_magics.talk import Saying, Stop, Usage
from tests.patience import PROMPT
from tests.providers.servers import select_nothing


def build(spec: str, **options: Any) -> Any:
    return Registry().build(spec, **{"planner": "native", **options})


ASK = [{"role": "user", "content": "hello"}]


async def said(provider, messages=ASK, tools=(), **options):
    return [event async for event in provider.fetch(messages, tools, **options)]


def alive(pid: int) -> bool:
    try:
        state = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0]
    except OSError:
        return False
    return state != "Z"


def gone(pid: int, limit: float = 10) -> bool:
    deadline = time.monotonic() + limit
    while alive(pid) and time.monotonic() < deadline:
        select_nothing(0.02)
    return not alive(pid)


async def test_a_model_file_answers_and_its_server_ends_with_the_provider(tiny):
    provider = build(f"llama:{tiny}", max_tokens=12)
    *pieces, usage, stop = await said(provider)
    assert all(isinstance(piece, Saying) for piece in pieces)
    assert isinstance(usage, Usage)
    assert usage.output > 0
    assert stop in (Stop(reason="max_tokens"), Stop(reason="end"))
    pid = provider._server.process.pid
    await provider.aclose()
    assert gone(pid)
    assert await said(provider)  # it may be used again
    await provider.aclose()


async def test_a_schema_holds_even_a_model_that_knows_nothing(tiny):
    schema = {
        "type": "object",
        "properties": {"city": {"type": "string", "maxLength": 8}, "unit": {"enum": ["C", "F"]}},
        "required": ["city", "unit"],
        "additionalProperties": False,
    }
    provider = build(f"llama:{tiny}")
    text = "".join(event.text for event in await said(provider, schema=schema) if isinstance(event, Saying))
    await provider.aclose()
    value = json.loads(text)
    assert {"city", "unit"} == set(value)
    assert value["unit"] in ("C", "F")


async def test_sessions_share_one_server_and_the_last_one_ends_it(tiny):
    one, two = (build(f"llama:{tiny}", max_tokens=4) for _ in range(2))
    await asyncio.gather(said(one), said(two))
    server = one._server
    assert server is two._server
    await asyncio.gather(said(one), said(one), said(two))  # several requests at once are one user
    await one.aclose()
    assert server.alive
    await two.aclose()
    assert not server.alive
    assert serving._running == {}


async def test_a_server_that_was_killed_is_started_anew(tiny):
    provider = build(f"llama:{tiny}", max_tokens=4)
    await said(provider)
    provider._server.process.kill()
    provider._server.process.wait(10)
    assert isinstance((await said(provider))[-1], Stop)
    await provider.aclose()


async def test_the_server_listens_on_loopback_with_a_key_that_no_process_list_shows(tiny):
    provider = build(f"llama:{tiny}", max_tokens=4)
    await said(provider)
    server, key = provider._server, provider._server.key.value
    url = server.url.result()
    process = Path(f"/proc/{server.process.pid}")
    assert url.startswith("http://127.0.0.1:")
    assert key not in (process / "cmdline").read_text() + (process / "environ").read_text()
    stranger = build(f"llama:{url}", api_key="another-key-altogether")
    with pytest.raises(Exception, match="refused the key"):
        await said(stranger)
    guest = build(f"llama:{url}", api_key=key, max_tokens=4)
    assert isinstance((await said(guest))[-1], Stop)
    assert guest.window > 0
    for one in (provider, stranger, guest):
        await one.aclose()


async def test_an_interrupt_stops_the_reply_within_half_a_second(tiny):
    provider = build(f"llama:{tiny}", max_tokens=4000)
    began = None
    async with aclosing(provider.fetch(ASK, [])) as events:
        await anext(events)
        began = time.monotonic()
    assert time.monotonic() - began < PROMPT
    await provider.aclose()


async def test_a_file_that_is_no_model_is_named_and_leaves_no_process(tmp_path, tiny):
    broken = tmp_path / "broken.gguf"
    broken.write_bytes(tiny.read_bytes()[:-200_000])
    provider = build(f"llama:{broken}")
    with pytest.raises(ConfigError, match=r"broken.gguf.* did not start"):
        await said(provider)
    assert serving._running == {}


def test_without_weights_the_remedy_is_named():
    with pytest.raises(ConfigError, match="agent-magics local install"):
        build("llama")


def test_the_server_is_gone_after_its_parent_was_killed(tiny):
    """Also with a forked child that keeps the pipe's other end open, as a sandbox worker would."""
    code = f"""
import asyncio, os, sys, time
from agent_magics.providers import Registry
async def main():
    provider = Registry().build({f"llama:{tiny}"!r}, max_tokens=2, planner="native")
    async for _ in provider.fetch({ASK!r}, []): pass
    worker = os.fork()
    if worker == 0:
        os.close(1)
        time.sleep(60)
        os._exit(0)
    print(provider._server.process.pid, worker, flush=True)
    await asyncio.sleep(60)
asyncio.run(main())
"""
    parent = subprocess.Popen([sys.executable, "-W", "ignore", "-c", code], stdout=subprocess.PIPE, text=True)
    assert parent.stdout
    server, worker = map(int, parent.stdout.readline().split())
    try:
        assert alive(server)
        parent.send_signal(signal.SIGKILL)
        parent.wait(10)
        assert gone(server)
    finally:
        os.kill(worker, signal.SIGKILL)
        parent.stdout.close()


@pytest.mark.local_model
async def test_the_teaching_model_answers_and_says_what_it_is(smollm2):
    provider = build(f"llama:{smollm2}", max_tokens=40, temperature=0)
    assert "small teaching model" in provider.description
    assert ("json", 8192) == (provider.planner, provider.window)
    question = [{"role": "system", "content": "You are a helpful assistant."}]
    question += [{"role": "user", "content": "What is the capital of France?"}]
    text = "".join(event.text for event in await said(provider, question) if isinstance(event, Saying))
    await provider.aclose()
    assert "Paris" in text


@pytest.mark.local_model
async def test_the_teaching_model_comes_to_an_end_when_it_talks(smollm2):
    # With this seed it said "I'm a digital assistant." for as long as it was let.
    provider = Registry().build(f"llama:{smollm2}", max_tokens=600, extra={"seed": 0})
    rules = {"role": "system", "content": Context().system()}
    asked = "Hello! Who are you, and what can you do?"
    *_, stop = await said(provider, [rules, {"role": "user", "content": asked}])
    await provider.aclose()
    assert Stop(reason="end") == stop
