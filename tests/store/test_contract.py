"""What holds for every store: whoever writes one of his own can run it through these."""

from __future__ import annotations

import threading
from typing import Any

import pytest

from agent_magics.errors import UsageError
from agent_magics.ports import Memories, Store
from agent_magics.talk import ConversationChanged, HistoryFact, Memory, SessionInfo, Turn, TurnImported
from agent_magics.talk.memory import LONGEST, MOST
from tests.store.facts import a_turn, note, texts


def keep(store: Store, session: str, *facts: HistoryFact) -> None:
    for fact in facts:
        store.append(session, fact)


def ids(store: Store) -> list[str]:
    return [info.id for info in store.sessions()]


# -- sessions ------------------------------------------------------------------------------------


def test_facts_come_back_in_their_order(store: Store):
    facts = [
        *a_turn("a"),
        TurnImported(turn=Turn(id="b", prompt="p", stop="done", origin="from file x.ipynb"), at=11.0),
        ConversationChanged(turns=("a",), why="rewind", at=12.0),
    ]
    keep(store, "s", *facts)
    assert facts == store.load("s")


def test_several_facts_are_kept_at_once(store: Store):
    facts = a_turn("a")
    store.append("s", facts[0])
    store.append("s", *facts[1:])
    store.append("s")
    assert facts == store.load("s")


def test_a_session_that_nobody_wrote_to_is_empty(store: Store):
    assert [] == store.load("nobody")
    assert [] == store.sessions()


def test_sessions_do_not_mix(store: Store):
    for number in range(3):
        keep(store, "a", note(f"a{number}"))
        keep(store, "b", note(f"b{number}"))
    assert ["a0", "a1", "a2"] == texts(store.load("a"))
    assert ["b0", "b1", "b2"] == texts(store.load("b"))


def test_what_was_loaded_does_not_change_with_the_store(store: Store):
    keep(store, "s", note())
    loaded = store.load("s")
    keep(store, "s", note())
    assert 1 == len(loaded)


def test_a_session_is_known_as_it_was_enrolled_last(store: Store):
    first = SessionInfo(id="s", title="First", used=1.0)
    last = SessionInfo(
        id="s",
        title="Last",
        notebook="/home/ada/x.ipynb",
        cells=("c1", "c2"),
        parent="r",
        provider="p:m",
        began=1.0,
        used=2.0,
        turns=2,
    )
    for info in (first, last):
        store.enroll(info)
    assert [last] == store.sessions()


def test_one_session_is_found_by_its_id(store: Store):
    keep(store, "s", note())
    assert "s" == getattr(store.session("s"), "id", None)
    store.enroll(SessionInfo(id="s", title="Now it has a title"))
    store.enroll(SessionInfo(id="t", title="Another"))
    assert SessionInfo(id="s", title="Now it has a title") == store.session("s")
    assert store.session("u") is None


def test_enrolling_keeps_the_facts(store: Store):
    keep(store, "s", note())
    store.enroll(SessionInfo(id="s", title="Now it has a title"))
    store.enroll(SessionInfo(id="s", title="And another"))
    assert [note()] == store.load("s")


def test_the_session_that_was_used_last_is_the_first(store: Store):
    for name, used in (("old", 1.0), ("new", 3.0), ("middle", 2.0), ("as new", 3.0)):
        store.enroll(SessionInfo(id=name, used=used))
    assert ["as new", "new", "middle", "old"] == ids(store)


def test_a_session_that_was_never_enrolled_is_listed_too(store: Store):
    keep(store, "s", note(), note())
    assert [SessionInfo(id="s", used=1.0)] == store.sessions()


def test_a_forgotten_session_is_gone_and_the_others_stay(store: Store):
    for name in ("a", "b"):
        store.enroll(SessionInfo(id=name))
        keep(store, name, note(name))
    store.forget("a")
    assert ([], ["b"], [note("b")]) == (store.load("a"), ids(store), store.load("b"))


def test_a_forgotten_session_may_begin_anew(store: Store):
    keep(store, "s", note("before"))
    store.forget("s")
    keep(store, "s", note("after"))
    assert [note("after")] == store.load("s")


def test_forgetting_what_is_not_there_does_nothing(store: Store):
    store.forget("nobody")
    assert [] == store.sessions()


@pytest.mark.parametrize(
    "odd", ["", "a'b\"; --", "日本", "half \udc80 of it", "a\x00b", "x" * 10_000], ids=ascii
)
def test_any_text_can_be_an_id_and_a_path(store: Any, odd: str):
    info = SessionInfo(id=odd, title=odd, notebook=odd, cells=(odd,))
    keep(store, odd, note(odd))
    store.enroll(info)
    store.remember(Memory(id=odd, text="x", scope="notebook", notebook=odd))
    assert ([note(odd)], [info]) == (store.load(odd), store.sessions())
    assert [odd] == [memory.id for memory in store.memories(odd)]


def test_threads_write_side_by_side(store: Store):
    def write(name: str) -> None:
        keep(store, name, *(note(f"{name}{number}") for number in range(50)))
        keep(store, "all", *(note(f"{name}{number}") for number in range(50)))

    threads = [threading.Thread(target=write, args=(name,)) for name in "abcd"]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    for name in "abcd":
        expected = [f"{name}{number}" for number in range(50)]
        assert expected == texts(store.load(name))
        assert expected == [text for text in texts(store.load("all")) if text.startswith(name)]


# -- memories ------------------------------------------------------------------------------------


def mine(name: str, **more: Any) -> Memory:
    return Memory(id=name, text=f"I am {name}", **more)


def of(notebook: str, name: str) -> Memory:
    return mine(name, scope="notebook", notebook=notebook)


def test_what_is_remembered_comes_back_oldest_first(store: Memories):
    memories = [
        Memory(id="z", text="I prefer Polars", origin="you", at=5.0),
        of("/x.ipynb", "m"),
        mine("a", origin="/x.ipynb, “load it”"),
    ]
    for memory in memories:
        store.remember(memory)
    assert memories == store.memories("/x.ipynb")


def test_a_notebook_is_told_the_users_and_its_own(store: Memories):
    for memory in (mine("u"), of("/x.ipynb", "x"), of("/y.ipynb", "y")):
        store.remember(memory)
    told = {name: [memory.id for memory in store.memories(name)] for name in ("/x.ipynb", "/y.ipynb", "")}
    assert {"/x.ipynb": ["u", "x"], "/y.ipynb": ["u", "y"], "": ["u"]} == told


def test_what_is_forgotten_is_returned_and_gone(store: Memories):
    for name in "abc":
        store.remember(mine(name))
    assert mine("b") == store.forget_memory("b")
    assert [mine("a"), mine("c")] == store.memories()


def test_forgetting_something_unknown_says_so(store: Memories):
    with pytest.raises(UsageError, match="There is no fact 'x'") as error:
        store.forget_memory("x")
    assert "`/facts` lists them." == error.value.remedy


def test_a_scope_holds_fifty_and_another_one_still_has_room(store: Memories):
    for number in range(MOST):
        store.remember(mine(str(number)))
    with pytest.raises(UsageError, match="There are 50 facts of yours already"):
        store.remember(mine("one more"))
    store.remember(of("/x.ipynb", "x"))
    store.forget_memory("7")
    store.remember(mine("now it fits"))
    assert MOST == len(store.memories())


def test_a_notebook_that_is_full_says_whose_facts_these_are(store: Memories):
    for number in range(MOST):
        store.remember(of("/x.ipynb", str(number)))
    with pytest.raises(UsageError, match="50 facts of this notebook"):
        store.remember(of("/x.ipynb", "one more"))
    store.remember(of("/y.ipynb", "y"))


def test_the_facts_of_a_renamed_notebook_move_as_far_as_there_is_room(store: Memories):
    for memory in (of("/old.ipynb", "a"), mine("u"), of("/old.ipynb", "b"), of("/new.ipynb", "c")):
        store.remember(memory)
    store.move_memories("/old.ipynb", "/new.ipynb")
    assert [mine("u")] == store.memories("/old.ipynb")
    moved = [of("/new.ipynb", "a"), mine("u"), of("/new.ipynb", "b"), of("/new.ipynb", "c")]
    assert moved == store.memories("/new.ipynb")
    for number in range(MOST - 1):
        store.remember(of("/full.ipynb", str(number)))
    store.move_memories("/new.ipynb", "/full.ipynb")
    assert MOST + 1 == len(store.memories("/full.ipynb"))
    assert [mine("u"), of("/new.ipynb", "b"), of("/new.ipynb", "c")] == store.memories("/new.ipynb")


def test_a_text_has_three_hundred_characters_at_most(store: Memories):
    store.remember(Memory(id="a", text="x" * LONGEST))
    with pytest.raises(UsageError, match="301 characters"):
        store.remember(Memory(id="b", text="x" * (LONGEST + 1)))
    assert ["a"] == [memory.id for memory in store.memories()]


def test_an_id_that_is_taken_does_not_replace_what_has_it(store: Memories):
    store.remember(mine("a"))
    with pytest.raises(UsageError, match="There is a fact 'a' already"):
        store.remember(Memory(id="a", text="something else"))
    assert [mine("a")] == store.memories()
