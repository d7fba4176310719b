"""The engines inside the process, and the one that can be watched; llama.cpp is what they are measured by."""

from __future__ import annotations

import asyncio
import json
import subprocess
import sys
import time
import urllib.request
from contextlib import aclosing
from typing import Any

import pytest

from agent_magics.errors import ConfigError
from agent_magics.providers import Registry
from agent_magics.providers.local.server import serve
from agent_magics.providers.local.transformer import load
from agent_magics.talk import Saying, Stop, Thinking, Usage
from tests.patience import PROMPT
from tests.providers.tiny_model import write_tiny_model

ASK = [{"role": "user", "content": "hello"}]
KEY = "a-key-of-the-tests"
TEXTS = (
    "Hello, world!",
    "  two  spaces\n\nand lines\t.",
    "It's 12345 naïve cafés — 你好 😀",
    "<|im_start|>user\nhi<|im_end|>",
    "snake_case __init__ a1b2 ...",
)


def build(spec: str, **options: Any) -> Any:
    return Registry().build(spec, **{"planner": "native", "max_tokens": 12, "temperature": 0, **options})


async def said(provider: Any, **options: Any) -> Any:
    return [event async for event in provider.fetch(ASK, [], **options)]


def text_of(events: Any) -> str:
    return "".join(event.text for event in events if isinstance(event, Saying))


@pytest.mark.parametrize("name", ["ggml", "candle", "llama2"])
async def test_every_engine_streams_counts_and_stops(name, tiny):
    provider = build(f"{name}:{tiny}")
    *_, usage, stop = events = await said(provider)
    await provider.aclose()
    assert text_of(events)
    assert isinstance(usage, Usage)
    assert (usage.output, stop) == (12, Stop(reason="max_tokens"))


@pytest.mark.parametrize("name", ["ggml", "candle"])
async def test_engines_that_can_are_held_to_a_schema(name, tiny):
    schema = {
        "type": "object",
        "properties": {"unit": {"enum": ["C", "F"]}},
        "required": ["unit"],
        "additionalProperties": False,
    }
    provider = build(f"{name}:{tiny}", max_tokens=400)
    events = await said(provider, schema=schema)
    await provider.aclose()
    assert json.loads(text_of(events))["unit"] in ("C", "F")


@pytest.mark.parametrize("name", ["ggml", "candle", "llama2"])
async def test_an_engine_stops_when_nobody_listens_and_serves_the_next(name, tiny):
    provider = build(f"{name}:{tiny}", max_tokens=3000)
    await said(build(f"{name}:{tiny}"))  # the first request loads the engine
    async with aclosing(provider.fetch(ASK, [])) as events:
        await anext(events)
        began = time.monotonic()
    assert time.monotonic() - began < PROMPT
    async with asyncio.timeout(30), aclosing(provider.fetch(ASK, [])) as events:
        await anext(events)
    await provider.aclose()


def test_a_process_that_ends_in_the_middle_of_a_reply_ends_in_good_order(tiny):
    code = f"""
import asyncio
from agent_magics.providers import Registry
async def main():
    async for _ in Registry().build({f"ggml:{tiny}"!r}, planner="native", max_tokens=3000).fetch({ASK!r}, []):
        break
asyncio.run(main())
"""
    done = subprocess.run(
        [sys.executable, "-c", code], capture_output=True, text=True, timeout=60, check=False
    )
    assert (0, "") == (done.returncode, done.stderr)


async def test_numpy_says_word_for_word_what_llama_cpp_says(tiny):
    plain, reference = build(f"llama2:{tiny}", max_tokens=30), build(f"ggml:{tiny}", max_tokens=30)
    assert text_of(await said(reference)) == text_of(await said(plain))


async def test_the_five_likeliest_tokens_are_told_as_thinking(tiny):
    provider = build(f"llama2:{tiny}", show_candidates=True, max_tokens=3)
    events = await said(provider)
    told = [event.text for event in events if isinstance(event, Thinking)]
    assert len(told) == 3
    assert all(line.count("%") == 5 for line in told)
    first_said = next(event.text for event in events if isinstance(event, Saying))
    assert told[0].startswith(repr(first_said))


async def test_the_same_seed_gives_the_same_text(tiny):
    texts = {text_of(await said(build(f"llama2:{tiny}", temperature=1.0, seed=7))) for _ in range(2)}
    assert len(texts) == 1


async def test_a_prompt_longer_than_the_window_is_told(tiny):
    [stop] = await said(build(f"llama2:{tiny}", window=4))
    assert stop.reason == "context_full"


async def test_another_architecture_is_refused_with_what_runs_it(tmp_path, tiny):
    path = tmp_path / "other.gguf"
    path.write_bytes(write_tiny_model(tmp_path / "t.gguf").read_bytes().replace(b"llama", b"qwen9"))
    with pytest.raises(ConfigError, match="qwen9"):
        await said(build(f"llama2:{path}"))


def tokenized(server: Any, text: str) -> list[int]:
    body = json.dumps({"content": text, "parse_special": True}).encode()
    headers = {"content-type": "application/json", "authorization": f"Bearer {KEY}"}
    request = urllib.request.Request(f"{server.listening_address}/tokenize", body, headers)
    with urllib.request.urlopen(request, timeout=30) as reply:
        return json.loads(reply.read())["tokens"]


def test_sentencepiece_is_cut_as_llama_cpp_cuts_it(tiny):
    server, tokenizer = serve(str(tiny), 512, KEY), load(tiny).tokenizer
    for text in TEXTS:
        assert tokenized(server, text) == tokenizer.encode(text)


@pytest.mark.local_model
def test_bpe_is_cut_as_llama_cpp_cuts_it_and_put_together_again(smollm2):
    server, tokenizer = serve(str(smollm2), 512, KEY), load(smollm2).tokenizer
    for text in TEXTS:
        tokens = tokenizer.encode(text)
        assert tokenized(server, text) == tokens
        if "<|" not in text:
            assert text == b"".join(map(tokenizer.bytes_of, tokens)).decode()
