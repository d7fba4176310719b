"""Answers in one piece: the same events as a stream's, from one request that is not sent again."""

from __future__ import annotations

import json
from contextlib import aclosing
from typing import Any

import pytest

from agent_magics.errors import BadReply, ProviderError, RateLimited
from agent_magics.ports import Once
from agent_magics.providers import Registry
from agent_magics.talk import Saying, Stop, ToolCall, Usage
from tests.providers.servers import ScriptedServer, answer, sse

ASKED = [{"role": "user", "content": "hi"}]


async def once(server: ScriptedServer, spec: str = "openai:m", **schema: Any) -> Any:
    provider: Any = Registry().build(spec, base_url=server.url, api_key="k-123456")
    once: Once = provider
    assert isinstance(once, Once)
    async with aclosing(provider):
        return await once.once(ASKED, (), **schema)


def completion(message: dict[str, Any], finish: str = "stop") -> dict[str, Any]:
    return {
        "choices": [{"index": 0, "message": {"role": "assistant", **message}, "finish_reason": finish}],
        "usage": {"prompt_tokens": 5, "completion_tokens": 2},
    }


async def test_a_whole_answer_says_what_a_stream_would_say() -> None:
    async with ScriptedServer([answer(200, completion({"content": '{"a": 1}'}))]) as server:
        said = await once(server, schema={"type": "object"})

    assert [Saying(text='{"a": 1}'), Usage(input=5, output=2), Stop(reason="end")] == said
    assert server.requests[0].json["stream"] is False
    assert "stream_options" not in server.requests[0].json


async def test_a_whole_answer_may_be_a_call_or_a_refusal() -> None:
    function = {"name": "f", "arguments": '{"x": 1}'}
    call = {"tool_calls": [{"id": "1", "type": "function", "function": function}]}
    scripts: Any = [
        answer(200, completion({"content": None, **call}, "tool_calls")),
        answer(200, completion({"content": None, "refusal": "No."})),
    ]
    async with ScriptedServer(scripts) as server:
        called = await once(server)
        refused = await once(server)

    assert ToolCall(id="1", name="f", arguments={"x": 1}) == called[0]
    assert [Saying(text="No."), Stop(reason="refusal")] == [refused[0], refused[-1]]


async def test_a_refused_request_is_not_sent_again() -> None:
    refusal = answer(429, {"error": {"message": "slow down"}}, retry_after="7")
    async with ScriptedServer([refusal]) as server:
        with pytest.raises(RateLimited) as caught:
            await once(server)

    assert 1 == len(server.requests)
    assert 7.0 == caught.value.retry_after


async def test_a_text_that_is_too_long_is_a_stop_and_no_error() -> None:
    full = answer(400, {"error": {"message": "too long", "code": "context_length_exceeded"}})
    async with ScriptedServer([full]) as server:
        said = await once(server)

    assert ["context_full"] == [event.reason for event in said if isinstance(event, Stop)]


@pytest.mark.parametrize("body", [b"<html>", b"[]", b""])
async def test_what_is_no_answer_is_said(body: bytes) -> None:
    async with ScriptedServer([answer(200, body)]) as server:
        with pytest.raises(BadReply):
            await once(server)


async def test_halves_of_a_character_become_one() -> None:
    body = json.dumps(completion({"content": "\U0001f600 \ud83d"})).encode()
    async with ScriptedServer([answer(200, body)]) as server:
        said = await once(server)

    assert "\U0001f600 " == said[0].text


async def test_other_vendors_stream_it_and_do_not_repeat_it() -> None:
    events = [
        {"type": "message_start", "message": {"usage": {"input_tokens": 3}}},
        {"type": "content_block_start", "index": 0, "content_block": {"type": "text", "text": ""}},
        {"type": "content_block_delta", "index": 0, "delta": {"type": "text_delta", "text": "hello"}},
        {"type": "content_block_stop", "index": 0},
        {"type": "message_delta", "delta": {"stop_reason": "end_turn"}, "usage": {"output_tokens": 1}},
        {"type": "message_stop"},
    ]
    scripts: Any = [sse(*events, done=False), answer(529, {"error": {"message": "busy"}})]
    async with ScriptedServer(scripts) as server:
        said = await once(server, "anthropic:m")
        with pytest.raises(ProviderError, match="529"):
            await once(server, "anthropic:m")

    assert "hello" == "".join(event.text for event in said if isinstance(event, Saying))
    assert 2 == len(server.requests)
