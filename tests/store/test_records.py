"""Any fact, any key: what is stored comes back, and no key is stored."""

from __future__ import annotations

import json
import tempfile
from pathlib import Path
from typing import Any

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from agent_magics.errors import ConfigError
from agent_magics.store import SQLiteStore
from agent_magics.store.records import checksum, pack, unpack
from agent_magics.talk import (
    ContextChanged,
    ConversationChanged,
    Memory,
    SessionInfo,
    ToolCall,
    ToolCalled,
    TurnImported,
)
from agent_magics.talk.history import conversation
from tests import strategies
from tests.store.facts import a_turn, note

HISTORY = st.one_of(
    strategies.FACTS,
    st.builds(
        ConversationChanged,
        turns=strategies.tuples(strategies.TEXT),
        why=st.sampled_from(("clear", "rewind", "undo", "fork", "compact")),
        at=strategies.NUMBER,
    ),
    st.builds(TurnImported, turn=strategies.TURNS, at=strategies.NUMBER),
    st.builds(
        ContextChanged,
        pins=strategies.tuples(strategies.TEXT),
        covered=strategies.tuples(st.tuples(strategies.TEXT, st.integers())),
        summary=strategies.TEXT,
        at=strategies.NUMBER,
    ),
)
INFOS = st.builds(
    SessionInfo,
    id=strategies.TEXT,
    title=strategies.TEXT,
    notebook=strategies.TEXT,
    cells=strategies.tuples(strategies.TEXT),
    used=strategies.NUMBER,
    turns=st.integers(0),
)
ANY_TEXT = st.text(st.characters(exclude_categories=()))  # halves of characters, too


def same(text: str) -> str:
    return text


def unpacked(record: str) -> Any:
    (thing,) = unpack([record.encode()])
    return thing


def masked(text: str) -> str:
    return text.replace("Ω", "[key]")


@given(HISTORY | INFOS)
def test_whatever_is_packed_comes_back(thing):
    assert thing == unpacked(pack(thing, same))


@given(ANY_TEXT)
@example("\ud83d half of a face")
@example('"quoted" \\ \n \x00 \x7f \u2028')
def test_any_text_comes_back(text):
    fact = ToolCalled(call=ToolCall(id="c", name=text, arguments={text: [text]}), shown="f", at=1.0)
    assert fact == unpacked(pack(fact, same))


@given(st.lists(ANY_TEXT, min_size=2).map("Ω".join))
@example('"Ω\\" \\')
@example("\ud83dΩ")
def test_every_text_that_is_stored_has_gone_through_the_mask(text):
    fact = ToolCalled(call=ToolCall(id=text, name=text, arguments={text: [{text: text}]}), shown=text, at=1.0)
    called = unpacked(pack(fact, masked))
    clean = masked(text)
    expected = ToolCall(id=clean, name=clean, arguments={clean: [{clean: clean}]})
    assert (expected, clean) == (called.call, called.shown)


@given(st.lists(strategies.turns_told(), max_size=3))
def test_a_stored_session_is_the_conversation_that_it_was(turns):
    facts = [fact for turn in turns for fact in turn]
    with tempfile.TemporaryDirectory() as folder:
        store = SQLiteStore(Path(folder) / "sessions.db")
        for fact in facts:
            store.append("s", fact)
        store.close()
        again = SQLiteStore(Path(folder) / "sessions.db")
        loaded = again.load("s")
        again.close()
    assert facts == loaded
    assert conversation("s", facts) == conversation("s", loaded)


@pytest.mark.parametrize(
    "secret", ["provider", "arguments", "ToolCalled", "approve", "cancelled", "notebook"]
)
def test_a_key_that_is_one_of_the_formats_own_words_does_not_break_it(secret):
    facts = [
        *a_turn(),
        ConversationChanged(turns=("t",), why="clear", at=1.0),
        Memory(id="m", text=f"x {secret}"),
    ]
    for fact in facts:
        assert type(fact) is type(unpacked(pack(fact, lambda text: text.replace(secret, "[key]"))))


def test_a_mask_sees_texts_as_they_are_not_as_json_writes_them():
    seen: list[str] = []
    pack(note('a "key"\nü\\'), lambda text: seen.append(text) or text)
    assert ['a "key"\nü\\'] == seen


def test_a_record_nested_deeper_than_python_recurses_is_masked_too():
    deep: object = "secret"
    for _ in range(900):
        deep = [deep]
    record = pack(
        ToolCalled(call=ToolCall(id="c", name="f", arguments={"x": deep}), shown="f", at=1.0),
        lambda text: text.replace("secret", "[key]"),
    )
    assert ("secret" in record, "[key]" in record) == (False, True)


def test_a_sum_tells_what_was_changed_and_what_was_moved():
    record = pack(note(), same)
    total = checksum(record, "s", 1)
    assert total == checksum(record.encode(), "s", 1)
    assert total not in (checksum(record.replace("hello", "hallo"), "s", 1), checksum(record, "s", 2))
    assert total != checksum(record, "r", 1)


@pytest.mark.parametrize("record", [{"v": 99, "type": "Noticed", "text": "hi", "at": 1.0}, {}])
def test_a_newer_record_is_refused_and_so_is_none(record):
    with pytest.raises(ConfigError, match="format version"):
        unpacked(json.dumps(record))


def test_two_records_in_the_place_of_one_are_refused():
    record = pack(note(), same)
    with pytest.raises(ConfigError, match="not one record"):
        unpacked(f"{record},{record}")
