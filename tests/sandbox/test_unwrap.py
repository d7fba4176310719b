"""Replies in the host: whatever the bytes are, a value of plain data or one refusal, and never code."""

from __future__ import annotations

import itertools
import json
import random
import sys
import threading

import numpy as np
import pandas as pd
import pytest

from agent_magics.sandbox import columns
from agent_magics.sandbox.reply import Wrapper, assemble, fault
from agent_magics.sandbox.unwrap import DEEPEST, MOST_PARTS, unwrap

MUTATED_JSON = 10_000
MUTATED_FRAMES = 3_000
BATCH = 250

TREE = {
    "a": [1, 2.5, None, True, "text é\n\\", {"b": []}],
    "c": float("nan"),
    "d": b"bytes",
    "e": {"f": {"g": -1}},
}
FRAME = pd.DataFrame(
    {
        "a": range(50),
        "s": [f"x{n}" if n % 7 else None for n in range(50)],
        "c": pd.Categorical(["u", "v"] * 25),
        "t": pd.date_range("2026", periods=50, tz="UTC"),
        "d": pd.date_range("2026", periods=50).date,
        "b": [True, False] * 25,
        "n": pd.array([1, None] * 25, dtype="Int64"),
        "l": [[1, 2], [], None, [3], [4, 5]] * 10,
        "f": np.arange(50, dtype=np.float32),
        "z": [None] * 50,
    },
    index=pd.MultiIndex.from_product([range(25), ["x", "y"]]),
)


def body(value: object) -> bytes:
    return b"".join(Wrapper().wrap(value))


def forged(header: object, data: bytes = b"") -> bytes:
    """A reply whose header says what it likes."""
    text = header if isinstance(header, bytes) else json.dumps(header).encode()
    return len(text).to_bytes(4, "big") + text + data


def attached(attachment: dict, data: bytes = b"") -> bytes:
    return forged({"value": None, "attached": [{"at": [], **attachment}], "buffers": [[0, len(data)]]}, data)


def refusal(reply: bytes) -> str:
    value, found = unwrap(reply)
    assert (None, "refused_reply") == (value, found and found.kind)
    assert found is not None
    return found.message


def mutated(source: bytes, chance: random.Random) -> bytes:
    """The same with a few bytes changed, cut, doubled, or taken from elsewhere in it."""
    data = bytearray(source)
    for _ in range(chance.choice([1, 1, 2, 5])):
        place = chance.randrange(len(data))
        match chance.randrange(6):
            case 0:
                del data[place:]
            case 1:
                del data[place : place + chance.randrange(1, 9)]
            case 2:
                data[place:place] = data[place : place + chance.randrange(1, 40)]
            case 3:
                data[place] = chance.choice(b'[]{}",:0123456789-eE.\\')
            case _:
                data[place] = chance.randrange(256)
        data = data or bytearray(b"\0")
    return bytes(data)


def mutated_header(source: bytes, chance: random.Random) -> bytes:
    """Bytes changed in the header alone, whose length is told anew: so that more of them get further."""
    length = int.from_bytes(source[:4], "big")
    return forged(mutated(source[4 : 4 + length], chance), source[4 + length :])


def mutated_data(source: bytes, chance: random.Random) -> bytes:
    """Bytes changed in the buffers alone: offsets, validity, codes, text."""
    start = 4 + int.from_bytes(source[:4], "big")
    data = bytearray(source[start:])
    for _ in range(chance.choice([1, 2, 5, 20])):
        data[chance.randrange(len(data))] = chance.choice([0, 1, 0x7F, 0x80, 0xFF, chance.randrange(256)])
    return source[:start] + bytes(data)


@pytest.mark.parametrize("batch", range(MUTATED_JSON // BATCH))
def test_mutated_json_is_a_value_or_a_refusal(batch):
    chance = random.Random(batch)
    source = body(TREE)
    for _ in range(BATCH):
        change = chance.choice([mutated, mutated_header])
        _, found = unwrap(change(source, chance))
        assert found is None or found.kind in {"refused_reply", "exception"}


@pytest.mark.parametrize("batch", range(MUTATED_FRAMES // BATCH))
def test_mutated_frame_is_a_value_or_a_refusal(batch):
    chance = random.Random(1000 + batch)
    source = body({"frame": FRAME, "array": FRAME.a.to_numpy(), "text": np.array(["ab", "c"])})
    for _ in range(BATCH):
        change = chance.choice([mutated, mutated_header, mutated_data, mutated_data])
        value, found = unwrap(change(source, chance))
        assert found is None or found.kind == "refused_reply"
        use(value)


def use(value: object) -> None:
    """What a notebook does first with a value: it shows it."""
    if isinstance(value, dict):
        for item in value.values():
            use(item)
    elif isinstance(value, pd.DataFrame):
        value.head(3).to_string()
        value.memory_usage(deep=True)
        value.select_dtypes("number").sum(numeric_only=True)
    elif isinstance(value, np.ndarray):
        repr(value)


def test_plain_reply_is_taken():
    value, found = unwrap(body({"a": [1, (2, 3)]}))
    assert ({"a": [1, [2, 3]]}, None) == (value, found)


def test_fault_is_taken_as_it_was_said():
    _, found = unwrap(b"".join(fault("exception", "ValueError: x", 3)))
    assert found is not None
    assert ("exception", "ValueError: x", 3) == (found.kind, found.message, found.line)


@pytest.mark.parametrize("kind", ["timeout", "level", "cancelled", "unavailable", "x", "", None, 1])
def test_fault_that_a_child_has_no_say_in_is_refused(kind):
    assert "its fault is malformed" in refusal(forged({"fault": {"kind": kind, "message": "", "line": None}}))


@pytest.mark.parametrize(
    ("reply", "why"),
    [
        (b"", "it is too short"),
        (b"\0\0\0", "it is too short"),
        (b"\xff\xff\xff\xff{}", "its header is longer"),
        (forged([]), "its header is no object"),
        (forged({"attached": [], "buffers": []}), "it could not be read (KeyError)"),
        (forged(b"{}x"), "it is not JSON"),
        (forged(b"\xff\xfe{}"), "it is not JSON"),
        (forged({"value": 1, "attached": {}, "buffers": []}), "a list is missing"),
        (forged(b'{"value": ' + b"[" * 100_000), "nested more than 100 deep"),
        (forged(b'{"value": ' + b"[" * 200 + b"]" * 200 + b"}"), "nested more than 100 deep"),
        (forged({"value": [0] * (MOST_PARTS + 2)}), "more than 500,000 parts"),
        (forged(b'{"value": ' + b"1" * 5000 + b"}"), "a number in it has more than 4,300 digits"),
        (forged(b'{"value": Infinity}'), "Infinity is not JSON"),
        (forged(b'{"value": {"a": 1, "a": 1}}'), "the same key twice"),
        (forged(b'{"value": "\\udc00", "attached": [], "buffers": []}'), "half a surrogate pair"),
        (forged({"value": 1, "attached": [], "buffers": [[0, 9]]}), "a buffer lies outside"),
        (forged({"value": 1, "attached": [], "buffers": [[-8, 8]]}, bytes(8)), "a buffer lies outside"),
        (forged({"value": 1, "attached": [], "buffers": [[0, 8], [4, 4]]}, bytes(8)), "a buffer lies"),
        (forged({"value": 1, "attached": [{"at": ["a"], "as": "float", "text": "nan"}], "buffers": []}),
         "an attachment points nowhere"),
        (forged({"value": [1], "attached": [{"at": [-1], "as": "float", "text": "nan"}], "buffers": []}),
         "an attachment points nowhere"),
        (forged({"value": 1, "attached": [{"at": [], "as": "float", "text": "nan"}], "buffers": []}),
         "two things are attached at one place"),
        (attached({"as": "float", "text": "1e999"}), "an attachment is of an unknown kind"),
        (attached({"as": "pickle", "buffer": 0}, b"x"), "an attachment is of an unknown kind"),
        (attached({"as": "bytes", "buffer": 1}, b"x"), "a buffer is missing"),
        (attached({"as": "bytes", "buffer": True}, b"x"), "a buffer is missing"),
    ],
    ids=itertools.count(),
)  # fmt: skip
def test_reply_that_is_none_is_refused_in_words(reply, why):
    assert why in refusal(reply)


@pytest.mark.parametrize(
    ("dtype", "shape", "data", "why"),
    [
        ("|O8", [1], bytes(8), "none that we take"),
        ("|V8", [1], bytes(8), "none that we take"),
        ("<f8,<i4", [1], bytes(12), "none that we take"),
        ("object", [1], bytes(8), "none that we take"),
        ("<f8", [2], bytes(8), "does not fit its bytes"),
        ("<f8", [-1], bytes(8), "a length is no length"),
        ("<f8", [1 << 62, 4], bytes(8), "a length is no length"),
        ("<f8", [1 << 39, 1 << 39], bytes(8), "does not fit its bytes"),
        ("<f8", [1.0], bytes(8), "a length is no length"),
        ("<f8", [1] * 40, bytes(8), "none that we take"),
        ("<U0", [1 << 39], b"", "does not fit its bytes"),
        ("<i3", [1], bytes(3), "could not be read"),
        ("|b1", [2], b"\x01\x02", "truth values"),
        ("<U1", [1], b"\xff\xff\xff\xff", "no character"),
    ],
)
def test_array_that_is_none_is_refused(dtype, shape, data, why):
    assert why in refusal(attached({"as": "array", "dtype": dtype, "shape": shape, "buffer": 0}, data))


def series(array: dict, data: bytes = bytes(64), rows: int = 1) -> bytes:
    column = {"array": array, "dtype": None}
    index = {"range": [0, rows, 1], "names": [None]}
    return attached({"as": "series", "name": None, "data": column, "index": index}, data)


@pytest.mark.parametrize(
    ("array", "why"),
    [
        ({"type": "int64", "length": 9, "offset": 0, "buffers": [None, 0]}, "be read (ArrowInvalid)"),
        ({"type": "int64", "length": 1, "offset": 1 << 39, "buffers": [None, 0]}, "ArrowInvalid"),
        ({"type": "int64", "length": -1, "offset": 0, "buffers": [None, 0]}, "a length is no length"),
        ({"type": "int64", "length": 1, "offset": 0, "buffers": [None, None]}, "values are missing"),
        ({"type": "int64", "length": 1, "offset": 0, "buffers": [None]}, "do not fit its type"),
        ({"type": "string", "length": 99, "offset": 0, "buffers": [None, 0, 0]}, "ArrowInvalid"),
        ({"type": "string_view", "length": 1, "offset": 0, "buffers": [None, 0, 0]}, "do not fit its type"),
        ({"type": "struct<>", "length": 1 << 39, "offset": 0, "buffers": [None, None]}, "no plain numbers"),
        ({"type": "run_end_encoded", "length": 1, "offset": 0, "buffers": [None, 0]}, "none that we take"),
        ({"type": "extension<x>", "length": 1, "offset": 0, "buffers": [None, 0]}, "none that we take"),
        ({"type": "null", "length": 1 << 39, "offset": 0, "buffers": []}, "no plain numbers"),
        ({"type": "timestamp[ns, tz=../../etc/passwd]", "length": 1, "offset": 0, "buffers": [None, 0]},
         "none that we take"),
        ({"type": "timestamp[ns, tz=/etc/passwd]", "length": 1, "offset": 0, "buffers": [None, 0]},
         "could not be read"),
    ],
)  # fmt: skip
def test_column_that_is_none_is_refused(array, why):
    assert why in refusal(series(array))


@pytest.mark.parametrize("seconds", [-62_135_596_801, 253_402_300_800, -(1 << 63) + 1])
def test_moment_outside_of_the_calendar_is_refused(seconds):
    array = {"type": "timestamp[s]", "length": 2, "offset": 0, "buffers": [None, 0]}
    data = np.array([0, seconds], dtype=np.int64).tobytes()
    assert "outside of the years 1 to 9999" in refusal(series(array, data, rows=2))


def test_first_and_last_moment_of_the_calendar_are_taken():
    array = {"type": "timestamp[s]", "length": 3, "offset": 0, "buffers": [None, 0]}
    data = np.array([-62_135_596_800, 253_402_300_799, -(1 << 63)], dtype=np.int64).tobytes()
    value, found = unwrap(series(array, data, rows=3))
    expected = ["0001-01-01T00:00:00", "9999-12-31T23:59:59", "NaT"]
    assert (None, expected) == (found, [str(moment) for moment in value.to_numpy()])


def test_columns_within_columns_have_an_end():
    array: dict = {"type": "int64", "length": 1, "offset": 0, "buffers": [None, 0]}
    for _ in range(20):
        array = {"type": "list", "length": 1, "offset": 0, "buffers": [None, 0], "items": array}
    assert "none that we take" in refusal(series(array))


def test_text_that_is_no_text_is_refused():
    """A string's offsets beyond its bytes, and bytes that are no UTF-8."""
    offsets = np.array([0, 4], dtype=np.int32).tobytes()
    header = {"type": "string", "length": 1, "offset": 0, "buffers": [None, 0, 1]}
    column = {"as": "series", "name": None, "data": {"array": header, "dtype": None}, "at": []}
    index = {"index": {"range": [0, 1, 1], "names": [None]}}
    for text in (b"ab", b"\xff\xfe\xff\xfe"):
        buffers = [[0, 8], [8, len(text)]]
        reply = forged({"value": None, "attached": [{**column, **index}], "buffers": buffers}, offsets + text)
        assert "ArrowInvalid" in refusal(reply)


def test_arrow_s_own_files_are_not_read():
    """Compressed bodies, extension types and flatbuffers have nowhere to go in."""
    import pyarrow as pa

    sink = pa.BufferOutputStream()
    table = pa.Table.from_pandas(FRAME[["a"]].reset_index(drop=True))
    options = pa.ipc.IpcWriteOptions(compression="zstd")
    with pa.ipc.new_stream(sink, table.schema, options=options) as writer:
        writer.write_table(table)
    stream = sink.getvalue().to_pybytes()
    assert "unknown kind" in refusal(attached({"as": "arrow", "buffer": 0}, stream))
    refusal(stream)


def test_deep_json_is_refused_where_the_recursion_limit_is_high():
    """A notebook may have raised it beyond what a thread's stack holds; Python's reader would crash there."""
    results: list[str] = []
    before = sys.getrecursionlimit()
    sys.setrecursionlimit(10**6)
    try:
        reply = forged(b'{"value": ' + b"[" * 3_000_000 + b"]" * 3_000_000 + b"}")
        thread = threading.Thread(target=lambda: results.append(refusal(reply)))
        thread.start()
        thread.join(60)
    finally:
        sys.setrecursionlimit(before)
    assert "nested more than 100 deep" in results[0]


@pytest.mark.parametrize("depth", [1, 50])
def test_depth_that_a_child_may_return_is_read(depth):
    value: list = []
    for _ in range(depth):
        value = [value]
    assert (value, None) == unwrap(body(value))
    assert depth < DEEPEST


@pytest.mark.parametrize(
    "text", ['"', '\\"', '\\\\"', "[[[", '"[', "\\u005b", "]]}}", "\\", "a" * 100_000 + '"']
)
def test_brackets_and_quotes_in_text_are_text(text):
    assert ({"k": [text]}, None) == unwrap(body({"k": [text]}))


def test_quotes_without_end_are_read_in_time():
    for filler in (b'\\"', b'"', b"\\", b'"\\'):
        assert "brackets don't match" in refusal(forged(b'{"value": "' + filler * 1_000_000))


def test_what_takes_no_bytes_is_not_of_any_length():
    rows = {"range": [0, 1 << 33, 1], "names": [None]}
    none = {"range": [0, 0, 1], "names": [None]}
    assert "rows and holds nothing" in refusal(attached({"as": "index", "index": rows}))
    frame = {"as": "frame", "rows": 1 << 33, "data": [], "index": rows, "columns": none}
    assert "rows and holds nothing" in refusal(attached(frame))


def test_buffers_are_aligned():
    pieces = assemble({"value": None}, [memoryview(b"abc"), memoryview(bytes(8))])
    whole = b"".join(pieces)
    start = 4 + int.from_bytes(whole[:4], "big")
    places = json.loads(whole[4:start])["buffers"]
    assert (0, [[0, 3], [64, 8]], b"abc") == (start % 64, places, whole[start : start + 3])


def test_frames_without_pyarrow_are_refused_in_words(monkeypatch):
    monkeypatch.delitem(sys.modules, "pyarrow")
    with pytest.raises(columns.NoArrow, match=r"install agent-magics\[frames\]"):
        Wrapper().wrap(FRAME[["a"]])
