"""OpenAI's Responses: what is sent, and what is read."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given

from agent_magics.errors import ProviderError, Unreachable, UsageError
from agent_magics.providers.calls import CUT
from agent_magics.providers.openai import openai
from agent_magics.providers.openai_responses import OpenAIResponses, ResponsesReply, encode
from agent_magics.providers.parts import image
from agent_magics.providers.settings import Settings
from agent_magics.talk import Opaque, Saying, Stop, Thinking, ToolCall, Usage
from tests.providers.streams import awkward, byte_by_byte, cuts, decode, encode_sse, joined, places
from tests.providers.test_contract import AFTER_A_TOOL, TOOL

MODEL = "gpt-6.1-terra"
SETTINGS = Settings(model=MODEL)


def event(kind, **fields):
    return {"type": f"response.{kind}", **fields}


def item(index, state="done", **fields):
    return event(f"output_item.{state}", output_index=index, item=fields)


def call(arguments="{}", **fields):
    named = {"type": "function_call", "id": "fc_1", "call_id": "c1", "name": "look"}
    return {**named, "arguments": arguments, **fields}


def done(kind="completed", **response):
    return event(kind, response={"status": kind, **response})


def read(*payloads: Any) -> Any:
    return decode([encode_sse(payloads, done=False)], ResponsesReply(model=MODEL))


REASONING = {"type": "reasoning", "id": "rs_1", "summary": [], "encrypted_content": "gAAA=="}


@given(awkward, awkward, places)
def test_a_reply_is_the_same_wherever_its_bytes_are_cut(thought, said, where):
    usage = {
        "input_tokens": 5,
        "output_tokens": 9,
        "input_tokens_details": {"cached_tokens": 2},
        "output_tokens_details": {"reasoning_tokens": 4},
    }
    payloads = [
        event("created", response={"status": "in_progress"}),
        *(event("reasoning_summary_text.delta", delta=letter) for letter in thought),
        item(0, **REASONING),
        *(event("output_text.delta", output_index=1, delta=letter) for letter in said),
        item(1, type="message", content=[]),
        item(2, "added", **call("")),
        event("function_call_arguments.delta", output_index=2, delta='{"a"'),
        item(2, **call('{"a": "é\u2028"}')),
        done(usage=usage),
    ]
    items = [REASONING, {"type": "message", "content": []}, call('{"a": "é\u2028"}')]
    expected = [Thinking(text=thought)] * bool(thought) + [Saying(text=said)] * bool(said)
    expected += [
        ToolCall(id="c1", name="look", arguments={"a": "é\u2028"}),
        Opaque(provider="openai", block={"model": MODEL, "items": items}),
        Usage(input=5, output=9, cached=2, reasoning=4),
        Stop(reason="tool_calls"),
    ]
    data = encode_sse(payloads, done=False, pings=True)
    for chunks in ([data], byte_by_byte(data), cuts(data, where)):
        assert expected == joined(decode(chunks, ResponsesReply(model=MODEL)))


def test_encrypted_reasoning_is_sent_back_as_it_came_and_to_the_same_model_only():
    [block] = [
        one.block for one in read(item(0, **REASONING), item(1, **call()), done()) if isinstance(one, Opaque)
    ]
    said = {
        "role": "assistant",
        "content": "",
        "tool_calls": [{"id": "c1", "name": "look", "arguments": {}}],
        "opaque": [{"provider": "openai", "block": block}],
    }
    assert [REASONING, call()] == encode(SETTINGS, [said], [])["input"]
    assert ["function_call"] == [
        one["type"] for one in encode(Settings(model="gpt-6-luna"), [said], [])["input"]
    ]


def test_a_call_that_is_incomplete_must_not_run():
    made = read(
        item(0, **call('{"a": ', status="incomplete")),
        done("incomplete", incomplete_details={"reason": "max_output_tokens"}),
    )
    assert (CUT, Stop(reason="max_tokens")) == (made[0].problem, made[-1])


def test_a_content_filter_and_a_refusal_end_the_reply_and_run_nothing():
    details = {"reason": "content_filter"}
    assert [Stop(reason="refusal")] == read(item(0, **call()), done("incomplete", incomplete_details=details))
    refused = read(event("refusal.delta", delta="No."), done())
    assert [Saying(text="No."), Stop(reason="refusal")] == refused


@pytest.mark.parametrize(
    "payload",
    [
        {"type": "error", "code": "server_error", "message": "It broke."},
        {"type": "error", "error": {"code": "server_error", "message": "It broke."}},
        done("failed", error={"code": "server_error", "message": "It broke."}),
    ],
)
def test_each_form_of_error_ends_the_reply_with_the_vendors_words(payload):
    with pytest.raises(ProviderError, match=r"It broke\.") as caught:
        read(event("output_text.delta", delta="a"), payload)
    assert caught.value.retryable


def test_a_stream_without_its_end_is_an_error_and_its_calls_are_never_seen():
    with pytest.raises(Unreachable):
        read(item(0, **call()))


def test_summaries_are_kept_apart():
    events = read(
        event("reasoning_summary_part.added", summary_index=0),
        event("reasoning_summary_text.delta", delta="one"),
        event("reasoning_summary_part.added", summary_index=1),
        event("reasoning_summary_text.delta", delta="two"),
        done(),
    )
    assert Thinking(text="one\n\ntwo") == joined(events)[0]


def test_messages_tools_and_settings_are_sent_in_the_vendors_form():
    settings = Settings(model=MODEL, effort="low", max_tokens=50)
    body = encode(settings, AFTER_A_TOOL, [TOOL], {"type": "object"})
    assert body["instructions"] == "Answer briefly."
    assert ["user", None, None] == [one.get("role") for one in body["input"]]
    assert {
        "type": "function_call",
        "call_id": "call_1",
        "name": "get_weather",
        "arguments": '{"city":"Zürich"}',
    } == (body["input"][1])
    assert "function_call_output" == body["input"][2]["type"]
    assert (False, False) == (body["store"], body["tools"][0]["strict"])
    assert ({"summary": "auto", "effort": "low"}, 50) == (body["reasoning"], body["max_output_tokens"])
    assert ["reasoning.encrypted_content"] == body["include"]
    assert body["text"]["format"]["type"] == "json_schema"


def test_a_model_that_does_not_reason_is_not_asked_to():
    assert not {"reasoning", "include"} & set(encode(Settings(model="gpt-4o-mini"), [], []))


def test_a_picture_is_sent_as_a_data_url():
    [message] = encode(SETTINGS, [{"role": "user", "content": [image(b"\x89PNG1")]}], [])["input"]
    assert [{"type": "input_image", "image_url": "data:image/png;base64,iVBORzE="}] == message["content"]


def test_the_protocol_follows_the_address_unless_it_is_named():
    assert isinstance(openai("m", api_key="x" * 12), OpenAIResponses)
    assert not isinstance(openai("m", base_url="http://x/v1"), OpenAIResponses)
    assert isinstance(openai("m", base_url="http://x/v1", api="responses"), OpenAIResponses)
    assert not isinstance(openai("m", api_key="x" * 12, api="chat"), OpenAIResponses)
    with pytest.raises(UsageError, match="no api 'soap'"):
        openai("m", api_key="x" * 12, api="soap")


def test_who_pays_is_told_to_openai_only(monkeypatch):
    monkeypatch.setenv("OPENAI_ORG_ID", "org-1")
    assert openai("m", api_key="x" * 12)._headers()["openai-organization"] == "org-1"
    assert "openai-organization" not in openai("m", base_url="http://x/v1")._headers()
