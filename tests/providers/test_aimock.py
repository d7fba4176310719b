"""aimock speaks every vendor's protocol from one file of fixtures: the same things must be heard from all."""

from __future__ import annotations

from typing import Any

import pytest

from agent_magics.errors import BadReply, ProviderError, RateLimited, Unreachable
from agent_magics.providers import Registry
from agent_magics.talk import Retrying, Saying, Stop, Thinking, ToolCall
from tests.providers.streams import joined
from tests.providers.test_contract import TOOL

pytestmark = pytest.mark.node

NOW = {"type": "function", "function": {"name": "now", "parameters": {"type": "object", "properties": {}}}}
CASES = {
    "openai chat": ("openai:gpt-4o", "/v1", {}),
    "openai responses": ("openai:gpt-6.1-terra", "/v1", {"api": "responses"}),
    "anthropic": ("anthropic:claude-sonnet-5-5", "", {}),
    "gemini": ("gemini:gemini-3.8-flash", "", {}),
    "ollama": ("ollama:qwen3", "", {}),
}


@pytest.fixture(params=CASES)
async def provider(request, aimock):
    spec, path, options = CASES[request.param]
    made = Registry().build(spec, base_url=aimock + path, api_key="aimock-test-key", **options)
    yield made
    await made.aclose()


async def said(provider: Any, text: str, tools: Any = ()) -> Any:
    return [event async for event in provider.fetch([{"role": "user", "content": text}], tools)]


async def test_text_in_small_pieces_is_put_together_as_it_was(provider):
    events = joined(await said(provider, "hello"))
    assert Saying(text="Grüße — naïve café ☕ 你好 😀, long enough to come in several pieces.") == events[0]
    assert Stop(reason="end") == events[-1]


async def test_thinking_text_and_parallel_calls_come_in_order(provider):
    events = joined(await said(provider, "the weather", [TOOL, NOW]))
    told = [event for event in events if isinstance(event, Thinking | Saying)]
    calls = [event for event in events if isinstance(event, ToolCall)]
    expected = [Thinking(text="The city is named, so the tool can be asked."), Saying(text="I look it up.")]
    if provider.name == "ollama":
        expected = expected[1:]  # aimock says `reasoning_content` there; Ollama's own page says `thinking`
    assert expected == told
    arguments = {"city": "Zürich", "unit": "C"}
    assert [("get_weather", arguments), ("now", {})] == [(call.name, call.arguments) for call in calls]
    assert Stop(reason="tool_calls") == events[-1]


async def test_a_rate_limit_is_waited_out_three_times_and_then_told(provider):
    waits = []
    with pytest.raises(RateLimited, match="Too many requests"):
        async for event in provider.fetch([{"role": "user", "content": "too many"}], []):
            waits.append(event)  # noqa: PERF401 (the events before the error are what is looked at)
    assert [2, 3] == [wait.attempt for wait in waits if isinstance(wait, Retrying)]
    assert all(wait.delay >= 1 for wait in waits)


async def test_an_overload_is_told_in_the_vendors_words(provider):
    with pytest.raises(ProviderError, match="Overloaded"):
        await said(provider, "overload")


@pytest.mark.parametrize("prompt", ["truncate", "disconnect"])
async def test_a_stream_that_breaks_off_is_never_taken_for_an_answer(provider, prompt):
    with pytest.raises(Unreachable):
        await said(provider, prompt)


async def test_garbage_is_told(provider):
    with pytest.raises(BadReply):
        await said(provider, "garbage")


# aimock's Ollama never says that it reached a limit; test_ollama.py has the vendor's own form.
@pytest.mark.parametrize("provider", [name for name in CASES if name != "ollama"], indirect=True)
async def test_a_reply_at_its_length_limit_says_so(provider):
    assert Stop(reason="max_tokens") == (await said(provider, "too long"))[-1]
