"""A cancelled turn closes its connection within half a second: the server sees the client go."""

from __future__ import annotations

import asyncio
import sys
import threading
import time
from pathlib import Path
from typing import Any

import pytest

from agent_magics import Session
from agent_magics.providers import Registry
from agent_magics.talk import Saying
from tests.patience import PROMPT, until
from tests.providers.servers import SSE_HEAD, Chunk, Hang, ScriptedServer, free_port, process

KEY = "a-key-of-the-tests"
CANCELLED = b"cancel task"
LINES_HEAD = SSE_HEAD.replace(b"text/event-stream", b"application/x-ndjson")
BEGINNINGS: dict[str, tuple[dict[str, str], list[bytes]]] = {
    "anthropic:m": (
        {},
        [
            b'data: {"type":"message_start","message":{"usage":{"input_tokens":3}}}\n\n',
            b'data: {"type":"content_block_start","index":0,"content_block":{"type":"text","text":""}}\n\n',
            b'data: {"type":"content_block_delta","index":0,"delta":{"type":"text_delta","text":"hi"}}\n\n',
        ],
    ),
    "openai:m": ({"api": "chat"}, [b'data: {"choices":[{"delta":{"content":"hi"}}]}\n\n']),
    "openai:r": (
        {"api": "responses"},
        [b'data: {"type":"response.output_text.delta","output_index":0,"item_id":"a","delta":"hi"}\n\n'],
    ),
    "gemini:m": ({}, [b'data: {"candidates":[{"content":{"parts":[{"text":"hi"}]}}]}\n\n']),
    "ollama:m": ({}, [b'{"message":{"role":"assistant","content":"hi"},"done":false}\n']),
}


async def heard_something(session: Session) -> asyncio.Future[Any]:
    """The turn, begun, as soon as its first word was said."""
    loop, heard = asyncio.get_running_loop(), asyncio.Event()

    def watch(event: object) -> None:
        if isinstance(event, Saying):
            loop.call_soon_threadsafe(heard.set)

    turn = asyncio.wrap_future(session.start("hello", watch))
    async with asyncio.timeout(20):
        await heard.wait()
    return turn


@pytest.mark.parametrize("spec", BEGINNINGS)
async def test_the_server_sees_the_client_go_within_half_a_second(spec):
    options, beginning = BEGINNINGS[spec]
    head = LINES_HEAD if spec.startswith("ollama") else SSE_HEAD
    async with ScriptedServer([[head, *map(Chunk, beginning), Hang()]]) as server:
        provider = Registry().build(spec, base_url=server.url, api_key="a-key-of-tests", **options)
        session = Session(provider, tool_making="off")
        turn = await heard_something(session)
        session.cancel()
        async with asyncio.timeout(PROMPT):
            await server.left.wait()
            ended = await turn
        await asyncio.to_thread(session.close)
    assert ("cancelled", "hi") == (ended.stop, ended.reply)


def test_llama_cpp_logs_that_the_task_was_cancelled(tiny: Path, tmp_path: Path):
    """The turn is over within half a second; the engine looks for itself whether its client is there, once a
    second at least, and never says so of a reply that came to its end."""
    port, log, heard = free_port(), tmp_path / "log", threading.Event()
    command = [sys.executable, Path(__file__).with_name("talkative.py"), tiny, str(port), KEY]
    with process(command, f"http://127.0.0.1:{port}/health", log) as url:
        base = url.removesuffix("/health") + "/v1"
        provider = Registry().build("openai:tiny", base_url=base, api_key=KEY, max_tokens=4000)
        with Session(provider, tool_making="off") as session:
            turn = session.start("hello", lambda event: heard.set() if isinstance(event, Saying) else None)
            assert heard.wait(20)
            assert CANCELLED not in log.read_bytes()
            began = time.monotonic()
            session.cancel()
            assert "cancelled" == turn.result(20).stop
            assert time.monotonic() - began < PROMPT
            until(lambda: CANCELLED in log.read_bytes(), "the engine to cancel its task")
