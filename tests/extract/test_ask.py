"""One text, one value: repairs, ways to hold a provider, and what is told apart."""

from __future__ import annotations

import pickle
from typing import Any

import pytest

from agent_magics.errors import ExtractionError, RateLimited
from agent_magics.extract import Schema, ask_once
from agent_magics.extract.held import Held, hold_of
from agent_magics.providers import Registry, adapt
from agent_magics.talk import Saying, Stop, ToolCall, Usage
from agent_magics.testing import ScriptedProvider

SCHEMA = Schema.of("name, age int")
RIGHT = '{"name": "Ada", "age": 36}'
VALUE = {"name": "Ada", "age": 36}


def answering(**arguments: Any) -> list[Any]:
    call = ToolCall(id="c", name="answer", arguments=arguments)
    return [Saying(text="Let me see. "), call, Usage(input=1, output=1), Stop(reason="tool_calls")]


class Caller(ScriptedProvider):
    """A provider that calls tools and has no JSON mode."""

    holds = "tool"


class Talker(ScriptedProvider):
    """A provider that can only be asked."""

    holds = "text"


async def test_the_first_right_answer_ends_it():
    provider = ScriptedProvider([RIGHT], repeat=False)
    got = await ask_once(provider, "Ada is 36.", SCHEMA, instruction="British people only.")
    assert (VALUE, 1) == (got.value, got.attempts)
    [system, user] = provider.requests[0][0]
    assert system["content"].endswith("British people only.")
    assert "Ada is 36." == user["content"]


async def test_what_was_wrong_is_told_with_the_answer_and_the_schema():
    provider = ScriptedProvider(['{"name": "Ada", "age": "36"}', RIGHT], repeat=False)
    await ask_once(provider, "Ada is 36.", SCHEMA)
    [_, _, said, told] = provider.requests[1][0]
    assert {"role": "assistant", "content": '{"name": "Ada", "age": "36"}'} == said
    assert "age: '36' is not of type 'integer'" in told["content"]
    assert '"additionalProperties": false' in told["content"]


@pytest.mark.parametrize(("repairs", "requests"), [(0, 1), (1, 2), (2, 3)])
async def test_repairs_are_counted(repairs, requests):
    provider = ScriptedProvider(["no"])
    with pytest.raises(ExtractionError) as caught:
        await ask_once(provider, "Ada is 36.", SCHEMA, repairs=repairs)
    assert requests == len(provider.requests) == caught.value.attempts
    assert Usage(input=requests, output=requests) == caught.value.usage


async def test_the_answer_may_come_as_the_call_of_a_tool():
    provider = Caller([answering(**VALUE)], repeat=False)
    got = await ask_once(provider, "Ada is 36.", SCHEMA)
    assert VALUE == got.value
    [spec] = provider.requests[0][1]
    assert SCHEMA.json == spec["function"]["parameters"]


async def test_a_tool_call_that_is_wrong_is_repaired_and_a_text_in_its_place_is_read():
    provider = Caller([answering(name="Ada"), answering(name="Ada", age=None), RIGHT], repeat=False)
    got = await ask_once(provider, "Ada is 36.", SCHEMA)
    assert (VALUE, 3) == (got.value, got.attempts)


async def test_arguments_that_are_no_json_are_told_to_the_model():
    broken = ToolCall(id="c", name="answer", problem="The arguments are not JSON: line 1.")
    provider = Caller([[broken, Stop(reason="tool_calls")], answering(**VALUE)], repeat=False)
    await ask_once(provider, "Ada is 36.", SCHEMA)
    assert "The arguments are not JSON: line 1." in provider.requests[1][0][-1]["content"]


async def test_who_can_only_talk_is_asked_for_a_block():
    provider = Talker([f"Sure!\n\n~~~json\n{RIGHT}\n~~~"], repeat=False)
    assert VALUE == (await ask_once(provider, "Ada is 36.", SCHEMA)).value
    asked = provider.requests[0][0][-1]["content"]
    assert asked.startswith("Ada is 36.\n\nAnswer with JSON")
    assert '"required": ["name", "age"]' in asked


async def test_a_list_answered_without_its_object_is_understood():
    got = await ask_once(ScriptedProvider(["[1, 2]"]), "1, 2", Schema.of("[int]"))
    assert [1, 2] == got.value


async def test_an_object_whose_only_key_is_value_is_not_taken_apart():
    got = await ask_once(ScriptedProvider(['{"value": 3}']), "3", Schema.of("value int"))
    assert {"value": 3} == got.value


@pytest.mark.parametrize(
    ("stop", "kind"), [("max_tokens", "truncated"), ("refusal", "refused"), ("context_full", "provider")]
)
async def test_the_stop_is_read_before_the_text(stop, kind):
    said = [Saying(text=RIGHT), Usage(input=2, output=1), Stop(reason=stop, detail="why")]
    provider = ScriptedProvider([said], repeat=False)
    with pytest.raises(ExtractionError) as caught:
        await ask_once(provider, "Ada is 36.", SCHEMA)
    assert (kind, 1, Usage(input=2, output=1)) == (
        caught.value.kind,
        caught.value.attempts,
        caught.value.usage,
    )
    assert 3 == len(str(caught.value).splitlines())


async def test_a_failure_after_a_repair_counts_what_was_used_before():
    provider = ScriptedProvider(["no", RateLimited("Slow down.", retry_after=3.0)])
    with pytest.raises(ExtractionError) as caught:
        await ask_once(provider, "Ada is 36.", SCHEMA)
    assert ("provider", 2, Usage(input=1, output=1)) == (
        caught.value.kind,
        caught.value.attempts,
        caught.value.usage,
    )
    assert isinstance(caught.value.__cause__, RateLimited)


def test_the_error_can_be_sent_to_another_process():
    error = ExtractionError("a", "b", "c", kind="refused", errors=["d"], usage=Usage(input=1), attempts=2)
    sent = pickle.loads(pickle.dumps(error))
    assert ("a\nb\nc", "refused", ["d"], Usage(input=1), 2) == (
        str(sent),
        sent.kind,
        sent.errors,
        sent.usage,
        sent.attempts,
    )


async def test_a_providers_own_bug_is_no_crash():
    with pytest.raises(ExtractionError, match="KeyError: 'x'") as caught:
        await ask_once(ScriptedProvider([KeyError("x")]), "Ada is 36.", SCHEMA)
    assert "provider" == caught.value.kind


@pytest.mark.parametrize(
    ("spec", "hold"),
    [("demo", "native"), ("stub", "native"), ("openai:gpt-4o", "native"), ("ollama:x", "grammar")],
)
def test_each_provider_says_how_it_can_be_held(spec, hold):
    options = {"api_key": "planted-key-0123456789"} if spec.startswith("openai") else {}
    assert hold == hold_of(Registry().build(spec, **options), SCHEMA.json)


def test_a_plugin_that_takes_no_schema_answers_by_a_tool_unless_it_says_otherwise():
    class Plugin:
        def fetch(self, messages: Any, tools: Any) -> Any:
            yield {"type": "saying", "text": "hi"}

    assert "tool" == hold_of(adapt(Plugin()), SCHEMA.json)
    Plugin.holds = "text"  # type: ignore[attr-defined]
    assert "text" == hold_of(adapt(Plugin()), SCHEMA.json)


async def test_other_tools_stand_beside_the_one_that_answers():
    look = {"type": "function", "function": {"name": "look", "parameters": {"type": "object"}}}
    taken = {"type": "function", "function": {"name": "answer", "parameters": {"type": "object"}}}
    provider = Caller([ToolCall(id="1", name="look")], repeat=False)
    held = Held(provider, SCHEMA)
    events = [each async for each in held.fetch([{"role": "user", "content": "x"}], [look, taken])]
    assert [ToolCall(id="1", name="look"), Stop(reason="tool_calls")] == events
    assert ["look", "answer", "answer_"] == [tool["function"]["name"] for tool in provider.requests[0][1]]
