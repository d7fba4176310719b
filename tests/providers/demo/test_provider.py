"""The provider: what it yields, that it is always the same, and that nothing breaks it."""

from __future__ import annotations

import asyncio
import json

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from agent_magics.ports import Provider
from agent_magics.providers.demo import DemoProvider, demo
from agent_magics.providers.demo.reading import situation
from agent_magics.providers.demo.speaking import PIECES, pieces
from agent_magics.talk import Saying, Stop, Thinking, ToolCall, Usage
from tests.providers.demo.anything import histories, offers
from tests.providers.demo.conversation import Conversation, celsius_to_fahrenheit, word_count

SPECS = [celsius_to_fahrenheit.spec, word_count.spec]


def events(messages, tools=(), **options):
    async def collect():
        return [event async for event in DemoProvider(pace=0).fetch(messages, tools, **options)]

    return asyncio.run(collect())


def test_it_is_a_provider_with_a_name_and_one_set_of_rules():
    made = demo()
    assert isinstance(made, Provider)
    assert ("demo", "rules", 0) == (made.name, made.model, made.window)
    assert "anything" == demo("anything", pace=0, api_key="x").model


def test_it_thinks_then_speaks_then_counts_then_stops():
    told = events([{"role": "user", "content": "hello"}])
    kinds = [type(event) for event in told]
    assert [Usage, Stop] == kinds[-2:]
    assert kinds == sorted(kinds, key=[Thinking, Saying, Usage, Stop].index)
    assert 5 < kinds.count(Thinking) and 5 < kinds.count(Saying)
    assert Stop(reason="end") == told[-1]


def test_a_call_comes_whole_with_an_id_of_its_own():
    first = events([{"role": "user", "content": "convert 30 celsius to fahrenheit"}], SPECS)
    (call,) = [event for event in first if isinstance(event, ToolCall)]
    assert ("celsius_to_fahrenheit", {"celsius": 30}) == (call.name, call.arguments)
    assert Stop(reason="tool_calls") == first[-1]
    conversation = Conversation(celsius_to_fahrenheit, word_count)
    conversation.ask("convert 30 celsius to fahrenheit")
    conversation.ask("how many words are in 'a b'?")
    ids = [call["id"] for message in conversation.messages for call in message.get("tool_calls", [])]
    assert 2 == len(set(ids))


def test_tokens_are_estimated_from_characters():
    messages = [{"role": "system", "content": "x" * 400}, {"role": "user", "content": "hello"}]
    used = events(messages)[-2]
    said = "".join(event.text for event in events(messages) if isinstance(event, Saying))
    thought = "".join(event.text for event in events(messages) if isinstance(event, Thinking))
    assert (
        Usage(
            input=(405 + 3) // 4,
            output=(len(said) + 3) // 4 + (len(thought) + 3) // 4,
            reasoning=(len(thought) + 3) // 4,
        )
        == used
    )


@given(st.text())
def test_pieces_are_the_text_and_not_too_many(text):
    found = list(pieces(text))
    assert text == "".join(found)
    assert len(found) <= PIECES


def test_a_long_text_comes_in_bigger_pieces():
    found = list(pieces("word " * 20_000))
    assert "word " * 20_000 == "".join(found)
    assert PIECES / 2 < len(found) <= PIECES


async def test_it_waits_between_pieces_and_can_be_stopped_there():
    reply = DemoProvider(pace=60).fetch([{"role": "user", "content": "hello"}], [])
    first = await anext(reply)
    assert isinstance(first, Thinking)
    waiting = asyncio.ensure_future(anext(reply))
    await asyncio.sleep(0)
    assert not waiting.done()
    waiting.cancel()
    with pytest.raises(asyncio.CancelledError):
        await waiting
    await reply.aclose()


@settings(max_examples=200, suppress_health_check=[HealthCheck.too_slow])
@given(histories, offers)
def test_nothing_that_is_sent_breaks_it_and_the_same_has_the_same_answer(messages, tools):
    first = events(messages, tools)
    assert first == events(messages, tools)
    assert isinstance(first[-1], Stop) and isinstance(first[-2], Usage)
    for event in first:
        if isinstance(event, ToolCall):
            json.dumps(event.arguments)


@pytest.mark.parametrize(
    "unit",
    [
        *'"`«-°½(1 \n\0\u202e',
        "1,",
        "1/",
        "'a",
        "{}",
        "a: ",
        "a is ",
        "word ",
        "one ",
        "m per ",
        "square ",
        "and it ",
    ],
)
def test_a_megabyte_of_anything_is_answered(unit):
    megabyte = unit * (1_000_000 // len(unit))
    told = events([{"role": "user", "content": megabyte}], SPECS)
    assert isinstance(told[-1], Stop)
    history = [{"role": role, "content": megabyte} for role in ("system", "user", "assistant")]
    told = events([*history, {"role": "user", "content": "and in Kelvin?"}])
    assert isinstance(told[-1], Stop)


def test_a_megabyte_of_text_is_counted_and_not_said_back():
    answer = Conversation(word_count).ask("How many words are in this text?\n\n" + "lorem ipsum " * 80_000)
    assert "**160,000** words" in answer.reply
    assert len(answer.reply) < 300


def test_images_and_parts_are_read_past():
    content = [
        {"type": "image", "media_type": "image/png", "data": "AAAA"},
        {"type": "text", "text": "what is 6 * 7?"},
    ]
    said = "".join(
        event.text for event in events([{"role": "user", "content": content}]) if isinstance(event, Saying)
    )
    assert "**42**" in said


def test_the_loops_last_word_is_no_new_question():
    conversation = Conversation(celsius_to_fahrenheit)
    conversation.ask("convert 30 celsius to fahrenheit")
    messages = [
        *conversation.messages[:-1],
        {"role": "user", "content": "You have reached the limit of this turn."},
    ]
    assert "convert 30 celsius to fahrenheit" == situation(messages, []).now.prompt
    said = "".join(event.text for event in events(messages) if isinstance(event, Saying))
    assert "30 °C is **86 °F**." == said


def test_a_long_result_is_read_on_under_its_handle():
    conversation = Conversation(word_count)
    told = "The first 12 of 40,000 characters. Read on with more(handle='r1', page=1 to 3)."
    cut = {"cut": told, "head": "a", "tail": "z", "ok": True}
    properties = {"handle": {"type": "string"}, "page": {"type": "integer"}}
    schema = {"type": "object", "properties": properties, "required": ["handle"]}
    more = {"type": "function", "function": {"name": "more", "description": "", "parameters": schema}}
    call = {"id": "1", "name": "word_count", "arguments": {"text": "x"}}
    conversation.messages = [
        {"role": "user", "content": "count"},
        {"role": "assistant", "content": "", "tool_calls": [call]},
        {"role": "tool", "tool_call_id": "1", "content": json.dumps(cut)},
        {"role": "assistant", "content": "…"},
        {"role": "user", "content": "show me more of it"},
    ]
    (call,) = [event for event in events(conversation.messages, [more]) if isinstance(event, ToolCall)]
    assert ("more", {"handle": "r1", "page": 1}) == (call.name, call.arguments)
