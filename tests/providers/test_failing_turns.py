"""What a person sees of failures: the wait, what was said before, and that nothing was run by half."""

from __future__ import annotations

import asyncio
import json
from typing import Any

import pytest

from agent_magics import Session, tool
from agent_magics.providers import Registry
from agent_magics.talk import Retrying
from agent_magics.testing import RecordingView
from agent_magics.ui.settled import bundle
from tests.providers.servers import SSE_HEAD, Chunk, Drop, ScriptedServer, Step, answer, sse

HI = sse({"choices": [{"delta": {"content": "hi"}, "finish_reason": "stop"}]})
BEGUN = Chunk(b'data: {"choices":[{"delta":{"content":"The first half"}}]}\n\n')
ran: list[str] = []


@tool
def remove(path: str) -> str:
    """Remove a file."""
    ran.append(path)
    return "removed"


async def asked(*scripts: list[Step], view: RecordingView | None = None) -> Any:
    ran.clear()
    async with ScriptedServer(list(scripts)) as server:
        provider = Registry().build("openai:m", base_url=server.url, api_key="a-key-of-tests")
        session = Session(provider, tools=[remove], tool_making="off", approve="always")
        turn = await session.ask_async("go on", on_event=view)
        await asyncio.to_thread(session.close)
        return turn, len(server.requests)


async def test_a_wait_is_told_with_its_length_and_its_reason():
    view = RecordingView()
    overloaded = answer(529, {"error": {"message": "Overloaded"}}, retry_after_ms="1")
    turn, requests = await asked(answer(429, {}, retry_after="0.2"), overloaded, HI, view=view)
    first, second = view.of(Retrying)
    assert (2, 3, "done", "hi", 3) == (first.attempt, second.attempt, turn.stop, turn.reply, requests)
    assert 0.2 <= first.delay < 0.3
    assert "HTTP 529" in second.why


async def test_a_failure_after_the_first_event_keeps_what_was_said_and_says_so():
    turn, requests = await asked([SSE_HEAD, BEGUN, Drop()])
    assert ("provider_error", "The first half", 1) == (turn.stop, turn.reply, requests)
    settled = bundle(turn)
    for kind in ("text/html", "text/markdown"):
        assert "The first half" in settled[kind]
        assert "dropped before the answer was complete" in settled[kind]


async def test_the_next_turn_is_told_that_the_answer_broke_off():
    turn, _ = await asked([SSE_HEAD, BEGUN, Drop()])
    assert "failed" == turn.steps[0].stop


def calling(finish: str | None) -> list[Step]:
    function = {"name": "remove", "arguments": json.dumps({"path": "a.txt"})}
    call = {"index": 0, "id": "c1", "function": function}
    delta = {"choices": [{"delta": {"tool_calls": [call]}, "finish_reason": finish}]}
    return [SSE_HEAD, Chunk(f"data: {json.dumps(delta)}\n\n".encode())]


@pytest.mark.parametrize(
    ("script", "stop"),
    [
        ([*calling(None), Drop()], "provider_error"),
        ([*calling("length"), Chunk(b"data: [DONE]\n\n"), b"0\r\n\r\n"], "truncated"),
        ([*calling(None), Chunk(b'data: {"error":{"message":"gone"}}\n\n')], "provider_error"),
    ],
    ids=["dropped", "cut by its limit", "an error in a chunk"],
)
async def test_a_call_that_did_not_come_whole_is_never_run(script, stop):
    turn, _ = await asked(script)
    assert (stop, []) == (turn.stop, ran)


async def test_a_whole_call_is_run():
    await asked([*calling("tool_calls"), Chunk(b"data: [DONE]\n\n"), b"0\r\n\r\n"], HI)
    assert ["a.txt"] == ran
