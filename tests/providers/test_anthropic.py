"""Anthropic's Messages: what is sent, and what is read."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given

from agent_magics.errors import ProviderError, Unreachable
from agent_magics.providers.anthropic import anthropic
from agent_magics.providers.anthropic_messages import CACHE, MessagesReply, encode, thinks_adaptively
from agent_magics.providers.calls import CUT
from agent_magics.providers.parts import image
from agent_magics.providers.settings import Settings
from agent_magics.talk import Opaque, Retrying, Saying, Stop, Thinking, ToolCall, Usage
from tests.providers.servers import ScriptedServer, answer, sse
from tests.providers.streams import awkward, byte_by_byte, cuts, decode, encode_sse, joined, places
from tests.providers.test_contract import AFTER_A_TOOL, TOOL

MODEL = "claude-sonnet-5-5"
SETTINGS = Settings(model=MODEL)


def start(index, **block):
    return {"type": "content_block_start", "index": index, "content_block": block}


def delta(index, kind, **fields):
    return {"type": "content_block_delta", "index": index, "delta": {"type": kind, **fields}}


def end(reason="end_turn", **usage):
    return [
        {"type": "message_delta", "delta": {"stop_reason": reason}, "usage": usage},
        {"type": "message_stop"},
    ]


def read(*payloads: Any) -> Any:
    return decode([encode_sse(payloads, done=False)], MessagesReply(model=MODEL))


def thought(said, answered):
    return [
        {"type": "message_start", "message": {"usage": {"input_tokens": 5, "cache_read_input_tokens": 2}}},
        start(0, type="thinking", thinking="", signature=""),
        *(delta(0, "thinking_delta", thinking=letter) for letter in said),
        delta(0, "signature_delta", signature="sig=="),
        {"type": "ping"},
        start(1, type="redacted_thinking", data="opaque=="),
        start(2, type="text", text=""),
        *(delta(2, "text_delta", text=letter) for letter in answered),
        start(3, type="tool_use", id="t1", name="look", input={}),
        delta(3, "input_json_delta", partial_json=""),
        delta(3, "input_json_delta", partial_json='{"a": "'),
        delta(3, "input_json_delta", partial_json='é"}'),
        *end("tool_use", output_tokens=9),
    ]


@given(awkward, awkward, places)
def test_a_reply_is_the_same_wherever_its_bytes_are_cut(said, answered, where):
    content = [
        {"type": "thinking", "thinking": said, "signature": "sig=="},
        {"type": "redacted_thinking", "data": "opaque=="},
        {"type": "text", "text": answered},
        {"type": "tool_use", "id": "t1", "name": "look", "input": {"a": "é"}},
    ]
    expected = [Thinking(text=said)] * bool(said) + [Saying(text=answered)] * bool(answered)
    expected += [
        ToolCall(id="t1", name="look", arguments={"a": "é"}),
        Opaque(provider="anthropic", block={"model": MODEL, "content": content}),
        Usage(input=7, output=9, cached=2),
        Stop(reason="tool_calls"),
    ]
    data = encode_sse(thought(said, answered), done=False, pings=True)
    for chunks in ([data], byte_by_byte(data), cuts(data, where)):
        assert expected == joined(decode(chunks, MessagesReply(model=MODEL)))


def test_signed_blocks_are_sent_back_word_for_word_to_the_same_model_only():
    block = next(event for event in read(*thought("hm", "hi")) if isinstance(event, Opaque)).block
    said = {"role": "assistant", "content": "hi", "opaque": [{"provider": "anthropic", "block": block}]}
    said["tool_calls"] = [{"id": "t1", "name": "look", "arguments": {"a": "é"}}]
    assert block["content"] == encode(SETTINGS, [said], [])["messages"][0]["content"]
    elsewhere = encode(Settings(model="claude-opus-5-5"), [said], [])["messages"][0]["content"]
    assert ["text", "tool_use"] == [part["type"] for part in elsewhere]


def test_an_empty_thought_is_sent_back_too_because_it_is_signed():
    events = read(start(0, type="thinking", thinking=""), delta(0, "signature_delta", signature="s"), *end())
    [block] = [event.block for event in events if isinstance(event, Opaque)]
    assert [{"type": "thinking", "thinking": "", "signature": "s"}] == block["content"]


def test_empty_arguments_mean_none():
    for pieces in ([], [""], ["{}"]):
        deltas = (delta(0, "input_json_delta", partial_json=piece) for piece in pieces)
        events = read(start(0, type="tool_use", id="t", name="now", input={}), *deltas, *end("tool_use"))
        assert ToolCall(id="t", name="now") == events[0]


def test_a_call_cut_by_the_length_limit_must_not_run():
    cut = delta(0, "input_json_delta", partial_json='{"path": "/')
    call, *_, stop = read(start(0, type="tool_use", id="t", name="remove", input={}), cut, *end("max_tokens"))
    assert (CUT, Stop(reason="max_tokens")) == (call.problem, stop)


def test_calls_in_a_refusal_are_never_seen():
    events = read(start(0, type="tool_use", id="t", name="f", input={}), *end("refusal"))
    assert [Stop(reason="refusal")] == events


def test_a_full_window_is_a_stop_of_its_own():
    assert [Stop(reason="context_full")] == read(*end("model_context_window_exceeded"))


def test_an_error_in_the_middle_ends_the_reply_with_the_vendors_words():
    error = {"type": "error", "error": {"type": "overloaded_error", "message": "Overloaded"}}
    with pytest.raises(ProviderError, match="Overloaded") as caught:
        read(start(0, type="text", text=""), delta(0, "text_delta", text="a"), error)
    assert caught.value.retryable


def test_a_stream_without_its_end_is_an_error():
    with pytest.raises(Unreachable):
        read(start(0, type="tool_use", id="t", name="f", input={}))


async def test_an_overload_that_is_told_in_the_stream_is_tried_again():
    error = {"type": "error", "error": {"type": "overloaded_error", "message": "Overloaded"}}
    healthy = sse(start(0, type="text", text=""), delta(0, "text_delta", text="hi"), *end(), done=False)
    async with ScriptedServer([sse(error, done=False), healthy]) as server:
        provider = anthropic(MODEL, base_url=server.url, api_key="x" * 12)
        events = [event async for event in provider.fetch([{"role": "user", "content": "hi"}], [])]
        await provider.aclose()
    assert [Retrying, Saying, Stop] == [type(event) for event in events if not isinstance(event, Usage)]


async def test_a_limit_without_a_date_is_a_spend_limit_and_not_waited_for():
    async with ScriptedServer([answer(429, {"error": {"message": "No more."}})]) as server:
        provider = anthropic(MODEL, base_url=server.url, api_key="x" * 12)
        with pytest.raises(ProviderError, match="spend limit"):
            assert not [event async for event in provider.fetch([{"role": "user", "content": "hi"}], [])]
        await provider.aclose()
    assert len(server.requests) == 1


async def test_a_paused_reply_is_sent_back_as_it_is_and_goes_on():
    first = [
        start(0, type="server_tool_use", id="s", name="search", input={}),
        *end("pause_turn", output_tokens=1),
    ]
    second = [start(0, type="text", text=""), delta(0, "text_delta", text="done"), *end(output_tokens=2)]
    async with ScriptedServer([sse(*first, done=False), sse(*second, done=False)]) as server:
        provider = anthropic(MODEL, base_url=server.url, api_key="x" * 12)
        events = [event async for event in provider.fetch([{"role": "user", "content": "hi"}], [])]
        await provider.aclose()
    search = {"type": "server_tool_use", "id": "s", "name": "search", "input": {}}
    assert {"role": "assistant", "content": [search]} == server.requests[1].json["messages"][-1]
    content = [search, {"type": "text", "text": "done"}]
    expected = [
        Saying(text="done"),
        Opaque(provider="anthropic", block={"model": MODEL, "content": content}),
        Usage(output=3),
        Stop(reason="end"),
    ]
    assert expected == events


async def test_a_key_and_a_token_go_into_their_own_headers(monkeypatch):
    async with ScriptedServer([sse(*end(), done=False)]) as server:
        for variable in ("ANTHROPIC_API_KEY", "ANTHROPIC_AUTH_TOKEN"):
            monkeypatch.setenv(variable, "planted-key")
            provider = anthropic(MODEL, base_url=server.url)
            assert [event async for event in provider.fetch([{"role": "user", "content": "hi"}], [])]
            await provider.aclose()
            monkeypatch.delenv(variable)
    by_key, by_token = (request.headers for request in server.requests)
    assert ("planted-key", None) == (by_key["x-api-key"], by_key.get("authorization"))
    assert ("Bearer planted-key", None) == (by_token["authorization"], by_token.get("x-api-key"))
    assert server.requests[0].path == "/v1/messages"


def test_what_stays_the_same_is_marked_for_the_cache():
    body = encode(SETTINGS, AFTER_A_TOOL, [TOOL])
    assert CACHE == body["system"][-1]["cache_control"]
    assert CACHE == body["tools"][-1]["cache_control"]
    assert CACHE == body["messages"][-1]["content"][-1]["cache_control"]


def test_results_of_parallel_calls_go_into_one_message():
    calls = [{"id": key, "name": "f", "arguments": {}} for key in "ab"]
    results = [{"role": "tool", "tool_call_id": key, "content": "{}"} for key in "ab"]
    history = [
        {"role": "user", "content": "x"},
        {"role": "assistant", "content": "", "tool_calls": calls},
        *results,
    ]
    sent = encode(SETTINGS, history, [])["messages"]
    assert ["user", "assistant", "user"] == [message["role"] for message in sent]
    assert ["a", "b"] == [part["tool_use_id"] for part in sent[-1]["content"]]


def test_effort_schema_and_pictures_are_sent_in_the_vendors_form():
    settings = Settings(model=MODEL, effort="high", max_tokens=99)
    message = {"role": "user", "content": [image(b"\x89PNG1"), {"type": "text", "text": "what?"}]}
    body = encode(settings, [message], [], {"type": "object"})
    form = {"type": "json_schema", "schema": {"type": "object"}}
    assert {"effort": "high", "format": form} == body["output_config"]
    assert body["max_tokens"] == 99
    source = {"type": "base64", "media_type": "image/png", "data": "iVBORzE="}
    assert {"type": "image", "source": source} == body["messages"][0]["content"][0]


def test_only_models_that_know_it_are_asked_to_think_adaptively():
    assert all(map(thinks_adaptively, ("claude-sonnet-5-5", "claude-opus-4-6", "claude-fable-5-2")))
    old = ("claude-haiku-4-5-20251001", "claude-sonnet-4-20250514", "claude-3-5-sonnet-latest", "qwen3")
    assert not any(map(thinks_adaptively, old))
    assert {"type": "disabled"} == encode(Settings(model=MODEL, effort="none"), [], [])["thinking"]
