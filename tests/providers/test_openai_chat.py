"""Chat Completions: what is sent, and what is read from every server's dialect."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given

from agent_magics.errors import ProviderError, RateLimited, Unreachable
from agent_magics.providers.calls import CUT
from agent_magics.providers.openai_chat import ChatReply, encode
from agent_magics.providers.parts import image
from agent_magics.providers.settings import Settings
from agent_magics.talk import Saying, Stop, Thinking, ToolCall, Usage
from tests.providers.streams import awkward, byte_by_byte, cuts, decode, encode_sse, joined, places

SETTINGS = Settings(model="m", base_url="http://x/v1")


def delta(finish=None, **fields):
    return {"choices": [{"index": 0, "delta": fields, "finish_reason": finish}]}


def piece(arguments=None, *, index=0, key=None, name=None):
    return {"tool_calls": [{"index": index, "id": key, "function": {"name": name, "arguments": arguments}}]}


def read(*payloads: Any, done: bool = True) -> Any:
    return decode([encode_sse(payloads, done=done)], ChatReply())


@given(awkward, awkward, places)
def test_a_reply_is_the_same_wherever_its_bytes_are_cut(thought, said, where):
    payloads = [
        delta(role="assistant", content=""),
        *(delta(reasoning_content=letter) for letter in thought),
        *(delta(content=letter) for letter in said),
        delta(**piece("", key="c1", name="look")),
        delta(**piece('{"text":')),
        delta(**piece(' "é\u2028"}', name="")),
        delta("tool_calls"),
        {"choices": [], "usage": {"prompt_tokens": 3, "completion_tokens": 2}},
    ]
    expected = [Thinking(text=thought)] * bool(thought) + [Saying(text=said)] * bool(said)
    expected += [
        ToolCall(id="c1", name="look", arguments={"text": "é\u2028"}),
        Usage(input=3, output=2),
        Stop(reason="tool_calls"),
    ]
    data = encode_sse(payloads, pings=True)
    for chunks in ([data], byte_by_byte(data), cuts(data, where)):
        assert expected == joined(decode(chunks, ChatReply()))


def test_arguments_that_are_empty_missing_or_null_mean_none():
    for arguments in ("", None, "{}", "null", "  "):
        call, stop = read(delta(**piece(arguments, key="c", name="now")), delta("tool_calls"))
        assert ToolCall(id="c", name="now") == call
        assert Stop(reason="tool_calls") == stop


def test_parallel_calls_with_interleaved_pieces_are_kept_apart():
    calls = read(
        delta(**piece('{"a"', index=0, key="c0", name="f")),
        delta(**piece('{"b"', index=1, key="c1", name="g")),
        delta(**piece(": 1}", index=0)),
        delta(**piece(": 2}", index=1)),
        delta("tool_calls"),
    )[:2]
    expected = [
        ToolCall(id="c0", name="f", arguments={"a": 1}),
        ToolCall(id="c1", name="g", arguments={"b": 2}),
    ]
    assert expected == calls


def test_parallel_calls_that_share_an_index_are_kept_apart_by_their_ids():
    calls = read(
        delta(**piece("{}", key="c0", name="f")),
        delta(**piece("{}", key="c1", name="g")),
        delta("tool_calls"),
    )[:2]
    assert [("c0", "f"), ("c1", "g")] == [(call.id, call.name) for call in calls]


def test_arguments_that_come_as_an_object_are_taken():
    call = read(delta(**piece({"a": [1]}, key="c", name="f")), delta("tool_calls"))[0]
    assert ToolCall(id="c", name="f", arguments={"a": [1]}) == call


def test_a_call_without_an_id_gets_one_of_its_own():
    first, second = read(
        delta(**piece("{}", index=0, name="f")), delta(**piece("{}", index=1, name="f")), delta("stop")
    )[:2]
    assert first.id
    assert first.id != second.id


def test_finish_reason_stop_with_calls_is_a_stop_for_tools():
    events = read(delta(**piece("{}", key="c", name="f")), delta("stop"))
    assert [ToolCall(id="c", name="f"), Stop(reason="tool_calls")] == events


def test_arguments_that_are_not_json_make_a_call_that_must_not_run():
    call = read(delta(**piece("{'a': 1}", key="c", name="f")), delta("tool_calls"))[0]
    assert call.problem.startswith("The arguments are not JSON")
    call = read(delta(**piece("[1]", key="c", name="f")), delta("tool_calls"))[0]
    assert "The arguments must be a JSON object, not list." == call.problem


def test_a_call_cut_by_the_length_limit_must_not_run_even_if_it_looks_whole():
    for arguments in ('{"path": "/tm', '{"path": "/"}', ""):
        call, stop = read(delta(**piece(arguments, key="c", name="remove")), delta("length"))
        assert CUT == call.problem
        assert Stop(reason="max_tokens") == stop


def test_thinking_is_read_under_both_of_its_names():
    for name in ("reasoning_content", "reasoning"):
        assert Thinking(text="hm") == read(delta(**{name: "hm"}), delta("stop"))[0]


def test_tokens_are_read_from_a_chunk_without_choices():
    usage = {
        "prompt_tokens": 10,
        "completion_tokens": 5,
        "prompt_tokens_details": {"cached_tokens": 4},
        "completion_tokens_details": {"reasoning_tokens": 3},
    }
    events = read(delta(content="a"), delta("stop"), {"choices": [], "usage": usage})
    assert Usage(input=10, output=5, cached=4, reasoning=3) == events[1]


def test_a_stream_that_ends_without_done_is_whole_if_it_said_why_it_ended():
    assert [Saying(text="a"), Stop(reason="end")] == read(delta(content="a"), delta("stop"), done=False)


def test_a_stream_that_ends_without_saying_why_is_an_error_and_its_calls_are_never_seen():
    with pytest.raises(Unreachable, match="dropped before the answer was complete"):
        read(delta(content="a"), delta(**piece("{}", key="c", name="f")), done=False)


def test_an_error_object_inside_a_chunk_ends_the_reply_with_the_vendors_words():
    for payload in (
        {"error": {"message": "The model crashed.", "type": "server_error"}},
        {**delta("error", content=""), "error": {"message": "The model crashed.", "code": 502}},
    ):
        with pytest.raises(ProviderError, match="The model crashed") as caught:
            read(delta(content="a"), payload)
        assert caught.value.retryable


def test_a_spent_quota_in_the_stream_is_not_tried_again():
    with pytest.raises(RateLimited) as caught:
        read({"error": {"message": "You exceeded your quota.", "code": "insufficient_quota"}})
    assert not caught.value.retryable


def test_a_content_filter_and_a_refusal_end_the_reply_and_run_nothing():
    filtered = read(delta(content="a"), delta(**piece("{}", key="c", name="f")), delta("content_filter"))
    assert [Saying(text="a"), Stop(reason="refusal")] == filtered
    assert [Saying(text="No."), Stop(reason="refusal")] == read(delta(refusal="No."), delta("stop"))


def test_shapes_that_nobody_promised_are_left_out_and_break_nothing():
    events = read(
        {"choices": None},
        {"choices": [None]},
        {"choices": [{"delta": None}]},
        delta(content=7),
        delta(content=["x"]),
        delta(tool_calls="f"),
        {"usage": []},
        delta("stop"),
    )
    assert [Stop(reason="end")] == events


def test_messages_are_sent_in_the_vendors_form():
    messages = [
        {"role": "system", "content": "s"},
        {"role": "user", "content": [{"type": "text", "text": "see"}, image(b"\x89PNG1")]},
        {
            "role": "assistant",
            "content": "",
            "tool_calls": [{"id": "c", "name": "f", "arguments": {"a": "é"}}],
            "opaque": [{"provider": "x", "block": 1}],
        },
        {"role": "tool", "tool_call_id": "c", "content": '{"ok":true}'},
    ]
    url = "data:image/png;base64,iVBORzE="
    expected = [
        {"role": "system", "content": "s"},
        {
            "role": "user",
            "content": [{"type": "text", "text": "see"}, {"type": "image_url", "image_url": {"url": url}}],
        },
        {
            "role": "assistant",
            "content": "",
            "tool_calls": [
                {"id": "c", "type": "function", "function": {"name": "f", "arguments": '{"a":"é"}'}}
            ],
        },
        {"role": "tool", "tool_call_id": "c", "content": '{"ok":true}'},
    ]
    assert expected == encode(SETTINGS, messages, [])["messages"]


def test_a_schema_is_strict_only_if_the_vendor_would_take_it_so():
    closed = {
        "type": "object",
        "properties": {"a": {"type": "array", "items": {"type": "string"}}},
        "required": ["a"],
        "additionalProperties": False,
    }
    open_inside = {**closed, "properties": {"a": {"type": "object", "properties": {}}}}
    for schema, strict in ((closed, True), ({"type": "object"}, False), (open_inside, False)):
        form = encode(SETTINGS, [], [], schema)["response_format"]
        assert {"name": "answer", "schema": schema, "strict": strict} == form["json_schema"]


def test_only_openai_itself_is_sent_the_new_name_of_the_length_limit():
    there = Settings(model="m", base_url="https://api.openai.com/v1", max_tokens=5)
    assert 5 == encode(there, [], [])["max_completion_tokens"]
    assert 5 == encode(Settings(model="m", base_url="http://x/v1", max_tokens=5), [], [])["max_tokens"]
