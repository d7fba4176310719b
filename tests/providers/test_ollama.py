"""Ollama: what is sent, and what is read."""

from __future__ import annotations

import json
from typing import Any

import pytest
from hypothesis import given

from agent_magics.errors import ConfigError, ProviderError, Unreachable
from agent_magics.providers import Registry
from agent_magics.providers.calls import CUT
from agent_magics.providers.ollama import OllamaReply, encode
from agent_magics.providers.parts import image
from agent_magics.providers.settings import Settings
from agent_magics.providers.sse import Lines
from agent_magics.talk import Saying, Stop, Thinking, ToolCall, Usage
from tests.providers.servers import free_port
from tests.providers.streams import awkward, byte_by_byte, cuts, decode, joined, places
from tests.providers.test_contract import AFTER_A_TOOL, TOOL


def line(done=False, **message):
    return {"model": "m", "message": {"role": "assistant", "content": "", **message}, "done": done}


def last(reason="stop", **fields):
    return {**line(True), "done_reason": reason, "prompt_eval_count": 5, "eval_count": 9, **fields}


def encoded(payloads, line_end="\n"):
    return "".join(json.dumps(one, ensure_ascii=False) + line_end for one in payloads).encode()


def read(*payloads: Any) -> Any:
    return decode([encoded(payloads)], OllamaReply(), Lines)


def call(name="look", arguments: Any = None):
    return {"function": {"name": name, "arguments": arguments}}


@given(awkward, awkward, places)
def test_a_reply_is_the_same_wherever_its_bytes_are_cut(thought, said, where):
    payloads = [
        *(line(thinking=letter) for letter in thought),
        *(line(content=letter) for letter in said),
        line(tool_calls=[call(arguments={"a": "é\u2028"}), call("now")]),
        last(),
    ]
    for line_end in ("\n", "\r\n"):
        data = encoded(payloads, line_end)
        for chunks in ([data], byte_by_byte(data), cuts(data, where)):
            *told, one, two, usage, stop = joined(decode(chunks, OllamaReply(), Lines))
            assert [Thinking(text=thought)] * bool(thought) + [Saying(text=said)] * bool(said) == told
            assert isinstance(one, ToolCall)
            assert isinstance(two, ToolCall)
            assert ({"a": "é\u2028"}, {}) == (one.arguments, two.arguments)
            assert one.id != two.id
            assert (Usage(input=5, output=9), Stop(reason="tool_calls")) == (usage, stop)


def test_an_error_line_under_a_healthy_status_ends_the_reply():
    with pytest.raises(ProviderError, match="model runner has crashed"):
        read(line(content="a"), {"error": "model runner has crashed"})


def test_a_stream_that_never_says_that_it_is_done_is_an_error():
    with pytest.raises(Unreachable):
        read(line(content="a"), line(tool_calls=[call()]))


def test_the_length_limit_is_told_and_its_last_call_must_not_run():
    made, _, stop = read(line(tool_calls=[call()]), last("length"))
    assert (CUT, Stop(reason="max_tokens")) == (made.problem, stop)


def test_messages_tools_and_settings_are_sent_in_the_vendors_form():
    settings = Settings(model="qwen3", max_tokens=50, temperature=0.5)
    body = encode(settings, AFTER_A_TOOL, [TOOL], {"type": "object"})
    assert "get_weather" == body["messages"][-1]["tool_name"]
    assert [{"function": {"name": "get_weather", "arguments": {"city": "Zürich"}}}] == (
        body["messages"][-2]["tool_calls"]
    )
    assert ({"type": "object"}, {"num_predict": 50, "temperature": 0.5}) == (body["format"], body["options"])


def test_pictures_are_sent_beside_the_text():
    [message] = encode(
        Settings(model="m"),
        [{"role": "user", "content": [image(b"\x89PNG1"), {"type": "text", "text": "what?"}]}],
        [],
    )["messages"]
    assert {"role": "user", "content": "what?", "images": ["iVBORzE="]} == message


def test_thinking_is_asked_for_as_the_model_knows_it():
    def think(model, effort):
        return encode(Settings(model=model, effort=effort), [], []).get("think")

    expected = [None, True, False, "high", False]
    asked = [
        ("qwen3", ""),
        ("qwen3", "high"),
        ("qwen3", "none"),
        ("gpt-oss:20b", "high"),
        ("gpt-oss", "none"),
    ]
    assert expected == [think(*one) for one in asked]


def test_without_a_model_and_without_an_ollama_the_remedy_is_named(monkeypatch):
    monkeypatch.setenv("OLLAMA_HOST", f"127.0.0.1:{free_port()}")
    with pytest.raises(ConfigError, match="ollama pull"):
        Registry().build("ollama")
