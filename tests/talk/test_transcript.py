"""What a provider is sent of a finished turn: every call with its one result, whatever ended the turn."""

from __future__ import annotations

from hypothesis import given

from agent_magics.talk import CallRecord, Image, Opaque, Step, ToolCall, ToolResult, Turn, fold
from agent_magics.talk.transcript import NO_RESULT, turn_messages
from tests import strategies
from tests.strict import check_messages

CALL = ToolCall(id="c1", name="ruler", arguments={"from": "A"})
DONE = CallRecord(call=CALL, shown="ruler", result=ToolResult(ok=True, text='{"km": 42, "ok": true}'))


@given(strategies.turns_told())
def test_every_turn_becomes_messages_that_a_strict_vendor_takes(facts):
    check_messages([{"role": "system", "content": "rules"}, *turn_messages(fold(facts))])


def test_a_turn_with_a_call_becomes_prompt_call_result_and_answer():
    turn = Turn(
        id="t",
        prompt="How far?",
        steps=(Step(text="Let me see.", calls=(DONE,), stop="tool_calls"), Step(text="42 km", stop="end")),
        reply="42 km",
        stop="done",
    )
    expected = [
        {"role": "user", "content": "How far?"},
        {
            "role": "assistant",
            "content": "Let me see.",
            "tool_calls": [{"id": "c1", "name": "ruler", "arguments": {"from": "A"}}],
        },
        {"role": "tool", "tool_call_id": "c1", "content": '{"km": 42, "ok": true}'},
        {"role": "assistant", "content": "42 km"},
    ]
    assert expected == turn_messages(turn)


def test_a_call_without_a_result_gets_one_that_says_so():
    open_ = Step(calls=(CallRecord(call=CALL, shown="ruler"),), stop="tool_calls")
    messages = turn_messages(Turn(id="t", prompt="p", steps=(open_,), stop="cancelled"))
    assert {"role": "tool", "tool_call_id": "c1", "content": NO_RESULT} == messages[2]


def test_a_turn_that_ended_without_an_answer_says_so_and_does_not_repeat_itself():
    step = Step(text="Let me see.", calls=(DONE,), stop="tool_calls")
    messages = turn_messages(Turn(id="t", prompt="p", steps=(step,), reply="Let me see.", stop="max_rounds"))
    assert {"role": "assistant", "content": "(no answer: max_rounds)"} == messages[-1]


def test_an_answer_that_broke_off_is_marked_for_the_model():
    turn = Turn(id="t", prompt="p", steps=(Step(text="The first", stop="cancelled"),), stop="cancelled")
    assert "The first\n\n(This answer broke off here: cancelled.)" == turn_messages(turn)[-1]["content"]


def test_a_turn_that_holds_only_its_reply_sends_it():
    turn = Turn(id="t", prompt="p", reply="42 km", stop="done")
    assert {"role": "assistant", "content": "42 km"} == turn_messages(turn)[-1]


def test_provider_blocks_are_sent_back_only_on_request():
    block = Opaque(provider="demo", block={"signature": "abc"})
    turn = Turn(id="t", prompt="p", steps=(Step(text="x", opaque=(block,), stop="end"),), stop="done")
    assert "opaque" not in turn_messages(turn)[1]
    expected = [{"provider": "demo", "block": {"signature": "abc"}}]
    assert expected == turn_messages(turn, opaque=True)[1]["opaque"]


def test_pictures_stand_before_the_words_that_they_belong_to():
    turn = Turn(
        id="t", prompt="What is this?", images=(Image(media_type="image/png", data="aGk="),), stop="done"
    )
    expected = [
        {"type": "image", "media_type": "image/png", "data": "aGk="},
        {"type": "text", "text": "What is this?"},
    ]
    assert expected == turn_messages(turn)[0]["content"]
