"""llama.cpp's server speaks three vendors' protocols; our decoders read what the real engine writes."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from agent_magics.providers import Registry
from agent_magics.providers.json_planner import JSONPlanner
from agent_magics.providers.local.server import serve
from agent_magics.talk import Saying, Stop, ToolCall, Usage
from tests.providers.tiny_model import CALL, CALLING, write_tiny_model

KEY = "a-key-of-the-tests"
CASES = {
    "chat": ("openai:tiny", "/v1", {"api": "chat"}),
    "responses": ("openai:gpt-4-like", "/v1", {"api": "responses"}),
    "messages": ("anthropic:tiny", "", {}),
}
# At its limit the engine says `completed` in Responses, where OpenAI's own page says `incomplete`.
STOPS = {"chat": "max_tokens", "responses": "end", "messages": "max_tokens"}
ASK: Any = [{"role": "system", "content": "Be brief."}, {"role": "user", "content": "the unit, please"}]
CHOICE = {
    "type": "function",
    "function": {
        "name": "choose_unit",
        "description": "Choose a unit.",
        "parameters": {
            "type": "object",
            "properties": {"unit": {"enum": ["C", "F"]}},
            "required": ["unit"],
            "additionalProperties": False,
        },
    },
}


@pytest.fixture(scope="module")
def engine(tiny: Path) -> Iterator[str]:
    server = serve(str(tiny), 2048, KEY)
    yield server.listening_address


@pytest.mark.parametrize("protocol", CASES)
async def test_a_real_stream_is_read_to_its_end(engine, protocol):
    spec, path, options = CASES[protocol]
    provider = Registry().build(
        spec, base_url=engine + path, api_key=KEY, temperature=0, max_tokens=20, **options
    )
    events = [event async for event in provider.fetch(ASK, [])]
    await provider.aclose()
    *_, usage, stop = events
    assert len([event for event in events if isinstance(event, Saying)]) > 1
    assert isinstance(usage, Usage)
    assert isinstance(stop, Stop)
    assert (20, STOPS[protocol]) == (usage.output, stop.reason)


async def test_even_a_random_model_makes_a_call_when_it_is_held_to_the_form(engine):
    inner = Registry().build(
        "openai:tiny", base_url=f"{engine}/v1", api_key=KEY, temperature=0, max_tokens=600
    )
    planner = JSONPlanner(inner, guided=True)
    events = [event async for event in planner.fetch(ASK, [CHOICE])]
    await planner.aclose()
    calls = [event for event in events if isinstance(event, ToolCall)]
    assert 1 <= len(calls) <= 4
    assert all(call.name == "choose_unit" and call.arguments["unit"] in ("C", "F") for call in calls)
    assert Stop(reason="tool_calls") == events[-1]


END, BEGIN = 260, 261
"""Tokens of the random model: pushed ahead, it calls a tool and ends as soon as the grammar lets it."""
CHOICES: dict[str, Any] = {"chat": "required", "messages": {"type": "any", "disable_parallel_tool_use": True}}


@pytest.fixture(scope="module")
def calling_engine(tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    """The engine with a random model whose template knows tools."""
    path = tmp_path_factory.mktemp("calling") / "tiny.gguf"
    server = serve(str(write_tiny_model(path, template=CALLING, shown=(CALL,))), 4096, KEY)
    yield server.listening_address


@pytest.mark.parametrize(("protocol", "seed"), [("chat", 1), ("chat", 2), ("messages", 1), ("messages", 3)])
async def test_a_call_that_the_engine_is_forced_to_make_is_read_whole(calling_engine, protocol, seed):
    spec, path, options = CASES[protocol]
    extra = {"seed": seed, "logit_bias": [[END, 100], [BEGIN, 60]], "parallel_tool_calls": False}
    provider = Registry().build(
        spec,
        base_url=calling_engine + path,
        api_key=KEY,
        max_tokens=3000,
        extra={**extra, "tool_choice": CHOICES[protocol]},
        **options,
    )
    events = [event async for event in provider.fetch(ASK, [CHOICE])]
    await provider.aclose()
    calls = [event for event in events if isinstance(event, ToolCall)]
    assert {("choose_unit", "")} == {(call.name, call.problem) for call in calls}
    assert all(call.arguments["unit"] in ("C", "F") for call in calls)
    assert Stop(reason="tool_calls") == events[-1]
