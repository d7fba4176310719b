"""Many rows in batches, against both vendors' batch APIs."""

from __future__ import annotations

import json
import signal
import subprocess
import sys
import threading
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from agent_magics.errors import MissingKey, UsageError
from agent_magics.extract.progress import Progress
from agent_magics.many_rows import cancel_batches, extract_many
from agent_magics.talk import Usage
from agent_magics.ui.progress import said as in_words
from tests.extract.batch_vendor import KEY, BatchVendor, serving
from tests.extract.conftest import ROOT

VENDORS = ("anthropic:claude-sonnet-5-5", "openai:gpt-6.1-terra", "openai chat")
BOTH = pytest.mark.parametrize("name", VENDORS[:2])
ALL = pytest.mark.parametrize("name", VENDORS)


@pytest.fixture
def vendor() -> Iterator[BatchVendor]:
    with serving() as vendor:
        yield vendor


def options(vendor: BatchVendor, name: str, path: Path | None) -> dict[str, Any]:
    """The keywords that lead ``extract_many`` to a vendor, in batches."""
    api = {"api": "chat" if name == "openai chat" else "responses"} if name.startswith("openai") else {}
    given = vendor.options("openai:gpt-4o" if name == "openai chat" else name)
    return given | api | {"mode": "batch"} | ({"checkpoint": path / "run.db"} if path else {})


def rows_of(count: int) -> list[str]:
    return [f"this is row {at} of them" for at in range(count)]


def ages(count: int) -> list[Any]:
    return [{"age": at} for at in range(count)]


def calls(vendor: BatchVendor, what: str) -> int:
    return sum(number for call, number in vendor.calls.items() if call.endswith(what))


# -- what comes out ------------------------------------------------------------------------------------


@ALL
def test_values_stand_in_the_rows_order_although_results_do_not(
    vendor: BatchVendor, tmp_path: Path, name: str
) -> None:
    rows = extract_many(rows_of(25), "age int", concurrency=10, **options(vendor, name, tmp_path))

    assert ages(25) == rows
    assert Usage(input=125, output=75) == rows.usage
    assert [10, 10, 5] == sorted((len(each.requests) for each in vendor.batches.values()), reverse=True)


@ALL
def test_a_row_is_asked_as_it_would_be_live(vendor: BatchVendor, tmp_path: Path, name: str) -> None:
    how = options(vendor, name, tmp_path)
    extract_many(["row 3"], "age int", instruction="Look.", **how)
    live: dict[str, Any] = how | {"mode": "live", "checkpoint": None}
    extract_many(["row 3"], "age int", instruction="Look.", **live)

    [(_, batched)] = vendor.batches["batch_1"].requests
    alone = {key: value for key, value in vendor.others[0].items() if key not in ("stream", "stream_options")}
    assert alone == batched


@ALL
def test_rows_that_fail_are_told_apart_and_cost_their_own_place(
    vendor: BatchVendor, tmp_path: Path, name: str
) -> None:
    said = {1: "refused", 2: "cut", 3: "nonsense", 4: "errored"}
    vendor.script = lambda row, times: said.get(row, json.dumps({"age": row}))
    rows = extract_many(["row 0", "row 1", "row 2", "row 3", "row 4", " "], "age int",
                        **options(vendor, name, tmp_path))  # fmt: skip

    assert {"age": 0} == rows[0]
    assert ["refused", "truncated", "invalid", "provider", "empty"] == [each.kind for each in rows.failures]
    assert 3 == vendor.asked[3]  # two repairs, and no more


@ALL
def test_an_invalid_answer_is_repaired_in_a_following_batch(
    vendor: BatchVendor, tmp_path: Path, name: str
) -> None:
    vendor.script = lambda row, times: json.dumps({"age": row if times > 1 or row != 2 else "two"})
    rows = extract_many(rows_of(4), "age int", **options(vendor, name, tmp_path))

    assert ages(4) == rows
    assert [4, 1] == [len(each.requests) for each in vendor.batches.values()]
    assert Usage(input=25, output=15) == rows.usage


@ALL
@pytest.mark.parametrize("what", ["expired", "overloaded"])
def test_what_was_not_answered_is_sent_again(
    vendor: BatchVendor, tmp_path: Path, name: str, what: str
) -> None:
    vendor.script = lambda row, times: what if row % 2 and times == 1 else json.dumps({"age": row})
    rows = extract_many(rows_of(6), "age int", **options(vendor, name, tmp_path))

    assert ages(6) == rows
    assert 9 == sum(vendor.asked.values())


def test_duplicates_are_asked_once_counted_once_and_keep_their_places(
    vendor: BatchVendor, tmp_path: Path
) -> None:
    texts = ["row 1", "row 2", "row 1", "row 1"]
    rows = extract_many(texts, "age int", **options(vendor, VENDORS[0], tmp_path))

    assert [{"age": 1}, {"age": 2}, {"age": 1}, {"age": 1}] == rows
    assert Usage(input=10, output=6) == rows.usage


def test_a_stream_yields_a_batch_when_it_ends_and_reads_no_further_than_its_window(
    vendor: BatchVendor, tmp_path: Path
) -> None:
    read = 0

    def texts() -> Iterator[str]:
        nonlocal read
        for at in range(1_000_000):
            read += 1
            yield f"row {at}"

    how = options(vendor, VENDORS[1], tmp_path)
    pairs = extract_many(texts(), "age int", stream="ordered", concurrency=20, **how)
    taken = [next(pairs) for _ in range(60)]
    pairs.close()  # pyright: ignore[reportAttributeAccessIssue]  # it is a generator

    assert [(at, {"age": at}) for at in range(60)] == taken
    assert read < 60 + 3 * (2 * 20 + 16)
    assert all(len(each.requests) <= 20 for each in vendor.batches.values())


# -- picking up ----------------------------------------------------------------------------------------

RUN = """
import json, sys
from agent_magics.many_rows import extract_many
extract_many([f"this is row {at} of them" for at in range(5)], "age int", **json.loads(sys.argv[1]))
"""


def begun(how: dict[str, Any]) -> subprocess.Popen[bytes]:
    told = json.dumps({key: str(each) if isinstance(each, Path) else each for key, each in how.items()})
    return subprocess.Popen([sys.executable, "-c", RUN, told], cwd=ROOT)


@BOTH
def test_a_killed_run_leaves_its_batch_and_the_next_one_waits_for_the_same(
    vendor: BatchVendor, tmp_path: Path, name: str
) -> None:
    vendor.hold, seen = True, threading.Event()
    how = options(vendor, name, tmp_path)
    with begun(how) as process:
        while not any(each.looks for each in vendor.batches.values()):
            assert process.poll() is None
            seen.wait(0.02)
        process.kill()
    vendor.hold = False
    rows = extract_many(rows_of(5), "age int", **how)

    assert ages(5) == rows
    assert 1 == len(vendor.batches)
    assert Usage(input=25, output=15) == rows.usage
    assert ages(5) == extract_many(rows_of(5), "age int", **how)
    assert 1 == len(vendor.batches)


@BOTH
def test_a_batch_whose_id_was_never_heard_is_found(vendor: BatchVendor, tmp_path: Path, name: str) -> None:
    """The process dies after the vendor has made the batch, and before it hears so."""
    how = options(vendor, name, tmp_path)
    vendor.hold = True
    running: list[subprocess.Popen[bytes]] = []
    here = threading.Event()

    def kill() -> None:
        assert here.wait(60)
        running[0].kill()
        running[0].wait(60)

    vendor.at_making = kill
    with begun(how) as process:
        running.append(process)
        here.set()
    vendor.at_making, vendor.hold = None, False
    vendor.made([("another-1", {"model": "m", "messages": [], "n": at}) for at in range(1)], {})
    rows = extract_many(rows_of(5), "age int", **how)

    assert -signal.SIGKILL == process.returncode
    assert ages(5) == rows
    assert 2 == len(vendor.batches)  # the one that was found, and somebody else's


@BOTH
def test_a_dropped_connection_while_a_batch_is_made_makes_no_second_one(
    vendor: BatchVendor, tmp_path: Path, name: str
) -> None:
    vendor.lost = 1

    assert ages(5) == extract_many(rows_of(5), "age int", **options(vendor, name, tmp_path))
    assert 1 == len(vendor.batches)


@BOTH
def test_an_interrupt_names_the_batches_and_the_next_run_or_a_cancel_takes_them_up(
    vendor: BatchVendor, tmp_path: Path, name: str
) -> None:
    vendor.hold, pressed = True, False

    def watch(now: Progress) -> None:
        nonlocal pressed
        if now.batches and vendor.batches and not pressed and any(x.looks for x in vendor.batches.values()):
            pressed = True
            signal.raise_signal(signal.SIGINT)

    how = options(vendor, name, tmp_path)
    before = signal.signal(signal.SIGINT, signal.default_int_handler)
    try:
        with pytest.raises(KeyboardInterrupt) as caught:
            watched: dict[str, Any] = how | {"progress": watch}
            extract_many(rows_of(5), "age int", **watched)
    finally:
        signal.signal(signal.SIGINT, before)
    where = {key: how[key] for key in ("provider", "base_url", "api_key", "api") if key in how}

    assert "batch_1" in caught.value.__notes__[0]
    assert ["batch_1"] == cancel_batches(how["checkpoint"], **where)
    assert vendor.batches["batch_1"].cancelled
    vendor.hold = False
    assert ages(5) == extract_many(rows_of(5), "age int", **how)  # what was cancelled is sent anew
    assert 2 == len(vendor.batches)


# -- trouble ---------------------------------------------------------------------------------------------


@BOTH
def test_refusals_while_making_and_looking_are_waited_for(
    vendor: BatchVendor, tmp_path: Path, name: str
) -> None:
    paths = ("/messages/batches",) if name.startswith("anthropic") else ("/files", "/batches")
    vendor.refuse = {f"POST {path}": [429, 429] for path in paths}
    vendor.refuse[f"GET {paths[-1]}/ID"] = [429, 529, 503]

    assert ages(5) == extract_many(rows_of(5), "age int", **options(vendor, name, tmp_path))
    assert 1 == len(vendor.batches)
    assert not any(vendor.refuse.values())


def test_a_refused_key_ends_the_run_and_nothing_is_left_behind(vendor: BatchVendor, tmp_path: Path) -> None:
    how = options(vendor, VENDORS[0], tmp_path)
    vendor.refuse = {"POST /messages/batches": [401]}
    with pytest.raises(MissingKey) as caught:
        extract_many(rows_of(5), "age int", **how)

    assert KEY not in str(caught.value)
    assert ages(5) == extract_many(rows_of(5), "age int", **how)


@BOTH
def test_neither_key_nor_row_is_in_the_file_and_progress_tells_of_the_batches(
    vendor: BatchVendor, tmp_path: Path, name: str
) -> None:
    reports: list[Progress] = []
    vendor.looks = 3
    how: dict[str, Any] = options(vendor, name, tmp_path) | {"progress": reports.append}
    files: list[bytes] = []

    def look() -> None:
        files.extend(each.read_bytes() for each in tmp_path.glob("run.db*"))

    vendor.at_making = look
    extract_many(rows_of(5), "age int", **how)

    written = b"".join(files + [each.read_bytes() for each in tmp_path.glob("run.db*")])
    assert files
    assert KEY.encode() not in written
    assert b"this is row" not in written
    assert KEY not in repr(reports)
    assert (1, 5) in {(each.batches, each.sent) for each in reports}
    assert {None} == {each.cost for each in reports}
    assert "0 of 5 answered in 1 batch" in in_words(next(each for each in reports if each.batches))


# -- what is refused at once -----------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("wrong", "said"),
    [
        ({"provider": "demo"}, "anthropic and openai"),
        ({"client": object()}, "Dask"),
        ({"checkpoint": None}, "checkpoint"),
        ({"mode": "fast"}, "mode"),
    ],
)
def test_what_makes_no_sense_is_refused_before_anything_is_asked(
    vendor: BatchVendor, tmp_path: Path, wrong: dict[str, Any], said: str
) -> None:
    how = options(vendor, VENDORS[0], tmp_path) | wrong
    if wrong.get("provider"):
        how = {key: each for key, each in how.items() if key not in ("base_url", "api_key")}
    with pytest.raises(UsageError, match=said):
        extract_many(["row 1"], "age int", **how)
    assert not vendor.calls
