"""L3, L7: what the model is sent, and what `/context` says of it."""

from __future__ import annotations

import json
import re
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from agent_magics import tool
from agent_magics.agent.compact import applied
from agent_magics.agent.context import Context
from agent_magics.agent.history_policy import HistoryPolicy
from agent_magics.errors import UsageError
from agent_magics.talk import Image, Saying, Step, Stop, ToolCall, Turn, Usage
from agent_magics.testing import ScriptedProvider
from tests.strategies import TURNS
from tests.strict import check_messages


@tool
def add(a: int, b: int) -> int:
    """Add."""
    return a + b


def turn(number: int, reply: str = "yes", **more: Any) -> Turn:
    return Turn(
        id=f"t{number}",
        prompt=f"prompt {number}",
        steps=(Step(text=reply, stop="end"),),
        reply=reply,
        stop="done",
        **more,
    )


def contents(context: Context, turns: list[Turn]) -> list[str]:
    entries = applied(context.entries(turns), context.compaction_of(turns))
    return [each.message["content"] for each in entries]


def block(shown: str, name: str) -> str:
    """The text under a name in what `/context` shows."""
    found = re.search(rf"^\*\*{name}\*\*\n\n(`{{3,}})text\n(.*?)\n\1$", shown, re.MULTILINE | re.DOTALL)
    assert found, name
    return found[2]


def sizes(shown: str) -> dict[str, tuple[int, int]]:
    rows = re.findall(r"^\| (\w+) \| ([\d,]+) \| ([\d,]+) \|$", shown, re.MULTILINE)
    return {name: (int(a.replace(",", "")), int(b.replace(",", ""))) for name, a, b in rows}


class Windowed(ScriptedProvider):
    """A scripted model with a window."""

    def __init__(self, replies: list, window: int) -> None:
        super().__init__(replies)
        self.window = window


def test_whole_turns_are_sent_in_order():
    assert ["prompt 1", "yes", "prompt 2", "yes"] == contents(Context(), [turn(1), turn(2)])


def test_a_turn_that_was_replaced_is_sent_as_it_is_now():
    context, turns = Context(), [turn(1), turn(2)]
    contents(context, turns)
    turns[0] = turn(7, "no")
    assert ["prompt 7", "no", "prompt 2", "yes"] == contents(context, turns)


def test_other_turns_of_the_same_number_are_other_turns():
    context = Context()
    contents(context, [turn(1), turn(2)])
    assert ["prompt 3", "yes", "prompt 4", "yes"] == contents(context, [turn(3), turn(4)])
    assert [] == contents(context, [])
    assert ["prompt 1", "yes"] == contents(context, [turn(1)])


def test_a_turn_is_encoded_once():
    context, turns = Context(), [turn(1)]
    (first, _), (again, _) = context.entries(turns), context.entries(turns)
    assert first is again


def test_empty_sections_are_left_out():
    context = Context("Be brief.")
    context.sections["none"] = lambda: "  \n"
    context.sections["facts"] = lambda: "The sky is blue.\n"
    assert "Be brief.\n\nThe sky is blue." == context.system()


# -- policies ----------------------------------------------------------------------------------------


def test_replies_sends_prompts_and_final_replies_alone(make):
    session = make(
        ToolCall(id="c", name="add", arguments={"a": 1, "b": 2}), "3", "ok", tools=[add], context="replies"
    )
    session.ask("1 + 2?")
    session.ask("next")
    messages, _ = session.provider.requests[-1]
    assert [("user", "1 + 2?"), ("assistant", "3"), ("user", "next")] == [
        (each["role"], each["content"]) for each in messages[1:]
    ]


def test_last_n_sends_the_last_n_turns_reduced_to_task_and_answer():
    context = Context(policy="last:2")
    assert ["prompt 2", "b", "prompt 3", "c"] == contents(context, [turn(1, "a"), turn(2, "b"), turn(3, "c")])
    assert "last:4" == Context(policy="last").policy


def test_a_pinned_turn_is_sent_under_every_policy():
    context = Context(policy="last:1")
    context.pins.add("t1")
    assert ["prompt 1", "a", "prompt 3", "c"] == contents(context, [turn(1, "a"), turn(2, "b"), turn(3, "c")])


def test_a_running_turn_keeps_its_tool_traffic_under_every_policy(make):
    call = ToolCall(id="c", name="add", arguments={"a": 1, "b": 2})
    session = make(call, "3", tools=[add], context="last:1")
    session.ask("1 + 2?")
    messages, _ = session.provider.requests[-1]
    assert ["system", "user", "assistant", "tool"] == [each["role"] for each in messages]


@pytest.mark.parametrize("policy", ["", "half", "last:0", "last:-1", "last:x", "last:", "full:2", "last:²"])
def test_other_policies_are_refused_in_three_lines(make, policy):
    with pytest.raises(UsageError) as error:
        make(context=policy)
    assert 3 == len(str(error.value).splitlines())
    with pytest.raises(UsageError):
        Context().policy = policy


def test_the_policy_is_set_by_a_command(make):
    session = make()
    assert "**last:3**" in session.command("/context policy last:3")
    assert "last:3" == session.context.policy
    assert "**last:3**" in session.command("/context policy")
    for words in ("policy none", "policies", "policy full now"):
        with pytest.raises(UsageError) as error:
            session.command(f"/context {words}")
        assert 3 == len(str(error.value).splitlines())
    assert "last:3" == session.context.policy


@given(st.lists(TURNS, max_size=6), st.sampled_from(["full", "replies", "last:1", "last:3"]))
def test_every_policy_leaves_what_a_strict_vendor_takes(turns, policy):
    read = HistoryPolicy.read(policy)
    for each in turns:
        assert len(read.messages(each, pinned=False)) >= 2
    for pinned in (False, True):
        for each in turns:
            messages = [message for _, message in read.messages(each, pinned=pinned)]
            assert "user" == messages[0]["role"]
            assert messages[-1]["role"] in ("assistant", "tool")
            places = [place for place, _ in read.messages(each, pinned=pinned)]
            assert len(places) == len(set(places))


def test_stale_turns_and_turns_from_a_file_are_named_to_the_model_and_in_the_list(make):
    session = make("ok")
    old = turn(1, stale=True)
    filed = turn(2, origin="from file <b>talk</b>.ipynb", images=(Image(media_type="image/png", data="AA"),))
    session.conversation.turns += [old, filed, turn(3)]
    shown = session.command("/context")
    assert "| 1 | prompt 1 | " in shown
    assert re.search(r"^\| 1 \|.*\| stale \|$", shown, re.MULTILINE)
    assert re.search(r"^\| 2 \|.*\| from file .* \|$", shown, re.MULTILINE)
    table = shown[: shown.index("**rules**")]
    assert "<b>" not in table
    session.ask("next")
    sent = [str(each["content"]) for each in session.provider.requests[-1][0]]
    assert "(This turn is out of date, for a turn above it was run again since.)\nprompt 1" == sent[1]
    assert "(This turn is from file <b>talk</b>.ipynb.)" in sent[3]
    assert "prompt 3" == sent[5]


# -- /context ----------------------------------------------------------------------------------------


def test_the_context_command_shows_exactly_what_is_sent_with_sizes(make):
    session = make(ToolCall(id="c", name="add", arguments={"a": 1, "b": 2}), "It is 3.", "ok", tools=[add])
    session.context.sections["facts"] = lambda: "The sky is blue."
    session.ask("1 + 2?")
    shown = session.command("/context")
    session.ask("next")
    messages, tools = session.provider.requests[-1]
    assert messages[0]["content"] == f"{block(shown, 'rules')}\n\n{block(shown, 'facts')}"
    assert json.dumps(tools, ensure_ascii=False) == block(shown, "tools")
    assert [json.dumps(each, ensure_ascii=False) for each in messages[1:-1]] == block(
        shown, "messages"
    ).split("\n")
    assert ["rules", "facts", "tools", "history", "task", "results"] == list(sizes(shown))
    total = re.search(r"\| \*\*all\*\* \| \*\*([\d,]+)\*\*", shown)
    assert total
    assert int(total[1].replace(",", "")) == sum(tokens for tokens, _ in sizes(shown).values())
    assert sizes(shown)["results"][1] > len('{"result": 3, "ok": true}')


@pytest.mark.parametrize("policy", ["full", "replies", "last:2"])
@pytest.mark.parametrize("window", [0, 2_000, 100_000])
def test_the_next_request_is_what_the_preview_computed(make, policy, window):
    calls = [ToolCall(id=f"c{n}", name="lines", arguments={"n": 3_000}) for n in range(4)]
    script = [each for call in calls for each in (call, "done")]

    @tool
    def lines(n: int) -> str:
        """Some text."""
        return "x" * n

    session = make(provider=Windowed([*script, "ok"], window), tools=[lines], context=policy)
    for number in range(4):
        session.ask(f"prompt {number}")
    preview = session.context.preview(session.conversation.turns, session.specs(), session.provider)
    shown = session.command("/context")
    session.ask("next")
    messages, _ = session.provider.requests[-1]
    check_messages(messages)
    assert preview.messages == messages[:-1]
    assert [json.dumps(each, ensure_ascii=False) for each in messages[1:-1]] == block(
        shown, "messages"
    ).split("\n")


def test_the_window_and_the_real_count_of_the_last_request_are_told(make):
    told = [Saying(text="Hello!"), Usage(input=300, output=2), Stop(reason="end")]
    session = make(provider=Windowed([told], 10_000))
    assert re.search(r"About \d+ of the model's 10,000 tokens \(\d%\)", session.command("/context"))
    session.ask("hi")
    shown = session.command("/context")
    found = re.search(r"The last request had 300 tokens \(estimated: (\d+)\)", shown)
    assert found
    characters = sum(len(each["content"]) + 8 for each in session.provider.requests[0][0][1:])
    characters += len(session.context.system())
    assert session.context.measure.characters == characters / 300
    assert abs(int(found[1]) - characters / 4) <= 1


def test_a_count_that_can_not_be_one_is_not_believed(make):
    session = make("Hello!")  # its provider tells of one token
    session.ask("hi")
    assert 4.0 == session.context.measure.characters


def test_what_one_model_counted_says_nothing_of_another(make):
    session = make(provider=Windowed([[Saying(text="a"), Usage(input=200), Stop(reason="end")]], 9_000))
    session.ask("hi")
    other = Windowed(["b"], 9_000)
    other.name = "other"
    assert session.context.measure_for(session.provider).told
    assert not session.context.measure_for(other).told


def test_a_fence_in_the_history_does_not_end_the_fence_around_it(make):
    session = make("```python\nprint(1)\n````\n")
    session.ask("code?")
    assert "`````text\n" in session.command("/context")
