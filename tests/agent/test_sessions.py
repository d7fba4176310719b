"""Sessions that last: what is kept, what comes back, and how a conversation is changed and exchanged."""

from __future__ import annotations

import os
import socket
import subprocess
import sys
from dataclasses import replace
from typing import Any

import pytest

from agent_magics.agent.process import lives, this_process
from agent_magics.errors import SessionError, StoreError, UsageError
from agent_magics.store import MemoryStore, store_at
from agent_magics.talk import (
    ConversationChanged,
    HistoryFact,
    Opaque,
    Saying,
    SessionInfo,
    Stop,
    TurnEnded,
)
from agent_magics.talk.history import conversation
from agent_magics.testing import Hang, RecordingView
from tests.patience import Asking, until


def prompts(session: Any) -> list[str]:
    return [turn.prompt for turn in session.conversation.turns]


def sent(session: Any) -> list[str]:
    """What the model was sent last, but for the rules."""
    return [message["content"] for message in session.provider.requests[-1][0][1:]]


class Disk(MemoryStore):
    """A store that takes no fact while it is full."""

    full = False

    def append(self, session: str, *facts: HistoryFact) -> None:
        if self.full:
            raise StoreError("disk full")
        super().append(session, *facts)


@pytest.fixture
def store() -> Disk:
    return Disk()


# -- keeping ---------------------------------------------------------------------------------------


def test_facts_are_kept_and_deltas_are_not(make, store):
    session = make([Saying(text="a"), Saying(text="b")], store=store)
    session.ask("hi")
    assert session.conversation == conversation(session.id, store.load(session.id))
    kinds = [type(fact).__name__ for fact in store.load(session.id)]
    assert ["TurnBegan", "RequestSent", "ReplyReceived", "TurnEnded"] == kinds


def test_a_session_without_a_turn_leaves_nothing_behind(make, store):
    make(store=store)
    assert [] == store.sessions()


def test_a_list_of_sessions_tells_what_it_is_about(make, store):
    session = make("one", "two", store=store, notebook="/n/a.ipynb")
    session.ask("Tell me\nabout whales " + "and more " * 20, cell="c1")
    session.ask("again", cell="c2")
    (info,) = store.sessions()
    assert (session.id, "/n/a.ipynb", ("c1", "c2"), 2) == (
        info.id,
        info.notebook,
        info.cells,
        info.turns,
    )
    assert info.title.startswith("Tell me about whales") and info.title.endswith("…")
    assert "scripted:script" == info.provider
    assert 0 < info.began <= info.used


@pytest.mark.parametrize("works", range(6))
def test_a_store_that_fails_stops_no_turn_and_says_so_once(make, works):
    class Failing(MemoryStore):
        left = works

        def append(self, session: str, *facts: Any) -> None:
            self.left -= 1
            if self.left < 0:
                raise StoreError("disk full")
            super().append(session, *facts)

    store, view = Failing(), RecordingView()
    session = make("Hello!", "Hello again!", store=store)
    turn = session.ask("hi", on_event=view)
    assert ("done", "Hello!", 1) == (turn.stop, turn.reply, len(view.of(TurnEnded)))
    assert isinstance(view.events[-1], TurnEnded)
    told = ("This conversation is not stored at present. disk full",)
    assert (told if works < 4 else ()) == turn.notices
    if works < 4:
        assert works == len(store.load(session.id))
        assert () == session.ask("hi again").notices
        assert "not at present: disk full" in session.command("/status")


def test_what_could_not_be_stored_is_stored_when_the_store_works_again(make, store):
    session = make("one", "two", store=store)
    store.full = True
    session.ask("a")
    store.full = False
    session.ask("b")
    assert session.conversation == conversation(session.id, store.load(session.id))
    assert ["a", "b"] == prompts(session)
    assert "here again after a restart" in session.command("/status")


def test_a_turn_that_can_not_be_stored_does_not_keep_the_next_one_from_it(make, tmp_path):
    store = store_at(tmp_path)
    odd = [Saying(text="one"), Opaque(provider="scripted", block=object()), Stop(reason="end")]  # type: ignore[arg-type]
    session = make(odd, "two", store=store)
    assert "not stored at present. TypeError" in session.ask("a").notices[0]
    assert () == session.ask("b").notices
    kept = conversation(session.id, store.load(session.id)).turns
    assert [("a", "cancelled"), ("b", "done")] == [(turn.prompt, turn.stop) for turn in kept]


def test_a_session_without_a_store_says_so(make):
    session = make()
    assert "in memory only" in session.command("/status")
    with pytest.raises(UsageError, match="not stored"):
        session.command("/sessions")


# -- coming back -----------------------------------------------------------------------------------


def test_the_model_is_sent_what_was_said_before(make, store):
    first = make("My name is Ada.", store=store)
    first.ask("hi")
    second = make("Ada.", store=store, resume=first.id)
    second.ask("who?")
    assert ["hi", "My name is Ada.", "who?"] == sent(second)
    assert first.id == second.id
    assert 2 == store.sessions()[0].turns


def test_a_turn_that_never_ended_is_there_marked_and_the_next_one_is_sent(make, store):
    first = make([Saying(text="half"), Hang()], store=store)
    asking = Asking(lambda: first.ask("hi"))
    until(lambda: len(store.sessions()) and len(store.load(first.id)) == 2, "the turn to be kept")
    second = make("Yes.", store=store, resume=first.id)
    first.cancel()
    asking.end()
    (turn,) = second.conversation.turns
    assert "cancelled" == turn.stop and "interrupted" in turn.error
    second.ask("still there?")
    assert ["hi", "(no answer: cancelled)", "still there?"] == sent(second)


def test_the_beginning_of_an_id_is_enough(make, store):
    for name in ("aaa111", "aab222", "bbb333"):
        store.enroll(SessionInfo(id=name, title=f"about {name}"))
    session = make(store=store)
    assert "bbb333" == session.resume("bb").id
    with pytest.raises(UsageError, match=r"2 sessions begin with 'aa'.\n.*aab222.*aaa111"):
        session.resume("aa")
    with pytest.raises(UsageError, match=r"no session 'aaa121'.\nClose to it: aaa111"):
        session.resume("aaa121")


def test_what_was_granted_in_one_conversation_is_not_granted_in_another(make, store):
    first = make(store=store)
    first.ask("hi")
    second = make(store=store)
    second.policy.granted.add("anything")
    second.resume(first.id)
    assert set() == second.policy.granted


def test_a_session_that_went_on_in_another_process_goes_on_here_as_a_copy(make, store):
    session = make("one", "two", store=store)
    session.ask("a")
    store.enroll(replace(store.sessions()[0], process="elsewhere:1"))
    left = session.id
    turn = session.ask("b")
    assert left != session.id and ["a", "b"] == prompts(session)
    assert f"Another kernel has gone on with {left}" in turn.notices[0]
    assert ["a"] == [turn.prompt for turn in conversation(left, store.load(left)).turns]


def test_a_session_that_went_on_after_it_was_resumed_goes_on_as_a_copy(make, store):
    first = make("one", "two", store=store)
    first.ask("a")
    second = make("three", store=store, resume=first.id)
    first.ask("b")
    turn = second.ask("c")
    assert first.id != second.id and "Another kernel has gone on" in turn.notices[0]
    assert ["a", "b"] == [turn.prompt for turn in conversation(first.id, store.load(first.id)).turns]
    assert ["a", "c"] == prompts(second)


def test_a_session_whose_turn_runs_in_another_process_is_not_written_into(make, store):
    first = make([Saying(text="half"), Hang()], store=store)
    asking = Asking(lambda: first.ask("hi"))
    until(lambda: len(store.sessions()) and len(store.load(first.id)) == 2, "the turn to be kept")
    parent = f"{socket.gethostname()}:{os.getppid()}"
    store.enroll(replace(store.sessions()[0], process=parent))
    second = make("Yes.", store=store, resume=first.id)
    assert first.id != second.id and ["hi"] == prompts(second)
    first.cancel()
    asking.end()


def test_a_process_that_is_gone_or_elsewhere_does_not_live():
    ended = subprocess.Popen([sys.executable, "-c", ""])
    host = socket.gethostname()
    until(lambda: not lives(f"{host}:{ended.pid}"), "the process to be seen as gone")
    ended.wait()
    assert not lives(f"{host}:{ended.pid}")
    assert lives(f"{host}:{os.getppid()}")
    assert [False] * 4 == [lives(each) for each in ("", "other:1", f"{host}:x", this_process())]


def test_a_fork_has_the_same_turns_and_the_old_one_stays(make, store):
    session = make("one", "two", "three", store=store)
    session.ask("a")
    session.ask("b")
    left = session.fork()
    assert left.id != session.id and ["a", "b"] == prompts(session)
    session.ask("c")
    old, new = (conversation(each, store.load(each)).turns for each in (left.id, session.id))
    assert (["a", "b"], ["a", "b", "c"]) == ([t.prompt for t in old], [t.prompt for t in new])
    assert left.id == next(info.parent for info in store.sessions() if info.id == session.id)


# -- changing --------------------------------------------------------------------------------------


def test_clear_and_undo_hold_over_a_restart(make, store):
    first = make("one", "two", store=store)
    first.ask("a")
    assert 1 == first.clear()
    second = make("three", store=store, resume=first.id)
    assert [] == prompts(second)
    second.ask("b")
    assert ["b"] == sent(second)
    why, back = second.undo()
    assert ("clear", ["a"]) == (why, [turn.prompt for turn in back])
    third = make(store=store, resume=first.id)
    assert ["a", "b"] == prompts(second) == prompts(third)
    with pytest.raises(UsageError, match="nothing to undo"):
        third.undo()


def test_rewind_goes_back_to_before_a_turn(make, store):
    session = make("one", "two", "three", "four", store=store)
    for prompt in "abc":
        session.ask(prompt)
    assert ["b", "c"] == [turn.prompt for turn in session.rewind(2)]
    session.ask("d")
    assert ["a", "one", "d"] == sent(session)
    session.undo()
    assert ["a", "b", "c", "d"] == prompts(session)
    assert session.conversation == conversation(session.id, store.load(session.id))
    for wrong in (0, 5, -1):
        with pytest.raises(UsageError, match=f"no turn {wrong}"):
            session.rewind(wrong)


def test_undo_takes_back_one_step_at_a_time(make, store):
    session = make("one", "two", store=store)
    session.ask("a")
    session.ask("b")
    session.rewind(2)
    session.clear()
    assert [] == prompts(session)
    session.undo()
    assert ["a"] == prompts(session)
    session.undo()
    assert ["a", "b"] == prompts(session)
    kinds = [fact.why for fact in store.load(session.id) if isinstance(fact, ConversationChanged)]
    assert ["rewind", "clear", "undo", "undo"] == kinds


def test_the_conversation_is_not_changed_under_a_turn_that_runs(make, store):
    session = make(Hang(), store=store)
    asking = Asking(lambda: session.ask("hi"))
    until(lambda: session.busy, "the turn to begin")
    for change in (session.clear, session.undo, session.fork, lambda: session.resume("x")):
        with pytest.raises(SessionError, match="runs or waits"):
            change()
    session.cancel()
    asking.end()


# -- running again ---------------------------------------------------------------------------------


def test_a_turn_that_replaces_another_sees_only_what_stands_above_it(make, store):
    session = make("one", "two", "three", "two again", "four", store=store)
    for prompt in "abc":
        session.ask(prompt)
    replaced = session.conversation.turns[1].id
    session.start("b!", replaces=replaced).result(10)
    assert ["a", "one", "b!"] == sent(session)
    stale = [(turn.prompt, turn.stale) for turn in session.conversation.turns]
    assert [("a", False), ("b!", False), ("c", True)] == stale
    assert session.conversation == conversation(session.id, store.load(session.id))
    session.ask("d")
    assert ["a", "one", "b!", "two again", "three", "d"] == [
        text for text in sent(session) if "c" not in text
    ]


def test_undo_does_not_bring_back_what_was_run_again_since(make, store):
    session = make("one", "two", "one again", store=store)
    session.ask("a")
    session.ask("b")
    first = session.conversation.turns[0].id
    session.rewind(2)
    session.start("a!", replaces=first).result(10)
    session.undo()
    assert [("a!", False), ("b", True)] == [(t.prompt, t.stale) for t in session.conversation.turns]
