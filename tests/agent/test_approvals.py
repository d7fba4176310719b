"""T7: a person is asked about exactly what would run, and the answer holds for exactly that."""

from __future__ import annotations

import asyncio
import json
from typing import Any

import pytest

from agent_magics import tool
from agent_magics.agent.permission import question
from agent_magics.errors import Halt
from agent_magics.talk import Approval, ApprovalAsked, ApprovalGiven, ToolCall
from agent_magics.testing import FakeAsker, RecordingView
from agent_magics.tools import Tool


class Files:
    """Tools that ask, and what they did."""

    def __init__(self) -> None:
        self.removed: list[str] = []

        @tool(asks=True, aliases=("rm",))
        def remove(path: str) -> str:
            self.removed.append(path)
            return "gone"

        @tool(asks=True, parallel_safe=True)
        def look(path: str) -> str:
            self.removed.append(f"looked at {path}")
            return "seen"

        self.tools = [remove, look]


@pytest.fixture
def files() -> Files:
    return Files()


def remove(path: str, key: str = "c1", name: str = "remove") -> ToolCall:
    return ToolCall(id=key, name=name, arguments={"path": path})


def errors(turn: Any) -> list[str]:
    return [json.loads(call.result.text).get("error", "") for call in turn.calls]


def test_an_approved_call_runs_and_the_answer_is_kept_with_it(make, files):
    asker, view = FakeAsker(Approval(decision="approve", by="you", comment="go on")), RecordingView()
    turn = make(remove("a"), "ok", tools=files.tools, asker=asker).ask("go", on_event=view)
    assert (["a"], "done") == (files.removed, turn.stop)
    approval = turn.calls[0].approval
    assert ("approve", "you", "go on") == (approval.decision, approval.by, approval.comment)
    (asked,), (given,) = view.of(ApprovalAsked), view.of(ApprovalGiven)
    assert (asked.id, "c1", asked.sha256) == (given.id, given.call_id, given.sha256)


def test_the_question_shows_everything_and_is_bound_to_it_by_a_hash():
    (made, _) = Files().tools
    asked = question(made, remove("a"), "It changes something.")
    assert ("remove", "catalog", {"path": "a"}) == (asked.tool, asked.kind, asked.call.arguments)
    assert asked.sha256 == question(made, remove("a"), "another reason").sha256
    assert asked.sha256 != question(made, remove("b"), "It changes something.").sha256
    assert asked.sha256 != question(made, remove("a"), "", facts=(("host", "a.org"),)).sha256
    assert asked.id != question(made, remove("a"), "").id


def test_program_text_is_shown_as_source():
    run = Tool(name="run", description="", handler=print, code="code", asks=True)
    asked = question(run, ToolCall(id="c", name="run", arguments={"code": "print(1)"}), "")
    assert "print(1)" == asked.source


def test_a_rejection_is_told_to_the_model_with_the_comment(make, files):
    asker = FakeAsker(Approval(decision="reject", by="you", comment="not that file"))
    turn = make(remove("a"), "I see.", tools=files.tools, asker=asker).ask("go")
    result = json.loads(turn.calls[0].result.text)
    assert "The user rejected this call: not that file" in result["error"]
    assert (True, [], "done") == (result["rejected"], files.removed, turn.stop)


def test_the_same_call_is_not_asked_about_twice_in_a_turn(make, files):
    asker = FakeAsker("reject", "approve")
    replies = [remove("a"), remove("a", name="rm"), remove("b"), "ok"]
    turn = make(*replies, tools=files.tools, asker=asker).ask("go")
    assert ["a", "b"] == [asked.call.arguments["path"] for asked in asker.asked]
    assert "already rejected in this turn" in errors(turn)[1]
    assert ["b"] == files.removed


def test_the_next_turn_may_ask_again(make, files):
    asker = FakeAsker("reject", "approve")
    session = make(remove("a"), "no?", remove("a"), "ok", tools=files.tools, asker=asker)
    session.ask("go")
    session.ask("really")
    assert (2, ["a"]) == (len(asker.asked), files.removed)


def test_always_holds_for_the_session(make, files):
    asker = FakeAsker("always")
    session = make(remove("a"), remove("b"), "ok", remove("c"), "ok", tools=files.tools, asker=asker)
    session.ask("go")
    session.ask("more")
    assert (1, ["a", "b", "c"]) == (len(asker.asked), files.removed)


def test_once_holds_for_the_one_call(make, files):
    asker = FakeAsker("once", "reject")
    make(remove("a"), remove("b"), "ok", tools=files.tools, asker=asker).ask("go")
    assert (2, ["a"]) == (len(asker.asked), files.removed)


def test_nobody_answers_and_the_call_counts_as_rejected(make, files):
    view = RecordingView()
    session = make(remove("a"), "ok", tools=files.tools, asker=FakeAsker(), patience=0.05)
    turn = session.ask("go", on_event=view)
    assert ["Nobody answered within 0.05 seconds, so the call was rejected."] == errors(turn)
    assert ("timeout", "done", []) == (view.of(ApprovalGiven)[0].by, turn.stop, files.removed)


def test_a_question_waits_ten_minutes_unless_told_otherwise(make):
    assert 600 == make().permission.patience


def test_parallel_calls_are_asked_about_one_by_one(make, files):
    class OneByOne:
        def __init__(self) -> None:
            self.open = self.most = 0

        async def ask(self, request: ApprovalAsked) -> Approval:
            self.open += 1
            self.most = max(self.most, self.open)
            await asyncio.sleep(0)
            self.open -= 1
            return Approval(decision="approve", by="you")

    asker = OneByOne()
    calls = [ToolCall(id=key, name="look", arguments={"path": key}) for key in "abcd"]
    turn = make(calls, "ok", tools=files.tools, asker=asker).ask("go")
    assert (1, 4) == (asker.most, sum(call.ok for call in turn.calls))


def test_a_call_that_waited_beside_the_same_rejected_one_is_not_asked_about(make, files):
    asker = FakeAsker("reject")
    calls = [ToolCall(id=key, name="look", arguments={"path": "x"}) for key in "abc"]
    turn = make(calls, "ok", tools=files.tools, asker=asker).ask("go")
    assert (1, [False] * 3, []) == (len(asker.asked), [call.ok for call in turn.calls], files.removed)


def test_an_always_holds_for_those_that_waited_beside_it(make, files):
    asker = FakeAsker("always")
    calls = [ToolCall(id=key, name="look", arguments={"path": key}) for key in "abc"]
    turn = make(calls, "ok", tools=files.tools, asker=asker).ask("go")
    assert (1, [True] * 3) == (len(asker.asked), [call.ok for call in turn.calls])


def test_a_call_that_changes_while_it_is_shown_does_not_run(make, files):
    class Sly:
        async def ask(self, request: ApprovalAsked) -> Approval:
            request.call.arguments["path"] = "/"  # type: ignore[index]
            return Approval(decision="approve", by="you")

    turn = make(remove("a"), "ok", tools=files.tools, asker=Sly()).ask("go")
    assert ["The call was rejected: it changed while it was shown."] == errors(turn)
    assert [] == files.removed


def test_a_hook_that_rewrites_an_approved_call_has_it_asked_about_again(make, files):
    asker = FakeAsker("approve", "reject")
    session = make(remove("a"), "ok", tools=files.tools, asker=asker)
    session.toolbox.before(lambda use: {"path": "/"})
    session.ask("go")
    assert (["a", "/"], []) == ([asked.call.arguments["path"] for asked in asker.asked], files.removed)


class Odd:
    def __init__(self, answer: Any) -> None:
        self.answer = answer

    async def ask(self, request: ApprovalAsked) -> Any:
        if isinstance(self.answer, Exception):
            raise self.answer
        return self.answer


@pytest.mark.parametrize(
    ("answer", "why"),
    [
        (Approval(decision="perhaps", by="you"), "the answer was not understood"),
        (Approval(decision="", by="you"), "the answer was not understood"),
        (None, "the answer was not understood"),
        (True, "the answer was not understood"),
        (RuntimeError("no screen"), "asking failed (RuntimeError)"),
    ],
    ids=repr,
)
def test_what_is_no_clear_yes_is_a_no(make, files, answer, why):
    view = RecordingView()
    turn = make(remove("a"), "ok", tools=files.tools, asker=Odd(answer)).ask("go", on_event=view)
    assert ([f"The call was rejected: {why}."], [], "done") == (errors(turn), files.removed, turn.stop)
    assert ["policy"] == [given.by for given in view.of(ApprovalGiven)]


def test_an_edited_text_is_no_answer_to_a_question_about_a_call(make, files):
    made = Tool(
        name="made", description="", handler=lambda: files.removed.append("ran"), asks=True, generated=True
    )
    asker = Odd(Approval(decision="edit", by="you", text="def made(): ..."))
    turn = make(ToolCall(id="c", name="made"), "ok", tools=[made], asker=asker).ask("go")
    assert ["The call was rejected: the answer was not understood."] == errors(turn)
    assert [] == files.removed


def test_an_asker_may_end_the_turn(make, files):
    view = RecordingView()
    turn = make(remove("a"), tools=files.tools, asker=Odd(Halt("Enough."))).ask("go", on_event=view)
    assert ("halted", 1) == (turn.stop, len(view.of(ApprovalGiven)))


def test_approve_always_asks_nobody_and_says_so(make, files):
    asker = FakeAsker()
    turn = make(remove("a"), "ok", tools=files.tools, asker=asker, approve="always").ask("go")
    assert (["a"], []) == (files.removed, asker.asked)
    assert ("Nobody was asked about remove: approve='always'.",) == turn.notices


def test_approve_never_refuses_and_says_why(make, files):
    asker = FakeAsker()
    turn = make(remove("a"), "ok", tools=files.tools, asker=asker, approve="never").ask("go")
    assert ["remove needs an approval, and this session approves nothing."] == errors(turn)
    assert ([], []) == (files.removed, asker.asked)


def test_the_time_that_somebody_thought_about_it_is_not_the_tools_time(make, files):
    class Slow:
        async def ask(self, request: ApprovalAsked) -> Approval:
            await asyncio.sleep(0.3)
            return Approval(decision="approve", by="you")

    call = make(remove("a"), "ok", tools=files.tools, asker=Slow()).ask("go").calls[0]
    assert call.approval.seconds >= 0.3 > call.seconds
