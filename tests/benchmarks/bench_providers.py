"""The providers: how fast streams are decoded, and what the wire adds to the first token.

    python -m tests.benchmarks.bench_providers

Decoders are measured on bytes in memory, beside a bare ``json.loads`` over the same events; the wire against
a server on loopback, beside the HTTP library alone. Compare within one run only.
"""

from __future__ import annotations

import asyncio
import json
import time
from collections.abc import Awaitable, Callable, Iterator
from contextlib import aclosing
from statistics import median
from typing import Any

import httpx

from agent_magics.providers import Registry
from agent_magics.providers.anthropic_messages import MessagesReply
from agent_magics.providers.exchange import DONE, Reply
from agent_magics.providers.gemini_content import ContentReply
from agent_magics.providers.ollama import OllamaReply
from agent_magics.providers.openai_chat import ChatReply
from agent_magics.providers.openai_responses import ResponsesReply
from agent_magics.providers.sse import SSE, Frames, Lines
from tests.providers.servers import END, SSE_HEAD, Chunk, ScriptedServer, Step

EVENTS = 20_000
RUNS = 9
CHUNK = 16 * 1024
FINISH = json.dumps({"choices": [{"delta": {}, "finish_reason": "stop"}]})
LAST = Chunk(f"data: {FINISH}\n\ndata: {DONE}\n\n".encode())
ASK: Any = [{"role": "user", "content": "hello"}]


def chat(text: str) -> dict[str, Any]:
    choice = {"index": 0, "delta": {"content": text}, "logprobs": None, "finish_reason": None}
    return {
        "id": "chatcmpl-1",
        "object": "chat.completion.chunk",
        "created": 1,
        "model": "m",
        "choices": [choice],
    }


def responses(text: str) -> dict[str, Any]:
    place = {"item_id": "msg_1", "output_index": 0, "content_index": 0, "sequence_number": 7}
    return {"type": "response.output_text.delta", **place, "delta": text}


def messages(text: str) -> dict[str, Any]:
    return {"type": "content_block_delta", "index": 0, "delta": {"type": "text_delta", "text": text}}


def content(text: str) -> dict[str, Any]:
    candidate = {"content": {"parts": [{"text": text}], "role": "model"}, "index": 0}
    return {"candidates": [candidate], "usageMetadata": {"promptTokenCount": 5}, "modelVersion": "m"}


def ollama(text: str) -> dict[str, Any]:
    message = {"role": "assistant", "content": text}
    return {"model": "m", "created_at": "2026-11-30T12:00:00Z", "message": message, "done": False}


PROTOCOLS: dict[str, tuple[Callable[[str], dict[str, Any]], Callable[[], Frames], Callable[[], Reply]]] = {
    "Chat Completions": (chat, SSE, ChatReply),
    "Responses": (responses, SSE, ResponsesReply),
    "Messages": (messages, SSE, MessagesReply),
    "generateContent": (content, SSE, ContentReply),
    "Ollama": (ollama, Lines, OllamaReply),
}


def fastest(*works: Callable[[], object]) -> list[float]:
    """Least seconds of each over a few rounds, taken in turns: what a busy machine adds is not ours."""

    def once(work: Callable[[], object]) -> float:
        began = time.perf_counter()
        work()
        return time.perf_counter() - began

    rounds = [[once(work) for work in works] for _ in range(RUNS)]
    return [min(times) for times in zip(*rounds, strict=True)]


def decoders() -> Iterator[tuple[str, float, float]]:
    """Name, seconds of ``json.loads`` alone, seconds of the decoder from bytes to events."""
    for name, (event, frames, reply) in PROTOCOLS.items():
        texts = [json.dumps(event(f"word{at} é"), ensure_ascii=False) for at in range(EVENTS)]
        form = "data: {}\n\n" if frames is SSE else "{}\n"
        data = "".join(form.format(text) for text in texts).encode()
        chunks = [data[at : at + CHUNK] for at in range(0, len(data), CHUNK)]

        def bare(texts: list[str] = texts) -> None:
            for text in texts:
                json.loads(text)

        def ours(chunks: Any = chunks, frames: Any = frames, reply: Any = reply) -> None:
            decoder, read = frames(), reply().read
            told = sum(
                1 for chunk in chunks for frame in decoder.feed(chunk) for _ in read(json.loads(frame))
            )
            assert told == EVENTS

        alone, decoded = fastest(bare, ours)
        yield name, alone, decoded


async def first_tokens() -> tuple[float, float]:
    """Median seconds to the first token on a warm connection: the HTTP library alone, and our provider."""
    events = [Chunk(f"data: {json.dumps(chat(f'word{at}'))}\n\n".encode()) for at in range(3)]
    script: list[Step] = [SSE_HEAD, *events, LAST, END]
    async with ScriptedServer([script]) as server, httpx.AsyncClient() as client:
        provider: Any = Registry().build("openai:m", base_url=f"{server.url}/v1", api_key="k" * 12)
        bare = await typical(lambda: bare_first(client, f"{server.url}/v1/chat/completions"))
        ours = await typical(lambda: our_first(provider))
        await provider.aclose()
    return bare, ours


async def typical(once: Callable[[], Awaitable[float]]) -> float:
    await once()
    return median([await once() for _ in range(200)])


async def bare_first(client: httpx.AsyncClient, url: str) -> float:
    began, first = time.perf_counter(), 0.0
    body = {"model": "m", "messages": ASK, "stream": True}
    async with client.stream("POST", url, json=body) as response:
        async for line in response.aiter_lines():
            if line.startswith("data: {"):
                json.loads(line[6:])
                first = first or time.perf_counter() - began
    return first


async def our_first(provider: Any) -> float:
    began, first = time.perf_counter(), 0.0
    async with aclosing(provider.fetch(ASK, [])) as events:
        async for _ in events:
            first = first or time.perf_counter() - began
    return first


async def whole_streams() -> tuple[float, float]:
    """Least seconds for 20,000 tokens over loopback: httpx with ``json.loads``, and our provider."""
    block = "".join(f"data: {json.dumps(chat(f'word{at}'))}\n\n" for at in range(64)).encode()
    script: list[Step] = [SSE_HEAD, *[Chunk(block)] * (EVENTS // 64), LAST, END]
    async with ScriptedServer([script]) as server, httpx.AsyncClient() as client:
        provider: Any = Registry().build("openai:m", base_url=f"{server.url}/v1", api_key="k" * 12)
        bare, ours = [], []
        for _ in range(RUNS):
            began = time.perf_counter()
            await bare_first(client, f"{server.url}/v1/chat/completions")
            bare.append(time.perf_counter() - began)
            began = time.perf_counter()
            await our_first(provider)
            ours.append(time.perf_counter() - began)
        await provider.aclose()
    return min(bare), min(ours)


def main() -> None:
    print(f"{'decoder':18} {'json.loads':>12} {'ours':>12} {'ratio':>6}   (events a second)")
    for name, bare, ours in decoders():
        print(f"{name:18} {EVENTS / bare:12,.0f} {EVENTS / ours:12,.0f} {ours / bare:6.2f}")
    bare, ours = asyncio.run(first_tokens())
    print(f"\nfirst token, warm: httpx {bare * 1e3:.2f} ms, ours {ours * 1e3:.2f} ms (target: within 5 ms)")
    bare, ours = asyncio.run(whole_streams())
    print(f"{EVENTS:,} tokens over loopback: httpx {bare:.3f} s, ours {ours:.3f} s (target: within 2×)")


if __name__ == "__main__":
    main()
