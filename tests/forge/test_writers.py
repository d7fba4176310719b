"""Who writes a tool: the model, recipes, a stronger generator, the person with /make."""

from __future__ import annotations

import json

import pytest

from agent_magics import Budget
from agent_magics.errors import UsageError
from agent_magics.talk import Saying, Stop, ToolCall, Usage
from agent_magics.testing import FakeWorkbench, ScriptedProvider
from tests.forge.conftest import SOURCE, Open, make_call, told, use


def test_make_command_writes_one_tool_and_binds_it(opened: Open) -> None:
    bench = FakeWorkbench()
    session = opened(answers=("approve",), generator="demo", workbench=bench)
    said = session.command("/make count the vowels in a text --into vowels")
    assert "Made `count_vowels`" in said and "| `count_vowels` |" in said
    assert 2 == bench.namespace["vowels"]("banal")


def test_make_command_may_have_a_limit_in_dollars(opened: Open) -> None:
    session = opened(answers=("approve",), generator="demo", budget=Budget(usd=1))
    assert "Made `count_vowels`" in session.command("/make count the vowels in a text")
    assert session.command("/trace").endswith("cost $0")


def test_make_command_has_the_sessions_own_model_write(opened: Open) -> None:
    draft = {"name": "blorps_to_metres", "description": "d", "source": SOURCE, "example": {"blorps": 1}}
    session = opened(json.dumps(draft), answers=("approve",))
    assert "Made `blorps_to_metres`, version 1" in session.command("/make blorps to metres")


def test_make_command_without_a_description_says_what_to_write(opened: Open) -> None:
    with pytest.raises(UsageError, match="nothing to make"):
        opened().command("/make")


def test_demo_plans_and_writes_without_a_key(opened: Open) -> None:
    session = opened(provider="demo", answers=("approve",))
    turn = session.ask("How many blorps is 10 km? A blorp is 3.7 metres.")
    assert "2,702.7" in turn.reply
    assert ["make_tool", "kilometres_to_blorps"] == [call.name for call in turn.calls]


def test_unknown_name_makes_the_tool_with_recipes(opened: Open) -> None:
    call = ToolCall(id="use", name="celsius_to_kelvin", arguments={"celsius": 30})
    session = opened(call, "ok", answers=("approve",), tool_making="auto", generator="demo")
    turn = session.ask("30 degrees Celsius in Kelvin?")
    assert 303.15 == pytest.approx(told(turn, 0)["result"])


def test_unknown_name_stays_unknown_where_tools_are_made_on_request_only(opened: Open) -> None:
    call = ToolCall(id="use", name="celsius_to_kelvin", arguments={"celsius": 30})
    assert "unknown tool" in told(opened(call, "ok").ask("30 C?"), 0)["error"]


def test_strong_generator_writes_for_a_small_planner_and_repairs(opened: Open) -> None:
    draft = {
        "name": "blorps_to_metres",
        "description": "d",
        "source": "import os\n" + SOURCE,
        "example": {"blorps": 1},
    }
    writer = ScriptedProvider([json.dumps(draft), json.dumps({**draft, "source": SOURCE})], repeat=False)
    session = opened(make_call(source=None), use(), "ok", answers=("approve",), generator=writer)
    turn = session.ask("2 blorps?")
    assert 7.4 == told(turn, 1)["result"]
    assert "'os'" in writer.requests[1][0][-1]["content"]


def test_what_the_generator_used_is_the_turns_and_is_told_by_its_stages(opened: Open) -> None:
    draft = {"name": "blorps_to_metres", "description": "d", "source": SOURCE, "example": {"blorps": 1}}
    wrote = [Saying(text=json.dumps(draft)), Usage(input=300, output=90), Stop(reason="end")]
    writer = ScriptedProvider([wrote], repeat=False)
    session = opened(make_call(source=None), use(), "ok", answers=("approve",), generator=writer)
    turn = session.ask("2 blorps?")
    stages = {stage.name: stage for stage in turn.calls[0].stages}
    assert ("scripted:script", Usage(input=300, output=90)) == (stages["draft"].model, stages["draft"].usage)
    assert Usage() == stages["check"].usage
    assert sum((step.usage.total for step in turn.steps), 390) == turn.usage.total
    assert 4 == session.spent.rounds  # three replies of the planner, one of the writer
