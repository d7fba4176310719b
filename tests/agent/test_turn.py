"""L3, L5, L6: one turn from prompt to reply, and every way in which it can end."""

from __future__ import annotations

import json

import pytest

from agent_magics import tool
from agent_magics.errors import Halt, RateLimited, Unreachable
from agent_magics.talk import (
    STOPS,
    Opaque,
    ReplyReceived,
    RequestSent,
    Saying,
    Stop,
    Thinking,
    ToolCall,
    ToolCalled,
    ToolReturned,
    TurnBegan,
    TurnEnded,
    Usage,
)
from agent_magics.testing import RecordingView, ScriptedProvider


@tool
def add(a: int, b: int) -> int:
    """Add."""
    return a + b


ADD = ToolCall(id="c1", name="add", arguments={"a": 1, "b": 2})


def test_a_reply_without_calls_ends_the_turn(make):
    turn = make("Hello!").ask("hi")
    assert ("hi", "Hello!", "done", "") == (turn.prompt, turn.reply, turn.stop, turn.error)
    assert (1, Usage(input=1, output=1)) == (len(turn.steps), turn.usage)


def test_a_call_is_run_and_its_result_sent_back(make):
    session = make([Saying(text="I add."), ADD], "It is 3.", tools=[add])
    turn = session.ask("1 + 2?")
    assert ("It is 3.", "done") == (turn.reply, turn.stop)
    (first, _), (second, _) = session.provider.requests
    assert ["system", "user"] == [message["role"] for message in first]
    expected = [
        {"role": "user", "content": "1 + 2?"},
        {
            "role": "assistant",
            "content": "I add.",
            "tool_calls": [{"id": "c1", "name": "add", "arguments": {"a": 1, "b": 2}}],
        },
        {"role": "tool", "tool_call_id": "c1", "content": '{"result": 3, "ok": true}'},
    ]
    assert expected == second[1:]


def test_the_model_is_told_of_the_tools_in_the_function_format(make):
    session = make("x", tools=[add])
    session.ask("hi")
    ((_, tools),) = session.provider.requests
    function = tools[0]["function"]
    assert ("function", "add", "Add.") == (tools[0]["type"], function["name"], function["description"])
    assert ["a", "b"] == function["parameters"]["required"]


def test_earlier_turns_are_part_of_the_next_request(make):
    session = make(ADD, "It is 3.", "You asked for a sum.", tools=[add])
    session.ask("1 + 2?")
    session.ask("What did I ask?")
    roles = [message["role"] for message in session.provider.requests[-1][0]]
    assert ["system", "user", "assistant", "tool", "assistant", "user"] == roles
    assert ["1 + 2?", "What did I ask?"] == [turn.prompt for turn in session.conversation.turns]


def test_the_system_prompt_is_rendered_anew_for_every_request_and_is_never_history(make):
    numbers = iter(range(10))
    session = make(ADD, "3", "ok", tools=[add], system_prompt="Be brief.")
    session.context.sections["count"] = lambda: f"request {next(numbers)}"
    session.ask("1 + 2?")
    session.ask("again")
    systems = [messages[0]["content"] for messages, _ in session.provider.requests]
    assert ["Be brief.\n\nrequest 0", "Be brief.\n\nrequest 1", "Be brief.\n\nrequest 2"] == systems
    assert all("system" != m["role"] for messages, _ in session.provider.requests for m in messages[1:])


def test_a_tool_that_is_added_while_the_turn_runs_is_offered_in_the_next_round(make):
    session = make(ToolCall(id="c", name="grow"), "ok")

    @tool
    def grow() -> str:
        session.toolbox.add(add)
        return "grown"

    session.toolbox.add(grow)
    session.ask("grow")
    offered = [[spec["function"]["name"] for spec in tools] for _, tools in session.provider.requests]
    assert [["grow"], ["grow", "add"]] == offered


def test_provider_blocks_are_replayed_word_for_word_within_the_turn_and_not_after(make):
    block = Opaque(provider="scripted", block={"signature": ""})
    session = make([Thinking(text="hm"), block, ADD], "3", "ok", tools=[add])
    session.ask("1 + 2?")
    session.ask("again")
    second, third = (messages for messages, _ in session.provider.requests[1:])
    assert [{"provider": "scripted", "block": {"signature": ""}}] == second[2]["opaque"]
    assert not any("opaque" in message for message in third)


def test_a_turn_is_told_in_events_and_the_last_one_is_its_end(make):
    view = RecordingView()
    make([Thinking(text="hm"), Saying(text="I "), Saying(text="add."), ADD], "3", tools=[add]).ask(
        "1 + 2?", on_event=view
    )
    expected = [
        TurnBegan,
        RequestSent,
        Thinking,
        Saying,
        Saying,
        ReplyReceived,
        ToolCalled,
        ToolReturned,
        RequestSent,
        Saying,
        ReplyReceived,
        TurnEnded,
    ]
    assert expected == [type(event) for event in view.events]


def test_what_was_told_and_what_is_kept_are_the_same_turn(make):
    view = RecordingView()
    session = make(ADD, "3", tools=[add])
    turn = session.ask("1 + 2?", on_event=view)
    assert view.turn == turn == session.turn == session.conversation.turns[0]


def test_an_unknown_tool_is_shown_with_a_question_mark_and_the_turn_goes_on(make):
    turn = make(ToolCall(id="c", name="ad", arguments={"a": 1}), "Sorry.", tools=[add]).ask("1 + 2?")
    (call,) = turn.calls
    assert ("ad?", False, "done") == (call.shown, call.ok, turn.stop)
    assert 'unknown tool: "ad". Available: add. Did you mean add?' == json.loads(call.result.text)["error"]


def test_a_call_through_an_alias_is_shown_under_the_tools_own_name(make):
    @tool(aliases=("plus",))
    def add(a: int, b: int) -> int:
        return a + b

    turn = make(ToolCall(id="c", name="plus", arguments={"a": 1, "b": 2}), "3", tools=[add]).ask("1 + 2?")
    assert [("add", "plus", True)] == [(call.shown, call.name, call.ok) for call in turn.calls]


def test_calls_without_ids_and_with_the_same_id_are_told_apart(make):
    calls = [
        ToolCall(id=key, name="add", arguments={"a": 1, "b": b}) for b, key in enumerate(["", "x", "x", ""])
    ]
    session = make(calls, calls[1], "done", tools=[add])
    turn = session.ask("many")
    assert 5 == len({call.id for call in turn.calls})
    assert ["1", "2", "3", "4", "2"] == [str(json.loads(call.result.text)["result"]) for call in turn.calls]


# -- every stop reason that can occur -------------------------------------------------------------


def test_truncated_when_the_length_limit_was_reached_and_no_call_of_that_reply_runs(make):
    turn = make([Saying(text="It is"), ADD, Stop(reason="max_tokens")], tools=[add]).ask("1 + 2?")
    assert ("truncated", "It is") == (turn.stop, turn.reply)
    assert "cut off by its length limit" in turn.calls[0].result.text
    assert not turn.calls[0].ok


def test_refused_by_model_when_the_model_declines(make):
    turn = make([Saying(text="I won't."), Stop(reason="refusal")]).ask("do evil")
    assert ("refused_by_model", "I won't.") == (turn.stop, turn.reply)


def test_context_full_when_the_window_is_too_small(make):
    assert "context_full" == make([Stop(reason="context_full")]).ask("a long story").stop


def test_halted_when_a_tool_ends_the_turn(make):
    @tool
    def finish() -> None:
        raise Halt("All is said.", "The tool decided so.")

    turn = make([Saying(text="So."), ToolCall(id="c", name="finish"), ADD], tools=[finish, add]).ask("go")
    assert ("halted", "So.", "All is said.\nThe tool decided so.") == (turn.stop, turn.reply, turn.error)
    assert [False, False] == [call.ok for call in turn.calls]


def test_halted_when_a_hook_ends_the_turn(make):
    def stop(use):
        raise Halt("Not today.")

    session = make(ADD, tools=[add])
    session.toolbox.before(stop)
    assert ("halted", "Not today.") == ((turn := session.ask("1 + 2?")).stop, turn.error)


FAILURE = Unreachable("No connection.", "The cable is out.", "Plug it in.")


def test_provider_error_before_the_first_event_is_told_with_what_to_do(make):
    session = make(FAILURE, "Hello again!")
    turn = session.ask("hi")
    assert ("provider_error", "No connection.\nThe cable is out.\nPlug it in.") == (turn.stop, turn.error)
    assert ("", "Hello again!") == (turn.reply, session.ask("again").reply)


def test_provider_error_after_the_first_event_keeps_the_text_and_runs_no_call(make):
    session = make([Saying(text="I shall "), ADD, FAILURE], "ok", tools=[add])
    turn = session.ask("1 + 2?")
    assert ("provider_error", "I shall ", (), "failed") == (
        turn.stop,
        turn.reply,
        turn.calls,
        turn.steps[0].stop,
    )
    session.ask("again")
    assert "This answer broke off here: failed." in session.provider.requests[-1][0][2]["content"]


def test_provider_error_in_a_later_step_keeps_the_earlier_ones(make):
    turn = make([Saying(text="I add."), ADD], RateLimited("Not now."), tools=[add]).ask("1 + 2?")
    assert ("provider_error", "I add.", 2, True) == (
        turn.stop,
        turn.reply,
        len(turn.steps),
        turn.calls[0].ok,
    )


@pytest.mark.parametrize(
    "error",
    [
        ValueError("garbage"),
        KeyError(),
        SystemExit(3),
        KeyboardInterrupt(),
        RecursionError(),
    ],
)
def test_whatever_a_provider_raises_the_session_stays_usable(make, error):
    session = make([Saying(text="a"), error], "Hello again!")
    turn = session.ask("hi")
    assert ("provider_error", "a") == (turn.stop, turn.reply)
    assert 3 == len(turn.error.split("\n"))
    assert "Hello again!" == session.ask("again").reply


def test_what_a_provider_says_beyond_our_words_is_passed_over(make):
    turn = make([{"type": "telepathy"}, Saying(text="hi"), None, 5, Stop(reason="end")]).ask("hi")
    assert ("hi", "done") == (turn.reply, turn.stop)


def test_an_empty_reply_is_a_reply(make):
    turn = make([]).ask("hi")
    assert ("", "done") == (turn.reply, turn.stop)


def test_arguments_that_could_not_be_sent_again_are_mended_or_refused(make):
    half = ToolCall(id="c1", name="say", arguments={"text": "caf\udce9 \ud83d\ude00"})
    odd = ToolCall(id="c2", name="say", arguments={"text": {1, 2}})

    @tool
    def say(text: str) -> str:
        return text

    turn = make([half, odd], [Saying(text="\ud83d"), Saying(text="\ude00")], tools=[say]).ask("hi \ud800")
    assert ("hi \ufffd", "😀") == (turn.prompt, turn.reply)
    assert '{"result": "caf\ufffd 😀", "ok": true}' == turn.calls[0].result.text
    assert "The arguments are not JSON" in turn.calls[1].result.text


def test_every_stop_that_a_turn_can_have_is_in_the_list():
    assert 11 == len(STOPS) == len(set(STOPS))
    assert isinstance(ScriptedProvider().name, str)
