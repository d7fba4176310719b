"""M6: a budget ends a turn cleanly, with what it had, and says which limit it was."""

from __future__ import annotations

import threading
import time

import pytest

from agent_magics import tool
from agent_magics.agent.budget import Budget, Ledger, Spent
from agent_magics.errors import UsageError
from agent_magics.talk import Saying, Step, Stop, ToolCall, Turn, Usage
from agent_magics.testing import FakeAsker, Hang, RecordingView, ScriptedProvider
from tests.patience import PROMPT
from tests.strict import check_messages


@tool
def echo(x: int) -> int:
    return x


@tool(asks=True)
def remove() -> None: ...


def dollar_a_token(provider: str, model: str, usage: Usage) -> float:
    return float(usage.total)


def asking(number: int, tokens: int = 10) -> list:
    """A reply that calls a tool, and says how many tokens it took."""
    call = ToolCall(id=f"c{number}", name="echo", arguments={"x": number})
    return [Saying(text=f"Step {number}."), call, Usage(input=tokens), Stop(reason="tool_calls")]


def first_line(turn: Turn) -> str:
    return turn.error.split("\n")[0]


LIMITS = [
    (Budget(usd=25), "Stopped: the budget of this turn is used up: $30.00 of $25.00."),
    (Budget(tokens=25), "Stopped: the budget of this turn is used up: 30 tokens of 25 tokens."),
    (Budget(rounds=3), "Stopped: the budget of this turn is used up: 3 requests of 3 requests."),
]


@pytest.mark.parametrize(("budget", "said"), LIMITS)
def test_a_turn_ends_at_its_limit_with_what_it_had_and_says_which_one_it_was(make, budget, said):
    session = make(*map(asking, range(9)), tools=[echo], budget=budget, price=dollar_a_token)
    turn = session.ask("go")
    assert ("budget", "Step 2.", said) == (turn.stop, turn.reply, first_line(turn))
    assert 3 == len(session.provider.requests)


def test_calls_whose_results_nobody_would_read_are_not_run(make):
    session = make(asking(0), "Hello!", tools=[echo], budget=Budget(tokens=5))
    turn = session.ask("go")
    assert ["c0"] == [call.id for call in turn.calls]
    assert "This call was not run" in turn.calls[0].result.text
    session.budget = Budget()
    assert "Hello!" == session.ask("again").reply
    check_messages(session.provider.requests[-1][0])


def test_a_turn_that_is_done_is_done_also_beyond_its_limit(make):
    session = make([Saying(text="Long."), Usage(output=900), Stop(reason="end")], budget=Budget(tokens=5))
    assert "done" == session.ask("go").stop


def test_no_request_is_sent_when_the_session_has_nothing_left(make):
    session = make(asking(0), "Hello!", tools=[echo], session_budget=Budget(tokens=11))
    assert "done" == session.ask("one").stop
    turn = session.ask("two")
    assert ("budget", 0) == (turn.stop, len(turn.steps))
    assert "Stopped: the budget of this session is used up: 12 tokens of 11 tokens." == first_line(turn)
    assert "`/budget session tokens N`" in turn.error
    assert 2 == len(session.provider.requests)


def test_what_was_used_is_still_used_when_the_conversation_is_forgotten(make):
    session = make(asking(0), "Hello!", tools=[echo])
    session.ask("one")
    session.clear()
    assert (12, 2) == (session.spent.tokens, session.spent.rounds)


def test_a_model_that_tells_no_tokens_is_measured_by_its_text(make):
    silent = [[Saying(text="x" * 400), ToolCall(id=f"c{n}", name="echo", arguments={"x": n})] for n in (0, 1)]
    session = make(*silent, tools=[echo], budget=Budget(tokens=100))
    turn = session.ask("go")
    assert ("budget", 0) == (turn.stop, turn.usage.total)


# -- time ------------------------------------------------------------------------------------------


def ended_within(session, seconds: float) -> Turn:
    began = time.monotonic()
    turn = session.ask("go")
    assert time.monotonic() - began < seconds
    return turn


def test_time_ends_a_request_and_keeps_what_was_said(make):
    session = make([Saying(text="Once upon"), Hang()], "Hello!", budget=Budget(seconds=0.2))
    turn = ended_within(session, 0.2 + PROMPT)
    assert ("budget", "Once upon") == (turn.stop, turn.reply)
    assert first_line(turn).startswith("Stopped: the budget of this turn is used up: ")
    assert first_line(turn).endswith("of 200 ms.")
    assert 1 == session.provider.closed
    assert "Hello!" == session.ask("again").reply
    check_messages(session.provider.requests[-1][0])


def test_time_ends_a_tool_whose_call_gets_a_result_all_the_same(make):
    let_go = threading.Event()

    @tool
    def hang() -> None:
        let_go.wait(60)

    call = ToolCall(id="c", name="hang")
    session = make(call, "Hello!", tools=[hang], budget=Budget(seconds=0.2))
    try:
        turn = ended_within(session, 0.2 + PROMPT)
    finally:
        let_go.set()
    assert ("budget", True) == (turn.stop, turn.calls[0].stopped)
    session.ask("again")
    check_messages(session.provider.requests[-1][0])


def test_time_does_not_wait_for_a_person_either(make):
    session = make(ToolCall(id="c", name="remove"), tools=[remove], asker=FakeAsker())
    session.budget = Budget(seconds=0.2)
    turn = ended_within(session, 0.2 + PROMPT)
    approval = turn.calls[0].approval
    assert approval is not None
    assert ("budget", "interrupt") == (turn.stop, approval.by)


def test_a_session_gives_each_turn_only_the_time_that_is_left(make):
    session = make("One.", [Saying(text="Two"), Hang()], session_budget=Budget(seconds=0.4))
    assert "done" == session.ask("one").stop
    turn = ended_within(session, 0.4 + PROMPT)
    assert "budget" == turn.stop
    assert "of this session" in turn.error


def test_an_interrupt_stays_an_interrupt(make):
    session = make([Saying(text="Once"), Hang()], budget=Budget(seconds=30))
    future = session.start("go", lambda event: isinstance(event, Saying) and session.cancel())
    assert "cancelled" == future.result(5).stop


def test_an_error_about_time_of_a_providers_own_is_an_error(make):
    session = make(TimeoutError("slow"), budget=Budget(seconds=30))
    assert "provider_error" == session.ask("go").stop


# -- money -----------------------------------------------------------------------------------------


def test_a_budget_in_money_is_refused_where_the_price_is_not_known(make):
    session = make("Hello!", budget=Budget(usd=1))
    with pytest.raises(UsageError) as error:
        session.ask("go")
    what, why, remedy = str(error.value).split("\n")
    assert "A budget in dollars can't be kept with 'scripted:script': its price is not known." == what
    assert "prices" in why
    assert "tokens" in remedy
    assert ([], []) == (session.provider.requests, session.conversation.turns)
    assert not session.busy


def test_a_model_that_costs_nothing_may_have_a_budget_in_money(make):
    session = make("Hello!", budget=Budget(usd=1), price=lambda *_: 0.0)
    assert ("done", 0.0) == (session.ask("go").stop, session.spent.usd)


def test_a_turn_may_have_a_budget_of_its_own(make):
    session = make(asking(0), asking(1), tools=[echo], budget=Budget(seconds=60, tokens=900))
    turn = session.start("go", budget=Budget(tokens=15)).result(5)
    assert "20 tokens of 15 tokens" in turn.error


@pytest.mark.parametrize("limit", [0, -1, float("nan"), float("inf"), True, "5"])
def test_what_is_no_limit_is_refused(limit):
    with pytest.raises(UsageError):
        Budget(tokens=limit)


def test_turns_of_an_earlier_process_count_once_and_those_from_a_file_do_not():
    step = Step(usage=Usage(input=7, output=3))
    earlier = Turn(id="a", prompt="p", steps=(step,), seconds=2.0)
    sent = Turn(id="b", prompt="p", steps=(step,), origin="from file talk.ipynb")
    ledger = Ledger(dollar_a_token)
    ledger.keep("c", Spent(tokens=5, rounds=1))
    for _ in range(2):
        total = ledger.total([earlier, sent])
    assert Spent(usd=10.0, tokens=15, rounds=2, seconds=2.0) == total


# -- the command -----------------------------------------------------------------------------------


def test_the_command_sets_changes_and_lifts_limits(make):
    session = make()
    session.command("/budget usd $0.50")
    session.command("/budget tokens 2000")
    session.command("/budget session rounds 40")
    assert Budget(usd=0.5, tokens=2000) == session.budget
    assert Budget(rounds=40) == session.session_budget
    session.command("/budget usd off")
    assert Budget(tokens=2000) == session.budget
    session.command("/budget off")
    session.command("/budget session off")
    assert (Budget(), Budget()) == (session.budget, session.session_budget)


def test_the_command_shows_what_was_used_and_what_may_be(make):
    session = make(asking(0), "Hello!", tools=[echo], price=dollar_a_token)
    session.ask("go")
    said = session.command("/budget session tokens 50")
    assert "| tokens | 12 tokens | no limit | 12 tokens | **50 tokens** |" in said
    assert "| US dollars | $12.00 | no limit | $12.00 | no limit |" in said


def test_the_command_never_takes_an_unknown_price_for_nothing(make):
    session = make("Hello!")
    session.ask("go")
    assert "| US dollars | unknown | no limit | unknown | no limit |" in session.command("/budget")


@pytest.mark.parametrize("words", ["much", "usd", "usd lots", "session", "tokens -5", "session usd 1 2"])
def test_the_command_says_what_it_can_take(make, words):
    with pytest.raises(UsageError):
        make().command(f"/budget {words}")


def test_events_say_that_it_was_the_budget(make):
    view = RecordingView()
    session = make(asking(0), asking(1), tools=[echo], budget=Budget(rounds=1))
    session.ask("go", on_event=view)
    assert "budget" == view.turn.stop
    assert isinstance(session.provider, ScriptedProvider)
