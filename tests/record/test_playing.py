"""Turns that are played: which one, what of it, and why not."""

from __future__ import annotations

import json
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from agent_magics import Session, tool
from agent_magics.agent.budget import Budget
from agent_magics.agent.playing import bound_names
from agent_magics.agent.replay import Records, Replay
from agent_magics.errors import UsageError
from agent_magics.record.matching import Asking, Miss, find
from agent_magics.record.reading import Record, read_record
from agent_magics.record.writing import as_json
from agent_magics.store.in_memory import MemoryStore
from agent_magics.talk import (
    ApprovalAsked,
    ApprovalGiven,
    Conversation,
    Image,
    Saying,
    Step,
    Stop,
    Thinking,
    ToolCall,
    Turn,
)
from agent_magics.testing import FakeAsker, FakeWorkbench, RecordingView, ScriptedProvider
from agent_magics.tools.tool import Tool
from tests.record.conftest import turn
from tests.strict import check_messages

ran: list[str] = []


@tool(asks=True)
def send(to: str) -> str:
    "Sends something."
    ran.append(to)
    return f"sent to {to}"


@tool(parallel_safe=True, read_only=True)
def look(at: str) -> str:
    "Looks at something."
    ran.append(at)
    return f"seen {at}"


def nobody() -> Any:
    raise AssertionError("somebody else was asked")


def calls(*named: tuple[str, str], id_: str = "c") -> list[Any]:
    made = [
        ToolCall(id=f"{id_}{number}", name=name, arguments={"to" if name == "send" else "at": value})
        for number, (name, value) in enumerate(named)
    ]
    return [*made, Stop(reason="tool_calls")]


@pytest.fixture
def make(tmp_path: Path) -> Callable[..., Any]:
    """A session with these tools; what they did is in ``ran``."""
    ran.clear()

    def session(*replies: Any, answers: tuple[Any, ...] = (), tools: Any = (send, look), **more: Any) -> Any:
        script = ScriptedProvider(replies or ["?"])
        return Session(script, tools=tools, asker=FakeAsker(*answers), cwd=tmp_path, **more)

    return session


def saved(session: Any, path: Path) -> Path:
    path.write_text(as_json(session.conversation))
    return path


def replay(path: Path, **more: Any) -> Replay:
    return Replay(paths=[path], otherwise=more.pop("otherwise", nobody), **more)


def written(tmp_path: Path, *turns: Turn) -> Path:
    path = tmp_path / "record.json"
    path.write_text(as_json(Conversation(id="c", turns=list(turns))))
    return path


# -- what is played --------------------------------------------------------------------------------


def test_recorded_results_are_used_and_nothing_is_executed(make, tmp_path):
    first = make(
        calls(("send", "mum"), ("look", "a"), ("look", "b")), "Done.", calls(("send", "dad")), "Again.",
        answers=("approve", "approve"), tool_making="off",
    )  # fmt: skip
    asked = [first.ask("tell mum"), first.ask("and dad")]
    path, view, store = saved(first, tmp_path / "talk.json"), RecordingView(), MemoryStore()
    ran.clear()
    second = make(store=store)
    played = [second.ask(each.prompt, provider=replay(path), on_event=view) for each in asked]
    assert [] == ran
    assert [each.reply for each in asked] == [each.reply for each in played]
    assert [call.result.text for each in asked for call in each.calls] == [
        call.result.text for each in played for call in each.calls if call.result
    ]
    assert {"replayed from talk.json, not run"} == {each.origin for each in played}
    assert [] == view.of(ApprovalAsked, ApprovalGiven)
    assert played == [*second.conversation.turns]
    kept = store.load(second.id)
    assert not [fact for fact in kept if isinstance(fact, ApprovalGiven)]
    second.ask("go on")
    check_messages(second.provider.requests[-1][0])


@pytest.mark.parametrize("paced", [False, True])
def test_thinking_and_answer_stream_as_they_did(make, tmp_path, paced):
    recorded = turn(
        steps=(Step(thinking="Look at it first.", text="It has seven rows.", seconds=0.05, first=0.01),),
        reply="It has seven rows.",
    )
    view = RecordingView()
    make().ask(recorded.prompt, provider=replay(written(tmp_path, recorded), paced=paced), on_event=view)
    assert (4 if paced else 1) == len(view.of(Saying)) == len(view.of(Thinking))
    assert ("It has seven rows.", "Look at it first.") == (
        view.text,
        "".join(event.text for event in view.of(Thinking)),
    )


@pytest.mark.parametrize(
    ("stop", "last", "rounds"),
    [
        ("max_rounds", "end", 3),
        ("no_progress", "end", 4),
        ("truncated", "max_tokens", 1),
        ("done", "end", 30),
    ],
)
def test_a_turn_ends_as_it_did(make, tmp_path, stop, last, rounds):
    (record,) = turn().calls
    steps = [
        Step(calls=(replace(record, call=replace(record.call, id=f"c{number}")),), stop="tool_calls")
        for number in range(rounds)
    ]
    recorded = turn(stop=stop, steps=(*steps, Step(text="So far.", stop=last)), reply="So far.")
    inspect = Tool(name="inspect", description="", handler=nobody)
    played = make(tools=[inspect]).ask(recorded.prompt, provider=replay(written(tmp_path, recorded)))
    assert (stop, "So far.", rounds) == (played.stop, played.reply, len(played.calls))


def test_run_python_runs_again_if_a_person_allows_it_now(make, tmp_path):
    def run_python(code: str) -> dict[str, Any]:
        ran.append(code)
        return {"changed": {"new": ["answer"]}}

    def with_python(*replies: Any, **more: Any) -> Any:
        python = tool(name="run_python", asks=True)(run_python)
        return make(*replies, tools=[python], workbench=FakeWorkbench(), **more)

    code = ToolCall(id="c1", name="run_python", arguments={"code": "answer = 42"})
    first = with_python([code, Stop(reason="tool_calls")], "It is 42.", answers=("approve",))
    path = (first.ask("compute it"), saved(first, tmp_path / "talk.json"))[1]
    ran.clear()
    allowed = with_python(answers=("approve",)).ask("compute it", provider=replay(path))
    assert (["answer = 42"], ("run_python was run again.",)) == (ran, allowed.notices)
    refused = with_python(answers=("reject",)).ask("compute it", provider=replay(path))
    assert ["answer = 42"] == ran
    assert ("run_python was not run again. Not rebuilt: answer.",) == refused.notices
    assert first.conversation.turns[0].calls[0].result == refused.calls[0].result
    never = with_python(approve="never").ask("compute it", provider=replay(path))
    assert ("run_python was not run again. Not rebuilt: answer.",) == never.notices


def test_names_are_read_from_the_code_where_the_result_was_cut(make, tmp_path):
    (record,) = turn().calls
    assert record.result is not None
    call = replace(record.call, arguments={"code": "import os\ndf = 1\nfor x in []: y = x\ndef f(): pass"})
    assert ["df", "x", "y", "f"] == bound_names(call, replace(record.result, text='{"result": "cut…'))
    hostile = json.dumps({"changed": {"new": ["ok", "<b>", 7, "a b"], "rebound": "no list"}})
    assert ["ok"] == bound_names(call, replace(record.result, text=hostile))


def test_nothing_is_spent_and_a_budget_in_money_allows_it(make, tmp_path):
    session = make(session_budget=Budget(usd=0.01), budget=Budget(usd=0.01))
    played = session.ask("How big is df?", provider=replay(written(tmp_path, turn(steps=(Step(text="7"),)))))
    assert ("done", 0) == (played.stop, played.usage.total)


# -- which one -------------------------------------------------------------------------------------


def record(*turns: Turn) -> Record:
    return Record(name="talk.ipynb", turns=turns)


def has(*names: str) -> Callable[[str], bool]:
    return lambda name: name in names


def test_the_same_conversation_is_found_also_after_a_clear(make, tmp_path):
    first = make("One.", "Two.", "Three.")
    first.ask("a")
    asked = [*first.conversation.turns]
    first.clear()
    asked += [first.ask("b"), first.ask("c")]
    path = tmp_path / "talk.json"
    path.write_text(as_json(Conversation(id="c", turns=asked)))
    second = make()
    played = [second.ask(prompt, provider=replay(path)).reply for prompt in ("b", "c")]
    assert ["Two.", "Three."] == played


def test_a_cell_that_runs_again_sees_the_turns_above_it(make, tmp_path):
    first = make("One.", "Two.")
    first.ask("a")
    first.ask("b")
    path, second = saved(first, tmp_path / "talk.json"), make()
    second.ask("a", provider=replay(path))
    second.ask("b", provider=replay(path))
    again = second.conversation.turns[1].id
    played = second.start("b", provider=replay(path), replaces=again).result(10)
    assert ("Two.", ["a", "b"]) == (played.reply, [each.prompt for each in second.conversation.turns])


IMAGE = Image(media_type="image/png", data="x")


@pytest.mark.parametrize(
    ("changes", "why"),
    [
        (
            {"prompt": "How big is dg?"},
            "In the record the prompt is 'How big is df?', and now it is 'How big is dg?'.",
        ),
        (
            {"prompt": "How big is df?\nIn bytes."},
            "The prompt in the cell has a further line: 'In bytes.'.",
        ),
        ({"prompt": "Whales"}, "The record has 1 turn, and it is not one with a prompt like it."),
        ({"has": has("look")}, "The recorded turn called 'inspect', and there is no tool of that name now."),
        (
            {"history": [turn("Before", reply="Yes.")]},
            "There is an earlier turn more: the recorded one followed no turn, this one follows 1 turn. "
            "It is 'Before'.",
        ),
        (
            {"images": (IMAGE,)},
            "The pictures differ, or the record has none: a notebook doesn't keep them.",
        ),
    ],
)
def test_a_miss_says_exactly_what_differs(changes: dict[str, Any], why: str) -> None:
    asking = Asking(**{"prompt": "How big is df?", "has": has("inspect"), **changes})
    found = find(record(turn()), asking)
    assert isinstance(found, Miss)
    assert why == found.why


@pytest.mark.parametrize(
    ("history", "why"),
    [
        (
            [turn("A", reply="No.")],
            "An earlier turn differs: the reply of turn 1 is 'Yes.' in the record, and now 'No.'.",
        ),
        (
            [turn("B", reply="Yes.")],
            "An earlier turn differs: the prompt of turn 1 is 'A' in the record, and now 'B'.",
        ),
        (
            [],
            "An earlier turn is missing: the recorded one followed 1 turn, this one follows no turn. "
            "It is 'A'.",
        ),
    ],
)
def test_an_earlier_turn_that_differs_is_named(history: list[Turn], why: str) -> None:
    held = record(turn("A", reply="Yes."), turn())
    found = find(held, Asking(prompt="How big is df?", has=has("inspect"), history=history))
    assert isinstance(found, Miss)
    assert why == found.why


def test_a_long_text_is_shown_where_it_parts() -> None:
    long = "word " * 100
    held = record(turn("A", reply=long + "yes"), turn())
    found = find(held, Asking(prompt="How big is df?", history=[turn("A", reply=long + "no")]))
    assert isinstance(found, Miss)
    assert "word yes' in the record, and now '…" in found.why and len(found.why) < 300


def test_a_turn_that_was_not_finished_is_not_played() -> None:
    found = find(record(turn(stop="cancelled")), Asking(prompt="How big is df?", has=has("inspect")))
    assert Miss(why="The recorded turn was not finished: it ended as 'cancelled'.", near=3) == found


def test_tools_that_were_made_in_the_record_need_not_be_there() -> None:
    (call,) = turn().calls
    make_tool = replace(call, call=replace(call.call, name="make_tool"), shown="make_tool")
    unknown = replace(call, call=replace(call.call, name="nothing"), shown="nothing?")
    made, not_made = [
        turn(steps=(Step(calls=(replace(make_tool, made=name), call, unknown)), Step(text="So.")))
        for name in ("inspect", "")
    ]
    asking = Asking(prompt="How big is df?")
    assert made == find(record(made), asking)
    assert isinstance(find(record(not_made), asking), Miss)


def test_of_two_alike_the_one_after_the_same_turns_is_found() -> None:
    first, again = turn(), turn(id="t2", reply="Still 7.")
    found = find(record(first, again), Asking(prompt="How big is df?", has=has("inspect"), history=[first]))
    assert again == found


# -- from Python and at the terminal --------------------------------------------------------------


def test_a_session_plays_a_file_and_runs_nothing_else(make, tmp_path):
    first = make(calls(("send", "mum")), "Done.", answers=("approve",), tool_making="off")
    asked, name = first.ask("tell mum"), saved(first, tmp_path / "talk.json").name
    ran.clear()
    with make("Sent anyway.", replay=name) as second:
        played = second.ask("tell mum")
        with pytest.raises(UsageError, match="This turn is not in the record, so it was not run"):
            second.ask("tell dad")
        assert [] == second.provider.requests == ran
    assert (asked.reply, "replayed from talk.json, not run") == (played.reply, played.origin)


def test_a_session_may_run_what_is_not_recorded(make, tmp_path):
    first = make("One.", "Two.")
    first.ask("a")
    path = saved(first, tmp_path / "talk.json")
    with make("Mine.", replay=path, replay_mode="auto") as second:
        assert ["One.", "Mine."] == [second.ask(prompt).reply for prompt in ("a", "b")]
        assert 1 == len(second.provider.requests)


def test_a_file_that_is_not_there_is_named_with_the_turn(make):
    with make(replay="gone.json") as session, pytest.raises(UsageError, match=r"no file 'gone\.json'"):
        session.ask("hello")


# -- and if there is none --------------------------------------------------------------------------


def test_only_raises_and_runs_nothing(make, tmp_path):
    session = make("Hello.")
    with pytest.raises(UsageError, match="This turn is not in the record, so it was not run"):
        session.ask("hello", provider=replay(written(tmp_path, turn())))
    assert ([], []) == (session.conversation.turns, session.provider.requests)
    assert "Hello." == session.ask("hello").reply


def test_auto_asks_somebody_else_and_says_why(make, tmp_path):
    session = make("Hello.")
    path = written(tmp_path, turn())
    answered = session.ask("hello", provider=replay(path, mode="auto", otherwise=lambda: session.provider))
    assert ("Hello.", "", "scripted") == (answered.reply, answered.origin, answered.provider)
    assert (
        "Not replayed. The record has 1 turn, and it is not one with a prompt like it.",
    ) == answered.notices


@pytest.mark.parametrize("content", ["", "[]", '{"v": 99, "type": "Conversation"}'])
def test_a_record_that_can_not_be_read_is_a_miss(make, tmp_path, content):
    (tmp_path / "record.json").write_text(content)
    with pytest.raises(UsageError) as error:
        make().ask("hello", provider=replay(tmp_path / "record.json"))
    assert "'record.json' can't be taken as a record" in error.value.why


def test_without_a_file_it_says_how_to_name_one(make):
    with pytest.raises(UsageError, match="neither --record nor"):
        make().ask("hello", provider=Replay(paths=[], otherwise=nobody))


def test_several_files_are_looked_through_in_order(make, tmp_path):
    path = written(tmp_path, turn(steps=(Step(text="7"),), reply="7"))
    both = Replay(paths=[tmp_path / "gone.ipynb", path], otherwise=nobody)
    assert "7" == make().ask("How big is df?", provider=both).reply


def test_a_file_is_read_once_and_again_when_it_has_changed(tmp_path):
    path, records = written(tmp_path, turn()), Records()
    first = records.read(path)
    assert first is records.read(path)
    written(tmp_path, turn(), turn("Another", id="t2"))
    assert 2 == len(records.read(path).turns) == len(read_record(path).turns)
