"""L4, L9: rounds of calls, those that run together, and the caps on rounds that lead nowhere."""

from __future__ import annotations

import asyncio
import json
import threading
from itertools import count

import pytest

from agent_magics import tool
from agent_magics.errors import Halt, UsageError
from agent_magics.talk import ReplyReceived, Saying, Stop, ToolCall, ToolCalled, ToolReturned
from agent_magics.testing import RecordingView, ScriptedProvider
from tests.strict import check_messages


@tool
def echo(x: int) -> int:
    return x


@tool
def fail(x: int = 0) -> None:
    raise ValueError(f"no {x}")


def calls(name: str, *numbers: int) -> list[ToolCall]:
    return [ToolCall(id=f"c{x}", name=name, arguments={"x": x}) for x in numbers]


class Tireless(ScriptedProvider):
    """Calls a tool until it is told that it may not; ``argument`` gives each round's argument."""

    def __init__(self, name: str, argument) -> None:
        rounds = count()
        super().__init__([lambda messages: [self._call(name, argument, next(rounds))]])

    def _call(self, name, argument, number):
        if self.requests and "limit of this turn" in str(self.last):
            return Saying(text="That is all.")
        return ToolCall(id=f"c{number}", name=name, arguments={"x": argument(number)})

    async def fetch(self, messages, tools, *, schema=None):
        self.last = messages[-1]["content"]
        async for event in super().fetch(messages, tools, schema=schema):
            yield event


# -- caps ------------------------------------------------------------------------------------------


def test_after_25_rounds_the_model_is_asked_once_for_an_answer_without_tools(make):
    session = make(provider=Tireless("echo", lambda number: number), tools=[echo])
    turn = session.ask("go")
    assert ("max_rounds", "That is all.", 26) == (turn.stop, turn.reply, len(turn.steps))
    assert 25 == len(turn.calls)
    messages, tools = session.provider.requests[-1]
    assert [] == tools
    assert "You have reached the limit of this turn (max rounds)." in messages[-1]["content"]
    check_messages(messages)


def test_the_number_of_rounds_can_be_set_for_the_session_and_for_one_turn(make):
    session = make(provider=Tireless("echo", lambda number: number), tools=[echo], max_rounds=3)
    assert 3 == len(session.ask("go").calls)
    assert 1 == len(session.start("go", max_rounds=1).result(10).calls)


@pytest.mark.parametrize("rounds", [0, -1])
def test_a_session_of_no_rounds_is_refused(make, rounds):
    with pytest.raises(UsageError, match="must be at least 1"):
        make(max_rounds=rounds)


def test_three_failing_rounds_in_a_row_are_too_many(make):
    turn = make(provider=Tireless("fail", lambda number: number), tools=[fail]).ask("go")
    assert ("too_many_failures", 3, "That is all.") == (turn.stop, len(turn.calls), turn.reply)


def test_a_success_between_failures_begins_the_count_anew(make):
    replies = [calls("fail", 1), calls("fail", 2), calls("echo", 1), calls("fail", 3), calls("fail", 4), "ok"]
    assert "done" == make(*replies, tools=[echo, fail]).ask("go").stop


def test_a_round_with_one_success_is_no_failing_round(make):
    replies = [[*calls("fail", number), *calls("echo", number)] for number in range(5)]
    assert "done" == make(*replies, "ok", tools=[echo, fail]).ask("go").stop


def test_three_rounds_that_repeat_an_earlier_one_are_no_progress(make):
    turn = make(provider=Tireless("echo", lambda number: 7), tools=[echo]).ask("go")
    assert ("no_progress", 4) == (turn.stop, len(turn.calls))


@pytest.mark.parametrize("period", [2, 3, 5])
def test_rounds_that_go_in_a_circle_are_no_progress(make, period):
    turn = make(provider=Tireless("echo", lambda number: number % period), tools=[echo]).ask("go")
    assert ("no_progress", period + 3) == (turn.stop, len(turn.calls))


def test_the_same_call_with_a_new_result_is_progress(make):
    numbers = count()

    @tool
    def tick(x: int) -> int:
        return next(numbers)

    turn = make(provider=Tireless("tick", lambda number: 7), tools=[tick], max_rounds=8).ask("go")
    assert ("max_rounds", 8) == (turn.stop, len(turn.calls))


def test_the_same_long_result_again_is_no_progress(make):
    @tool
    def long(x: int) -> str:
        return "x" * 50_000

    assert "no_progress" == make(provider=Tireless("long", lambda _: 7), tools=[long]).ask("go").stop


def test_calls_in_the_final_answer_are_not_run_and_each_has_its_result(make):
    final = [Saying(text="One more."), *calls("echo", 2), Stop(reason="tool_calls")]
    session = make(calls("echo", 1), final, "ok", tools=[echo], max_rounds=1)
    turn = session.ask("go")
    assert ("max_rounds", "One more.") == (turn.stop, turn.reply)
    assert [True, False] == [call.ok for call in turn.calls]
    session.ask("again")
    check_messages(session.provider.requests[-1][0])


# -- together --------------------------------------------------------------------------------------


class Meeting:
    """A tool whose calls wait for each other, and who ran beside whom."""

    def __init__(self, expected: int) -> None:
        self.expected, self.now, self.most = expected, 0, 0
        self.all_there = asyncio.Event()

    def tool(self, **marks):
        @tool(name="meet", **marks)
        async def meet(x: int) -> int:
            self.now += 1
            self.most = max(self.most, self.now)
            if self.now >= self.expected:
                self.all_there.set()
            await asyncio.wait_for(self.all_there.wait(), 5)
            self.now -= 1
            return x

        return meet


def test_calls_that_are_safe_run_together_and_four_at_once(make):
    meeting = Meeting(expected=4)
    turn = make(calls("meet", *range(10)), "ok", tools=[meeting.tool(parallel_safe=True)]).ask("go")
    assert (4, 10) == (meeting.most, sum(call.ok for call in turn.calls))


def test_other_calls_run_one_after_the_other(make):
    meeting = Meeting(expected=1)
    make(calls("meet", *range(4)), "ok", tools=[meeting.tool()]).ask("go")
    assert 1 == meeting.most


def test_synchronous_tools_run_together_as_well(make):
    meet = threading.Barrier(3)

    @tool(parallel_safe=True)
    def wait(x: int) -> int:
        meet.wait(5)
        return x

    turn = make(calls("wait", 1, 2, 3), "ok", tools=[wait]).ask("go")
    assert [True] * 3 == [call.ok for call in turn.calls]


def test_results_stand_in_the_order_of_the_calls_not_in_that_of_their_coming(make):
    came: list[int] = []
    done = [asyncio.Event() for _ in range(4)]
    done[3].set()

    @tool(parallel_safe=True)
    async def backwards(x: int) -> int:
        await asyncio.wait_for(done[x].wait(), 5)
        came.append(x)
        if x:
            done[x - 1].set()
        return x

    session = make(calls("backwards", 0, 1, 2, 3), "ok", tools=[backwards])
    turn = session.ask("go")
    assert [3, 2, 1, 0] == came
    assert [0, 1, 2, 3] == [json.loads(call.result.text)["result"] for call in turn.calls]
    sent = [
        message["tool_call_id"] for message in session.provider.requests[1][0] if message["role"] == "tool"
    ]
    assert ["c0", "c1", "c2", "c3"] == sent


def test_a_call_that_is_not_safe_waits_for_those_before_it_and_holds_those_after_it(make):
    order: list[str] = []

    @tool(parallel_safe=True)
    async def safe(x: int) -> None:
        order.append(f"safe {x}")
        await asyncio.sleep(0)
        order.append(f"safe {x}")

    @tool
    async def alone(x: int) -> None:
        order.append("alone")
        await asyncio.sleep(0)
        order.append("alone")

    sequence = [
        *calls("safe", 1, 2),
        ToolCall(id="a", name="alone", arguments={"x": 0}),
        *calls("safe", 3, 4),
    ]
    make(sequence, "ok", tools=[safe, alone]).ask("go")
    assert ["alone", "alone"] == order[4:6]
    assert [{"safe 1", "safe 2"}, {"safe 3", "safe 4"}] == [set(order[:4]), set(order[6:])]


def test_a_halt_in_one_of_several_ends_them_all_and_each_has_a_result(make):
    cancelled: list[int] = []

    @tool(parallel_safe=True)
    async def work(x: int) -> int:
        if x == 2:
            raise Halt("Stop here.")
        try:
            await asyncio.sleep(60)
        finally:
            cancelled.append(x)
        return x

    view = RecordingView()
    turn = make(calls("work", *range(8)), tools=[work]).ask("go", on_event=view)
    assert ("halted", "Stop here.", [0, 1, 3]) == (turn.stop, turn.error, sorted(cancelled))
    assert 8 == len(view.of(ToolCalled)) == len(view.of(ToolReturned)) == len(turn.calls)
    assert all(call.result for call in turn.calls)


def test_every_call_of_every_reply_is_called_and_returned_once(make):
    view = RecordingView()
    replies = [[*calls("echo", 1, 2), ToolCall(id="u", name="nobody")], calls("fail", 1), "ok"]
    make(*replies, tools=[echo, fail]).ask("go", on_event=view)
    asked = [call.id for reply in view.of(ReplyReceived) for call in reply.calls]
    assert asked == [event.call.id for event in view.of(ToolCalled)]
    assert asked == [event.id for event in view.of(ToolReturned)]
