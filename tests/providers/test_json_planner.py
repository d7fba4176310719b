"""The JSON planner: plans become calls, answers stream, and small models are led."""

from __future__ import annotations

import json
from typing import Any

import jsonschema
import pytest

from agent_magics.errors import UsageError
from agent_magics.providers import Registry
from agent_magics.providers.guidance import related
from agent_magics.providers.json_planner import ANSWER, JSONPlanner, signature, steps_schema
from agent_magics.talk import Saying, Stop, Thinking, ToolCall, Usage
from agent_magics.talk.transcript import assistant_message
from agent_magics.testing import ScriptedProvider
from tests.providers.test_contract import AFTER_A_TOOL, TOOL

ASK = [{"role": "system", "content": "Be kind."}, {"role": "user", "content": "the weather in Oslo?"}]


class Recorded(ScriptedProvider):
    """A scripted provider that keeps the schemas that it was held to."""

    def __init__(self, *pieces: str) -> None:
        events = [Thinking(text="hm"), *(Saying(text=piece) for piece in pieces)]
        super().__init__([[*events, Usage(input=2, output=1), Stop(reason="end")]])
        self.schemas: list[Any] = []

    def fetch(self, messages: Any, tools: Any, *, schema: Any = None) -> Any:
        self.schemas.append(schema)
        return super().fetch(messages, tools, schema=schema)


async def planned(*pieces: str, messages: Any = ASK, tools: Any = (TOOL,), **options: Any) -> Any:
    inner = Recorded(*pieces)
    events = [event async for event in JSONPlanner(inner, **options).fetch(messages, tools)]
    return events, inner


async def test_an_answer_streams_while_its_json_arrives():
    events, _ = await planned('{"answer"', ': "It ra', 'ins."', "}")
    expected = [
        Thinking(text="hm"),
        Saying(text="It ra"),
        Saying(text="ins."),
        Usage(input=2, output=1),
        Stop(reason="end"),
    ]
    assert expected == events


async def test_steps_become_calls_with_ids_of_their_own():
    plan = {
        "steps": [{"tool": "get_weather", "params": {"city": "Oslo"}}, {"tool": "no_such_tool", "params": {}}]
    }
    events, _ = await planned(json.dumps(plan))
    calls = [event for event in events if isinstance(event, ToolCall)]
    assert [("get_weather", {"city": "Oslo"}), ("no_such_tool", {})] == [
        (one.name, one.arguments) for one in calls
    ]
    assert len({call.id for call in calls}) == 2
    assert Stop(reason="tool_calls") == events[-1]


async def test_json_with_words_or_a_fence_around_it_is_found():
    events, _ = await planned('Sure!\n```json\n{"answer": "It rains."}\n```')
    assert Saying(text="It rains.") in events


async def test_a_model_that_no_schema_holds_has_simply_answered():
    events, _ = await planned("It rains, ", "I think.")
    assert Saying(text="It rains, I think.") in events


async def test_params_that_are_no_object_make_a_call_that_must_not_run():
    events, _ = await planned('{"steps": [{"tool": "get_weather", "params": "Oslo"}]}')
    [made] = [event for event in events if isinstance(event, ToolCall)]
    assert made.problem == "The params must be a JSON object."


async def test_a_plan_that_was_cut_off_runs_nothing():
    inner = ScriptedProvider([[Saying(text='{"steps": [{"tool": "get_w'), Stop(reason="max_tokens")]])
    events = [event async for event in JSONPlanner(inner).fetch(ASK, [TOOL])]
    assert [Stop(reason="max_tokens")] == events


async def test_the_model_is_told_the_tools_in_words_and_held_to_the_form():
    _, inner = await planned('{"answer": "x"}')
    [(messages, tools)] = inner.requests
    assert [] == tools
    assert signature(TOOL) in messages[0]["content"]
    assert messages[0]["content"].startswith("Be kind.")
    [schema] = inner.schemas
    for plan in (
        {"answer": "x"},
        {"steps": [{"tool": "get_weather", "params": {"city": "Oslo"}}]},
        {"steps": [{"tool": "a_new_tool", "params": {"n": 1}}]},
    ):
        jsonschema.validate(plan, schema)
    for plan in ({}, {"steps": []}, {"steps": [{"tool": "Not A Name", "params": {}}]}, {"answer": 3}):
        with pytest.raises(jsonschema.ValidationError):
            jsonschema.validate(plan, schema)


async def test_earlier_calls_and_results_are_told_in_the_same_form():
    _, inner = await planned('{"answer": "x"}', messages=AFTER_A_TOOL)
    [(messages, _)] = inner.requests
    assert {"steps": [{"tool": "get_weather", "params": {"city": "Zürich"}}]} == json.loads(
        messages[-2]["content"]
    )
    assert messages[-1]["content"].startswith("Result of get_weather: ")


async def test_without_tools_it_stands_aside():
    events, inner = await planned("plain text", tools=())
    assert Saying(text="plain text") in events
    assert [None] == inner.schemas


async def test_a_small_model_may_only_choose_forms_first_and_only_answer_afterwards():
    _, before = await planned('{"answer": "x"}', guided=True)
    _, after = await planned('{"answer": "x"}', messages=AFTER_A_TOOL, guided=True)
    assert [steps_schema([TOOL], invent=False)] == before.schemas
    assert [ANSWER] == after.schemas


async def test_a_small_model_that_is_asked_for_nothing_of_a_tool_simply_chats():
    hello = [{"role": "user", "content": "hello!"}]
    events, inner = await planned("Hi!", messages=hello, guided=True)
    assert Saying(text="Hi!") in events
    assert [None] == inner.schemas


def test_tools_are_picked_by_the_words_that_they_share_with_the_request():
    other = {"type": "function", "function": {"name": "count_words", "description": "Count the words."}}
    assert [TOOL] == related(ASK, [other, TOOL])
    assert [other] == related([{"role": "user", "content": "How many words?"}], [TOOL, other])


def test_a_small_model_is_not_asked_to_write_programs():
    code = {"type": "object", "properties": {"code": {"type": "string"}}}
    run_python = {"function": {"name": "run_python", "description": "Run Python.", "parameters": code}}
    assert [] == related([{"role": "user", "content": "Run some Python!"}], [run_python])


def test_a_tool_is_picked_by_the_first_line_of_what_it_says_about_itself():
    tool = {"function": {"name": "more", "description": "Read one page.\nFor whoever wonders."}}
    assert [] == related([{"role": "user", "content": "Who wonders?"}], [tool])


def test_the_planner_is_chosen_by_option_or_suits_the_model(tiny):
    by_default: Any = Registry().build(f"llama:{tiny}")
    assert "json" == by_default.planner
    assert isinstance(by_default, JSONPlanner)
    assert "native" not in repr(Registry().build(f"llama:{tiny}", planner="native"))
    assert isinstance(Registry().build("stub", planner="json"), JSONPlanner)
    assert Registry().build("stub", planner="classic").name == "demo"
    with pytest.raises(UsageError, match="no planner 'jsn'"):
        Registry().build("stub", planner="jsn")


@pytest.mark.local_model
async def test_the_teaching_model_calls_a_tool_reads_its_result_and_answers(smollm2):
    """The whole loop of a plan, on a real model."""
    provider = Registry().build(f"llama:{smollm2}", temperature=0, max_tokens=150)
    messages: Any = [{"role": "user", "content": "Convert 30 degrees Celsius to Fahrenheit."}]
    number = {"type": "object", "properties": {"celsius": {"type": "number"}}, "required": ["celsius"]}
    tool = {
        "type": "function",
        "function": {
            "name": "celsius_to_fahrenheit",
            "description": "Convert a temperature.",
            "parameters": number,
        },
    }
    [call] = [one async for one in provider.fetch(messages, [tool]) if isinstance(one, ToolCall)]
    assert ("celsius_to_fahrenheit", {"celsius": 30}) == (call.name, call.arguments)
    messages += [
        assistant_message("", [call]),
        {"role": "tool", "tool_call_id": call.id, "content": '{"value": 86.0, "ok": true}'},
    ]
    events = [event async for event in provider.fetch(messages, [tool])]
    await provider.aclose()
    assert "86" in "".join(event.text for event in events if isinstance(event, Saying))
    assert Stop(reason="end") == events[-1]
