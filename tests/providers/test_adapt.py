"""Any object with `fetch` is a provider."""

from __future__ import annotations

import asyncio
import threading
from contextlib import aclosing
from typing import Any

import pytest

from agent_magics.errors import ConfigError
from agent_magics.ports import Provider
from agent_magics.providers import adapt
from agent_magics.talk import Opaque, Saying, Stop, Thinking, ToolCall, Usage

ASK = [{"role": "user", "content": "hi"}]


async def said(thing: Any, **options: Any) -> Any:
    return [event async for event in adapt(thing).fetch(ASK, [], **options)]


class Sync:
    def fetch(self, messages, tools):
        yield {"type": "saying", "text": messages[-1]["content"]}


class Async:
    name, model, window = "mine", "one", 1000

    async def fetch(self, messages, tools, schema=None):
        yield Saying(text=str(schema))


class Listed:
    def fetch(self, messages, tools):
        return [{"type": "saying", "text": "whole"}]


class Awaited:
    async def fetch(self, messages, tools):
        return [Saying(text="whole")]


async def test_generators_lists_and_coroutines_all_work():
    assert [Saying(text="hi")] == await said(Sync())
    assert [Saying(text="{'type': 'string'}")] == await said(Async(), schema={"type": "string"})
    assert [Saying(text="whole")] == await said(Listed())
    assert [Saying(text="whole")] == await said(Awaited())


async def test_a_schema_is_kept_from_those_who_do_not_take_one():
    assert [Saying(text="hi")] == await said(Sync(), schema={"type": "string"})


def test_the_adapted_object_has_a_providers_shape():
    thing = adapt(Sync(), name="parrot", model="small")
    assert isinstance(thing, Provider)
    assert ("parrot", "small", 0) == (thing.name, thing.model, thing.window)
    assert ("mine", "one", 1000) == (
        adapt(Async(), name="other").name,
        adapt(Async()).model,
        adapt(Async()).window,
    )


async def test_plain_dicts_become_events_and_unknown_ones_are_left_out():
    class Every:
        def fetch(self, messages, tools):
            yield {"type": "thinking", "text": "hm"}
            yield {"type": "weather", "text": "sunny"}
            yield {"type": "doing", "id": "c", "name": "f", "arguments": {"a": 1}}
            yield {"type": "doing", "name": "f", "arguments": None}
            yield {"type": "doing", "id": "d", "name": "f", "arguments": "a=1"}
            yield {"type": "usage", "input": 3, "output": None, "cached": -1}
            yield {"type": "opaque", "provider": "p", "block": [1]}
            yield {"type": "stop", "reason": "because"}
            yield "saying"
            yield None
            yield {"type": "saying", "text": None}

    events = await said(Every())
    unnamed = events[2]
    assert isinstance(unnamed, ToolCall)
    assert unnamed.id
    expected = [
        Thinking(text="hm"),
        ToolCall(id="c", name="f", arguments={"a": 1}),
        unnamed,
        ToolCall(id="d", name="f", problem="The arguments must be a JSON object."),
        Usage(input=3),
        Opaque(provider="p", block=[1]),
        Saying(text=""),
        Stop(reason="end"),
    ]
    assert expected == events


async def test_a_sync_generator_runs_beside_the_loop_and_may_block():
    gate, names = threading.Event(), []

    class Blocking:
        def fetch(self, messages, tools):
            names.append(threading.current_thread())
            gate.wait(10)
            yield {"type": "saying", "text": "late"}

    task = asyncio.create_task(said(Blocking()))
    await asyncio.sleep(0)  # the loop goes on: were it blocked, the gate would never open
    gate.set()
    assert [Saying(text="late")] == await task
    assert names[0] is not threading.main_thread()
    assert names[0].daemon


async def test_an_error_in_a_sync_generator_reaches_the_caller():
    class Broken:
        def fetch(self, messages, tools):
            yield {"type": "saying", "text": "a"}
            raise ValueError("no more")

    with pytest.raises(ValueError, match="no more"):
        await said(Broken())


async def test_closing_early_closes_a_sync_generator_too():
    closed = threading.Event()

    class Endless:
        def fetch(self, messages, tools):
            try:
                while True:
                    yield {"type": "saying", "text": "and"}
            finally:
                closed.set()

    provider: Any = adapt(Endless())
    async with aclosing(provider.fetch(ASK, [])) as events:
        await anext(events)
    assert await asyncio.to_thread(closed.wait, 5)


async def test_closing_early_closes_an_async_generator_too():
    closed = []

    class Endless:
        async def fetch(self, messages, tools):
            try:
                while True:
                    yield Saying(text="and")
            finally:
                closed.append(True)

    provider: Any = adapt(Endless())
    async with aclosing(provider.fetch(ASK, [])) as events:
        await anext(events)
    assert [True] == closed


def test_an_object_without_fetch_is_refused_in_three_lines():
    with pytest.raises(ConfigError) as caught:
        adapt(object())
    assert len(str(caught.value).splitlines()) == 3
