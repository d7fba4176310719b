"""`/compare`: several providers run one goal, and the session stays as it was."""

from __future__ import annotations

import pytest

from agent_magics import Session, provider, tool
from agent_magics.errors import UnknownProvider, UsageError
from agent_magics.store import MemoryStore
from agent_magics.talk import ProviderEvent, RequestSent, Saying, Stop, ToolCall, Usage
from agent_magics.testing import FakeAsker, RecordingView, ScriptedProvider

ran: list[str] = []


@tool(asks=True)
def remove(path: str) -> str:
    """Remove a file."""
    ran.append(path)
    return "removed"


def spoken(text: str) -> list[ProviderEvent]:
    return [Saying(text=text), Usage(input=100, output=20), Stop(reason="end")]


@pytest.fixture
def session():
    ran.clear()
    calls = [ToolCall(id="c1", name="remove", arguments={"path": "a.txt"}), spoken("It is gone.")]
    made = {"caller": ScriptedProvider(calls), "talker": ScriptedProvider([spoken("I can't | won't.")])}
    for name, each in made.items():
        provider(name, lambda each=each, **_: each)
    asker = FakeAsker("approve")
    with Session(ScriptedProvider(["Hello!"]), asker=asker, tools=[remove], tool_making="off") as session:
        session.ask("hi")
        session.made, session.asker = made, asker  # type: ignore[attr-defined]
        yield session


def column(table: str, number: int) -> dict[str, str]:
    rows = [line.strip("| ").split(" | ") for line in table.splitlines() if line.startswith("| **")]
    return {row[0].strip("*"): row[number] for row in rows}


def test_it_shows_steps_answers_rounds_tokens_and_time_side_by_side(session):
    said = session.command("/compare caller talker -- remove a.txt")
    caller, talker = (column(said.replace("\\|", "¦"), number) for number in (1, 2))
    assert ["model", "answer", "steps", "ended", "rounds", "tokens", "time"] == list(caller)
    assert ("It is gone.", "1. `remove` ok", "2") == (caller["answer"], caller["steps"], caller["rounds"])
    assert ("I can't ¦ won't.", "none", "1") == (talker["answer"], talker["steps"], talker["rounds"])
    assert ("done", "120") == (talker["ended"], talker["tokens"])
    assert "| | `caller` | `talker` |" == said.splitlines()[0].replace("|  |", "| |")


def test_what_changes_something_asks_as_usual(session):
    session.command("/compare caller talker -- remove a.txt")
    assert ["remove"] == [each.call.name for each in session.asker.asked]
    assert ["a.txt"] == ran


def test_each_gets_the_conversation_and_nothing_is_written_back(session):
    before = list(session.conversation.turns)
    session.command("/compare caller talker -- remove a.txt")
    assert before == session.conversation.turns
    for each in session.made.values():
        sent = [message["content"] for message in each.requests[0][0][1:]]
        assert ["hi", "Hello!", "remove a.txt"] == sent


def test_nothing_of_it_is_stored():
    store = MemoryStore()
    with Session("stub", store=store, tool_making="off") as session:
        session.command("/compare stub demo -- hello")
        assert [] == store.sessions()
        session.ask("hello")
    assert any(isinstance(fact, RequestSent) for fact in store.load(session.id))


def test_planners_are_tried_on_the_sessions_own_model(session):
    view = RecordingView()
    session.subscribe(view)
    said = session.command("/compare json native classic -- say hello")
    assert ["scripted:script", "scripted:script"] == [column(said, number)["model"] for number in (1, 2)]
    assert column(said, 3)["model"].startswith("demo")
    first = session.provider.requests[1][0][0]["content"]
    assert "You reply with JSON only" in first
    assert 3 == len(view.of(RequestSent))


@pytest.mark.parametrize("words", ["", "demo -- hi", "demo stub", "demo stub --", "-- hi"])
def test_what_is_missing_is_said_with_an_example(session, words):
    with pytest.raises(UsageError, match="at least two planners"):
        session.command(f"/compare {words}")


def test_a_name_that_is_not_known_is_told_before_anybody_runs(session):
    with pytest.raises(UnknownProvider):
        session.command("/compare caller nobody -- remove a.txt")
    assert [] == session.made["caller"].requests
