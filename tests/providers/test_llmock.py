"""llmock breaks its answers on demand, and its verdict on how we took it must be clean."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import pytest

from agent_magics import extract_many
from agent_magics.errors import BadReply, ProviderError, Unreachable
from agent_magics.providers import Registry
from agent_magics.talk import Saying, Stop, ToolCall
from tests.providers.servers import call
from tests.providers.test_contract import TOOL

CASES = {
    "openai chat": ("openai:gpt-4o", "/v1", {}),
    "openai responses": ("openai:gpt-4o", "/v1", {"api": "responses"}),
    "anthropic": ("anthropic:claude-sonnet-4-5", "/anthropic", {}),
    "gemini": ("gemini:gemini-2.5-flash", "/gemini", {}),
}


# How many chunks of each protocol have come when the first words were heard.
HEARD = {"openai chat": 2, "openai responses": 7, "anthropic": 7, "gemini": 1}


@dataclass
class Judge:
    """The server's own control pages."""

    url: str

    def script(self, *behaviors: dict[str, Any]) -> None:
        call(f"{self.url}/_llmock/scenario", {"behaviors": list(behaviors)})

    def findings(self) -> list[str]:
        return [finding["code"] for finding in call(f"{self.url}/_llmock/verdict")["findings"]]

    def requests(self) -> int:
        return call(f"{self.url}/_llmock/requests")["count"]


@pytest.fixture
def judge(llmock_url):
    call(f"{llmock_url}/_llmock/reset", method="POST")
    yield Judge(llmock_url)
    call(f"{llmock_url}/_llmock/reset", method="POST")


@pytest.fixture(params=CASES)
async def provider(request, judge):
    spec, path, options = CASES[request.param]
    made = Registry().build(spec, base_url=judge.url + path, api_key="llmock-test-key", **options)
    yield made
    await made.aclose()


async def said(provider: Any, text: str = "hello there", tools: Any = ()) -> Any:
    return [event async for event in provider.fetch([{"role": "user", "content": text}], tools)]


def text_of(events):
    return "".join(event.text for event in events if isinstance(event, Saying))


async def test_a_healthy_answer_is_read(provider, judge):
    events = await said(provider)
    assert text_of(events)
    assert Stop(reason="end") == events[-1]
    assert judge.findings() == []


@pytest.mark.parametrize("status", [429, 500, 503])
async def test_failures_that_pass_are_waited_out(provider, judge, status):
    judge.script({"type": "fail", "status": status, "retry_after": 0.3, "times": 2})
    assert text_of(await said(provider))
    assert judge.requests() == 3
    assert judge.findings() == []


async def test_failures_without_an_announced_wait_are_backed_off_from(provider, judge):
    judge.script({"type": "fail", "status": 503, "times": None})
    with pytest.raises(ProviderError):
        await said(provider)
    assert judge.requests() == 3
    assert judge.findings() == []


@pytest.mark.parametrize("status", [400, 401, 404])
async def test_failures_that_stay_are_told_and_not_repeated(provider, judge, status):
    judge.script({"type": "fail", "status": status, "times": None})
    with pytest.raises(ProviderError):
        await said(provider)
    assert judge.requests() == 1
    assert judge.findings() == []


@pytest.mark.parametrize(
    ("fault", "expected"), [("truncate", Unreachable), ("disconnect", Unreachable), ("malformed", BadReply)]
)
async def test_a_broken_stream_is_a_failure_that_the_person_can_repeat(
    provider, judge, request, fault, expected
):
    heard = HEARD[request.node.callspec.params["provider"]]
    # Long, so that much is still to come when we stop reading: only then can the server see that we did.
    judge.script({"type": "reply", "text": "word " * 60})
    judge.script({"type": "stream_fault", "kind": fault, "after_chunks": heard, "times": 1})
    with pytest.raises(expected):
        await said(provider)
    assert judge.requests() == 1  # the server waits here until it has seen that we left
    assert text_of(await said(provider))  # the same cell, run again
    assert judge.findings() == []


async def test_a_stalled_stream_is_given_up(judge):
    spec, path, options = CASES["openai chat"]
    provider = Registry().build(spec, base_url=judge.url + path, api_key="x" * 12, timeout=0.3, **options)
    judge.script({"type": "stream_fault", "kind": "stall", "stall_seconds": 5, "after_chunks": 2, "times": 1})
    with pytest.raises(Unreachable, match="dropped"):
        await said(provider)
    assert text_of(await said(provider))
    await provider.aclose()
    assert judge.findings() == []


async def test_a_tool_is_called_with_arguments_that_are_parsed(provider, judge):
    events = await said(provider, "the weather in Paris", [TOOL])
    [made] = [event for event in events if isinstance(event, ToolCall)]
    assert made.name == "get_weather"
    assert "city" in made.arguments
    assert Stop(reason="tool_calls") == events[-1]


# Gemini's arguments are objects on the wire: they can't be broken without breaking the event.
@pytest.mark.parametrize("provider", [name for name in CASES if name != "gemini"], indirect=True)
async def test_arguments_that_are_not_json_make_a_call_that_must_not_run(provider, judge):
    judge.script({"type": "tool_fault", "kind": "malformed_arguments", "times": 1})
    [made] = [event for event in await said(provider, "the weather", [TOOL]) if isinstance(event, ToolCall)]
    assert "not JSON" in made.problem


@pytest.mark.parametrize("name", CASES)
def test_many_rows_keep_an_announced_wait_and_lose_no_row(judge, name):
    spec, path, options = CASES[name]
    # It fills the schema by itself, except where Anthropic's JSON mode asks for that.
    judge.script(
        {"type": "fail", "status": 429, "retry_after": 0.5, "times": 3},
        *([{"type": "reply", "text": '{"age": 3}', "times": None}] if name == "anthropic" else ()),
    )
    rows = extract_many(
        (f"row {at}" for at in range(12)),
        "age int",
        provider=spec,
        base_url=judge.url + path,
        api_key="llmock-test-key",
        concurrency=3,
        progress=False,
        **options,
    )
    assert [] == rows.failures
    assert judge.requests() == 15
    assert judge.findings() == []
