"""Facts of a session -> its conversation."""

from __future__ import annotations

from agent_magics.talk import (
    ConversationChanged,
    HistoryFact,
    Turn,
    TurnBegan,
    TurnEnded,
    TurnImported,
    Usage,
)
from agent_magics.talk.history import conversation


def turn(name: str, replaces: str = "") -> list[HistoryFact]:
    return [
        TurnBegan(turn=name, prompt=name.upper(), provider="p", model="m", at=1.0, replaces=replaces),
        TurnEnded(stop="done", reply=f"re {name}", usage=Usage(), seconds=1.0, at=2.0),
    ]


def left(*facts: HistoryFact) -> list[tuple[str, str, bool]]:
    return [(each.id, each.stop, each.stale) for each in conversation("s", facts).turns]


def test_turns_stand_in_the_order_in_which_they_began():
    assert [("a", "done", False), ("b", "done", False)] == left(*turn("a"), *turn("b"))


def test_a_turn_that_never_ended_is_closed_and_says_so():
    began, _ = turn("b")
    facts = [*turn("a"), began]
    assert [("a", "done", False), ("b", "cancelled", False)] == left(*facts)
    assert "interrupted" in conversation("s", facts).turns[-1].error


def test_going_back_and_undoing_it_are_facts_of_their_own():
    facts = [*turn("a"), *turn("b"), ConversationChanged(turns=("a",), why="rewind", at=3.0)]
    assert [("a", "done", False)] == left(*facts)
    undone = ConversationChanged(turns=("a", "b"), why="undo", at=4.0)
    assert [("a", "done", False), ("b", "done", False)] == left(*facts, undone)


def test_a_turn_that_runs_again_takes_its_place_and_makes_the_later_ones_stale():
    facts = [*turn("a"), *turn("b"), *turn("c"), *turn("b2", replaces="b")]
    assert [("a", "done", False), ("b2", "done", False), ("c", "done", True)] == left(*facts)


def test_an_imported_turn_stands_where_it_came():
    imported = TurnImported(turn=Turn(id="f", prompt="F", stop="done", origin="from file x.ipynb"), at=1.0)
    assert [("f", "done", False), ("a", "done", False)] == left(imported, *turn("a"))
