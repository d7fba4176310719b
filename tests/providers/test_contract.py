"""One contract for every provider, whatever is behind it.

The loop, the panel, the planners and the extraction know providers only by this contract. Each promise says
in its docstring what breaks when it is not kept.
"""

from __future__ import annotations

import asyncio
import copy
import json
import time
from collections.abc import AsyncGenerator, Callable
from contextlib import aclosing
from typing import Any, get_args

import pytest

from agent_magics.ports import Provider
from agent_magics.providers import Registry, adapt
from agent_magics.talk import ProviderEvent, Saying, Stop, ToolCall, Usage
from agent_magics.talk.events import StopReason
from tests.patience import PROMPT

KEY = "planted-contract-key-0123456789"

HELLO = [
    {"role": "system", "content": "Answer briefly."},
    {"role": "user", "content": "hello, who is there?"},
]
TOOL = {
    "type": "function",
    "function": {
        "name": "get_weather",
        "description": "The weather of a city.",
        "parameters": {
            "type": "object",
            "properties": {"city": {"type": "string"}, "unit": {"type": "string"}},
            "required": ["city"],
        },
    },
}
AFTER_A_TOOL = [
    *HELLO[:1],
    {"role": "user", "content": "the weather, please"},
    {
        "role": "assistant",
        "content": "",
        "tool_calls": [{"id": "call_1", "name": "get_weather", "arguments": {"city": "Zürich"}}],
    },
    {"role": "tool", "tool_call_id": "call_1", "content": '{"temperature": 17, "ok": true}'},
]
SCHEMA = {
    "type": "object",
    "properties": {"a": {"type": "integer"}},
    "required": ["a"],
    "additionalProperties": False,
}

Build = Callable[[pytest.FixtureRequest], Provider]


class Echo:
    """The smallest provider that a plugin could have."""

    def fetch(self, messages: Any, tools: Any, schema: Any = None) -> Any:
        for word in ("hel", "lo") if schema is None else ('{"a"', ": 1}"):
            yield {"type": "saying", "text": word}
        yield {"type": "stop", "reason": "end"}


def at_aimock(spec: str, path: str = "", **options: Any) -> Build:
    def build(request: pytest.FixtureRequest) -> Provider:
        url = request.getfixturevalue("aimock")
        return Registry().build(spec, base_url=url + path, api_key=KEY, **options)

    return build


CASES = {
    "adapted": lambda request: adapt(Echo(), name="echo"),
    "stub": lambda request: Registry().build("stub"),
    "llama": lambda request: Registry().build(
        f"llama:{request.getfixturevalue('tiny')}", max_tokens=40, temperature=0
    ),
    "llama, native": lambda request: Registry().build(
        f"llama:{request.getfixturevalue('tiny')}", max_tokens=40, temperature=0, planner="native"
    ),
    "ggml": lambda request: Registry().build(
        f"ggml:{request.getfixturevalue('tiny')}", max_tokens=40, temperature=0
    ),
    "demo": lambda request: Registry().build("demo"),
    "openai chat": at_aimock("openai:gpt-4o", "/v1"),
    "openai responses": at_aimock("openai:gpt-6.1-terra", "/v1", api="responses"),
    "anthropic": at_aimock("anthropic:claude-sonnet-5-5"),
    "gemini": at_aimock("gemini:gemini-3.8-flash"),
    "ollama": at_aimock("ollama:qwen3"),
}
SILENT_ABOUT_TOKENS = {"adapted"}
ANSWERS_BY_SCRIPT = {
    name for name in CASES if name not in ("adapted", "stub", "demo", "llama", "llama, native", "ggml")
}


def marks(name: str) -> list[pytest.MarkDecorator]:
    return [pytest.mark.node] if name in ANSWERS_BY_SCRIPT else []


@pytest.fixture(params=[pytest.param(name, marks=marks(name)) for name in CASES])
async def provider(request: pytest.FixtureRequest) -> AsyncGenerator[Provider]:
    made = CASES[request.param](request)
    yield made
    await made.aclose()


async def said(
    provider: Provider, messages: Any = HELLO, tools: Any = (), **options: Any
) -> list[ProviderEvent]:
    return [event async for event in provider.fetch(messages, tools, **options)]


def text_of(events: list[ProviderEvent]) -> str:
    return "".join(event.text for event in events if isinstance(event, Saying))


def test_it_says_who_it_is(provider):
    """Records, status and prices are kept by name and model; a window of 0 means that it is unknown."""
    assert isinstance(provider, Provider)
    assert provider.name
    assert isinstance(provider.model, str)
    assert provider.window >= 0


async def test_it_yields_only_what_a_provider_may_say(provider):
    """The loop matches on these types and on no other; anything else would be lost without a word."""
    assert all(isinstance(event, get_args(ProviderEvent)) for event in await said(provider))


async def test_its_text_comes_in_pieces(provider):
    """People read while the model writes; one block at the end would be a silent cell."""
    pieces = [event for event in await said(provider) if isinstance(event, Saying)]
    assert "".join(piece.text for piece in pieces).strip()
    assert len(pieces) > 1


async def test_it_stops_once_last_and_in_our_words(provider):
    """The turn's own stop reason is made of it; an event after it would belong to no reply."""
    events = await said(provider)
    stops = [event for event in events if isinstance(event, Stop)]
    assert stops == [events[-1]]
    assert stops[0].reason in get_args(StopReason)


async def test_it_counts_tokens_at_most_once(provider, request):
    """Usage is added up over the steps of a turn: told twice, a turn would cost double."""
    counted = [event for event in await said(provider) if isinstance(event, Usage)]
    name = request.node.callspec.params["provider"]
    assert len(counted) == (0 if name in SILENT_ABOUT_TOKENS else 1)


async def test_it_leaves_what_it_was_given_as_it_was(provider):
    """The same messages are sent again in the next round, to this provider or another."""
    messages, tools = copy.deepcopy(AFTER_A_TOOL), [copy.deepcopy(TOOL)]
    await said(provider, messages, tools)
    assert (AFTER_A_TOOL, [TOOL]) == (messages, tools)


async def test_it_takes_a_history_with_calls_and_results(provider):
    """Every turn after a tool has one; and `/provider` hands it to a provider that did not make it."""
    assert text_of(await said(provider, AFTER_A_TOOL, [TOOL]))


async def test_it_drops_private_blocks_of_others(provider):
    """They are left behind when the provider changes, and a vendor refuses blocks that it did not sign."""
    history = copy.deepcopy(AFTER_A_TOOL)
    history[2]["opaque"] = [{"provider": "somebody-else", "block": {"signature": "x"}}]
    assert text_of(await said(provider, history, [TOOL]))


async def test_its_calls_are_whole(provider):
    """Tools run as soon as the reply is over: a call has an id of its own, and arguments that are parsed."""
    events = await said(provider, [{"role": "user", "content": "the weather, please"}], [TOOL])
    calls = [event for event in events if isinstance(event, ToolCall)]
    assert len({call.id for call in calls}) == len(calls)
    assert all(call.id and call.name and isinstance(call.arguments, dict) for call in calls)


async def test_it_answers_in_json_when_it_is_given_a_schema(provider):
    """Extraction and the JSON planner rest on it."""
    events = await said(provider, [{"role": "user", "content": "as json"}], schema=SCHEMA)
    assert isinstance(json.loads(text_of(events))["a"], int)


async def test_it_ends_at_once_when_nobody_listens_any_more(provider):
    """Stop and interrupt close the generator, and people wait for half a second at most."""
    async with aclosing(provider.fetch(HELLO, [])) as events:
        await anext(events)
        began = time.monotonic()
    assert time.monotonic() - began < PROMPT


async def test_it_may_be_used_again_after_it_was_closed(provider):
    """An idle session gives back its sockets and servers, and wakes by itself."""
    await said(provider)
    await provider.aclose()
    assert text_of(await said(provider))


async def test_it_serves_several_at_once(provider):
    """Sub-agents and extraction share the session's provider."""
    for events in await asyncio.gather(*(said(provider) for _ in range(5))):
        assert text_of(events)
        assert isinstance(events[-1], Stop)


def test_it_never_shows_its_key(provider):
    """A repr ends up in a traceback, and a traceback in a saved notebook."""
    shown = [repr(provider), repr(vars(provider))]
    assert KEY not in "".join(shown)
