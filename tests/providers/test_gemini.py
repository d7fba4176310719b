"""Gemini: what is sent, and what is read."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given

from agent_magics.errors import BadReply, ProviderError, Unreachable
from agent_magics.providers.calls import CUT
from agent_magics.providers.gemini_content import ContentReply, encode
from agent_magics.providers.parts import image
from agent_magics.providers.settings import Settings
from agent_magics.talk import Opaque, Saying, Stop, Thinking, ToolCall, Usage
from tests.providers.streams import awkward, byte_by_byte, cuts, decode, encode_sse, joined, places
from tests.providers.test_contract import AFTER_A_TOOL, TOOL

MODEL = "gemini-3.8-flash"
SETTINGS = Settings(model=MODEL)


def chunk(*parts, finish=None, **fields):
    candidate = {"content": {"role": "model", "parts": list(parts)}}
    return {"candidates": [{**candidate, **({"finishReason": finish} if finish else {})}], **fields}


def read(*payloads: Any) -> Any:
    return decode([encode_sse(payloads, done=False)], ContentReply(model=MODEL))


@given(awkward, awkward, places)
def test_a_reply_is_the_same_wherever_its_bytes_are_cut(thought, said, where):
    parts: list[Any] = [{"text": letter, "thought": True} for letter in thought]
    parts += [{"text": letter} for letter in said]
    parts.append({"functionCall": {"name": "look", "args": {"a": "é"}, "id": "c"}, "thoughtSignature": "s=="})
    usage = {
        "promptTokenCount": 5,
        "candidatesTokenCount": 3,
        "thoughtsTokenCount": 4,
        "cachedContentTokenCount": 2,
    }
    payloads = [chunk(part) for part in parts] + [chunk(finish="STOP", usageMetadata=usage)]
    expected = [Thinking(text=thought)] * bool(thought) + [Saying(text=said)] * bool(said)
    expected += [
        ToolCall(id="c", name="look", arguments={"a": "é"}),
        Opaque(provider="gemini", block={"model": MODEL, "parts": parts}),
        Usage(input=5, output=7, cached=2, reasoning=4),
        Stop(reason="tool_calls"),
    ]
    data = encode_sse(payloads, done=False, pings=True)
    for chunks in ([data], byte_by_byte(data), cuts(data, where)):
        assert expected == joined(decode(chunks, ContentReply(model=MODEL)))


def test_a_signature_in_the_part_of_a_call_is_sent_back_with_it():
    part = {"functionCall": {"name": "look", "args": {}}, "thoughtSignature": "s=="}
    [block] = [one.block for one in read(chunk(part, finish="STOP")) if isinstance(one, Opaque)]
    said = {"role": "assistant", "content": "", "opaque": [{"provider": "gemini", "block": block}]}
    assert [{"role": "model", "parts": [part]}] == encode(SETTINGS, [said], [])["contents"]


def test_missing_arguments_mean_none_and_a_missing_id_is_made():
    first, second, stop = read(
        chunk(
            {"functionCall": {"name": "now"}}, {"functionCall": {"name": "now", "args": None}}, finish="STOP"
        )
    )
    assert ({}, {}) == (first.arguments, second.arguments)
    assert first.id != second.id
    assert Stop(reason="tool_calls") == stop


def test_a_call_at_the_length_limit_must_not_run():
    call, stop = read(chunk({"functionCall": {"name": "remove", "args": {}}}, finish="MAX_TOKENS"))
    assert (CUT, Stop(reason="max_tokens")) == (call.problem, stop)


def test_refusals_of_the_prompt_and_of_the_answer_end_the_reply_and_run_nothing():
    answer = read(chunk({"functionCall": {"name": "f"}}, finish="SAFETY"))
    assert [Stop(reason="refusal", detail="SAFETY")] == answer
    prompt = read({"promptFeedback": {"blockReason": "PROHIBITED_CONTENT"}})
    assert [Stop(reason="refusal", detail="PROHIBITED_CONTENT")] == prompt


def test_a_call_that_the_vendor_itself_could_not_read_may_be_tried_again():
    with pytest.raises(BadReply) as caught:
        read(chunk(finish="MALFORMED_FUNCTION_CALL"))
    assert caught.value.retryable


def test_an_error_in_the_stream_ends_the_reply_with_the_vendors_words():
    error = {"error": {"code": 503, "status": "UNAVAILABLE", "message": "Overloaded."}}
    with pytest.raises(ProviderError, match="Overloaded") as caught:
        read(chunk({"text": "a"}), error)
    assert caught.value.retryable


def test_a_stream_that_ends_without_a_reason_is_an_error():
    with pytest.raises(Unreachable):
        read(chunk({"text": "a"}))


def test_messages_tools_and_settings_are_sent_in_the_vendors_form():
    body = encode(
        Settings(model=MODEL, effort="low", max_tokens=50), AFTER_A_TOOL, [TOOL], {"type": "object"}
    )
    assert {"parts": [{"text": "Answer briefly."}]} == body["systemInstruction"]
    assert ["user", "model", "user"] == [content["role"] for content in body["contents"]]
    result = {"name": "get_weather", "response": {"temperature": 17, "ok": True}}
    assert [{"functionResponse": result}] == body["contents"][-1]["parts"]
    [declared] = body["tools"][0]["functionDeclarations"]
    assert TOOL["function"]["parameters"] == declared["parametersJsonSchema"]
    expected = {
        "responseMimeType": "application/json",
        "responseJsonSchema": {"type": "object"},
        "maxOutputTokens": 50,
        "thinkingConfig": {"includeThoughts": True, "thinkingLevel": "low"},
    }
    assert expected == body["generationConfig"]


def test_thoughts_are_asked_for_as_each_generation_knows_it():
    def asked(model, effort=""):
        return encode(Settings(model=model, effort=effort), [], []).get("generationConfig")

    assert {"thinkingConfig": {"includeThoughts": True, "thinkingBudget": 1024}} == asked(
        "gemini-2.5-pro", "low"
    )
    assert {"thinkingConfig": {"includeThoughts": True}} == asked("gemini-3.8-flash")
    assert asked("gemini-2.0-flash", "low") is None


def test_a_picture_and_a_plain_result_are_sent_in_the_vendors_form():
    messages = [
        {"role": "user", "content": [image(b"\x89PNG1")]},
        {"role": "assistant", "content": "", "tool_calls": [{"id": "c", "name": "f", "arguments": {}}]},
        {"role": "tool", "tool_call_id": "c", "content": "not json"},
    ]
    seen, _, result = encode(SETTINGS, messages, [])["contents"]
    assert [{"inlineData": {"mimeType": "image/png", "data": "iVBORzE="}}] == seen["parts"]
    assert [{"functionResponse": {"name": "f", "response": {"result": "not json"}}}] == result["parts"]
