"""M5, M6 on the wire: a vendor's tokens and prices, its retries, and a limit in dollars."""

from __future__ import annotations

import asyncio
from typing import Any

import pytest

from agent_magics import Budget, Session, tool
from agent_magics.providers import Registry
from agent_magics.providers.prices import cost
from agent_magics.talk import Usage
from tests.providers.servers import ScriptedServer, answer, sse

MODEL = "gpt-4o"
USAGE = {"prompt_tokens": 10_000, "completion_tokens": 100}
ONE = cost("openai", MODEL, Usage(input=10_000, output=100))


@tool
def echo(x: int) -> int:
    return x


def calling(number: int) -> list[Any]:
    """An answer that calls a tool."""
    function = {"name": "echo", "arguments": f'{{"x": {number}}}'}
    call = {"index": 0, "id": f"c{number}", "type": "function", "function": function}
    delta = {"content": f"Step {number}.", "tool_calls": [call]}
    return sse(
        {"choices": [{"delta": delta, "finish_reason": "tool_calls"}]}, {"choices": [], "usage": USAGE}
    )


async def asked(*scripts: Any, budget: Budget) -> tuple[Any, str, int]:
    """A turn, what /trace says of it, and how many requests came."""
    async with ScriptedServer(list(scripts)) as server:
        provider = Registry().build(f"openai:{MODEL}", base_url=server.url, api_key="a-key-of-tests")
        session = Session(provider, tools=[echo], tool_making="off", budget=budget)
        turn = await session.ask_async("go on")
        said = session.command("/trace")
        await asyncio.to_thread(session.close)
        return turn, said, len(server.requests)


async def test_a_limit_in_dollars_ends_the_turn_after_the_request_that_reached_it():
    assert ONE is not None
    turn, _, requests = await asked(*map(calling, range(9)), budget=Budget(usd=2.5 * ONE))
    assert ("budget", "Step 2.", 3) == (turn.stop, turn.reply, requests)
    assert turn.error.startswith("Stopped: the budget of this turn is used up: $0.0780 of $0.0650.")
    assert [True, True, False] == [call.ok for call in turn.calls]


async def test_a_trace_tells_the_retries_the_tokens_and_the_cost_of_each_request():
    busy = answer(529, {"error": {"message": "Overloaded"}}, retry_after_ms="1")
    hello = sse({"choices": [{"delta": {"content": "Hi."}, "finish_reason": "stop"}], "usage": USAGE})
    turn, said, _ = await asked(busy, calling(1), hello, budget=Budget(usd=1))
    assert "done" == turn.stop
    first, *_ = [line for line in said.split("\n") if line.startswith("| model ")]
    assert "| 10,000 → 100 | $0.0260 |" in first
    assert "1 retry: " in first
    assert "HTTP 529" in first
    assert said.endswith("20,000 → 200 tokens · cost $0.0520")
    assert pytest.approx(0.001, abs=0.2) == turn.steps[0].retries[0].delay
