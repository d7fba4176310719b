"""Many rows, against a vendor that fails on purpose and providers of one's own."""

from __future__ import annotations

import json
import signal
import threading
import time
from collections.abc import AsyncIterator, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

import pandas as pd
import pytest

from agent_magics.agent.background import background
from agent_magics.errors import (
    ConfigError,
    ExtractionError,
    MissingKey,
    RateLimited,
    SessionError,
    Unreachable,
    UsageError,
)
from agent_magics.extract.progress import Progress
from agent_magics.extract.rows import RowError, Rows
from agent_magics.many_rows import extract_many
from agent_magics.talk import Message, ProviderEvent, Saying, Stop, Usage
from agent_magics.testing import ScriptedProvider
from tests.extract.conftest import VendorProcess
from tests.extract.vendor import SCHEMA, expected, never_fits, prompt
from tests.patience import PROMPT

AGE = '{"age": 3}'
QUIET: dict[str, Any] = {"progress": False}


class Echo:
    """Answers with the row's number; counts who is asked at once."""

    name, model, window = "echo", "1", 0

    def __init__(self) -> None:
        self.asked: list[str] = []
        self.times: list[float] = []

    async def fetch(
        self,
        messages: Sequence[Message],
        tools: Sequence[Any],
        *,
        schema: Mapping[str, Any] | None = None,
    ) -> AsyncIterator[ProviderEvent]:
        text = messages[-1]["content"]
        self.asked.append(text)
        self.times.append(time.monotonic())
        self.before(text)
        yield Saying(text=json.dumps({"age": int(text.split()[-1])}))
        yield Usage(input=2, output=1)
        yield Stop(reason="end")

    def before(self, text: str) -> None:
        """What happens before the answer."""

    async def aclose(self) -> None:
        """Nothing to give back."""


def numbers(count: int) -> Iterator[str]:
    return (f"row {at}" for at in range(count))


def ages(count: int) -> list[Any]:
    return [{"age": at} for at in range(count)]


# -- what comes out ------------------------------------------------------------------------------------


def test_values_stand_in_the_rows_order_and_duplicates_keep_their_places() -> None:
    rows = extract_many(["row 1", "row 2", "row 1", "row 1"], "age int", provider=Echo(), **QUIET)

    assert [{"age": 1}, {"age": 2}, {"age": 1}, {"age": 1}] == rows
    assert Usage(input=8, output=4) == rows.usage
    assert [] == rows.failures


def test_no_rows_are_no_rows() -> None:
    assert [] == extract_many([], "age int", provider=Echo(), **QUIET)
    assert [] == list(extract_many([], "age int", provider=Echo(), stream=True, **QUIET))


def test_a_row_that_fails_costs_its_own_place_only() -> None:
    def reply(messages: Sequence[Message]) -> Any:
        match messages[1]["content"]:
            case "refused":
                return [Saying(text="I won't."), Stop(reason="refusal")]
            case "cut":
                return [Saying(text='{"a'), Stop(reason="max_tokens")]
            case "broken":
                return "nothing that helps"
            case "raises":
                return ZeroDivisionError("oh")
            case _:
                return AGE

    texts = ["ok", "refused", "cut", "broken", "raises", None, "ok"]
    rows = extract_many(texts, "age int", provider=ScriptedProvider([reply] * 20), **QUIET)

    assert [True, False, False, False, False, False, True] == [bool(row) for row in rows]
    assert ["refused", "truncated", "invalid", "provider", "empty"] == [each.kind for each in rows.failures]
    assert [1, 2, 3, 4, 5] == [each.index for each in rows.failures]
    assert "ZeroDivisionError: oh" in rows.failures[3].message


def test_a_row_without_a_value_ends_the_run_where_that_is_asked_for() -> None:
    provider = ScriptedProvider(["nonsense"])
    with pytest.raises(ExtractionError) as caught:
        extract_many(["a"], "age int", provider=provider, on_error="raise", **QUIET)
    assert "invalid" == caught.value.kind
    with pytest.raises(UsageError, match="Row 0"):
        extract_many([None], "age int", provider=provider, on_error="raise", **QUIET)


def test_rows_become_a_frame_and_a_failed_one_is_empty() -> None:
    rows = Rows([{"a": 1, "b": "x"}, RowError(index=1, kind="invalid", message="no"), {"a": 2, "b": "y"}])
    frame = rows.to_frame()

    assert isinstance(frame, pd.DataFrame)
    assert [1, 2] == frame["a"].dropna().tolist()
    assert [False, True, False] == frame["b"].isna().tolist()
    assert ["value"] == list(Rows([[1], [2]]).to_frame().columns)


def test_a_frame_of_a_library_that_is_not_here_says_what_to_install() -> None:
    with pytest.raises(ConfigError, match="Name one of pandas, polars"):
        Rows([1]).to_frame("arrow")  # pyright: ignore[reportArgumentType]


def test_a_frame_is_read_through_its_template() -> None:
    echo = Echo()
    frame = pd.DataFrame({"who": ["Ada", "Bob"], "age": [36, 41]})
    rows = extract_many(frame, "age int", provider=echo, template="{who} is {age}", **QUIET)

    assert [{"age": 36}, {"age": 41}] == rows
    assert ["Ada is 36", "Bob is 41"] == echo.asked


# -- how it is read ------------------------------------------------------------------------------------


@pytest.mark.parametrize("stream", [True, "ordered"])
def test_a_stream_holds_no_more_than_its_window_however_many_rows_there_are(stream: Any) -> None:
    read = 0

    def rows() -> Iterator[str]:
        nonlocal read
        for text in numbers(1_000_000_000):
            read += 1
            yield text

    results = extract_many(rows(), "age int", provider=Echo(), stream=stream, concurrency=10, **QUIET)
    ahead = 0
    for taken, (index, value) in enumerate(results):
        assert {"age": index} == value
        ahead = max(ahead, read - taken)
        if taken == 2_000:
            break
    results.close()  # pyright: ignore[reportAttributeAccessIssue]  # it is a generator

    assert ahead <= 2 * (2 * 10 + 16)


def test_an_ordered_stream_keeps_the_order_although_answers_do_not(vendor: VendorProcess) -> None:
    texts = (prompt(at) for at in range(300))
    pairs = list(extract_many(texts, SCHEMA, stream="ordered", concurrency=20, **vendor.options("5-10")))

    assert list(range(300)) == [index for index, _ in pairs]
    assert [expected(at) for at in range(300)] == [value for _, value in pairs]


def test_a_stream_that_is_left_ends_its_requests(vendor: VendorProcess) -> None:
    options = vendor.options("30")
    for _ in extract_many((prompt(at) for at in range(10_000)), SCHEMA, stream=True, **options):
        break
    before = vendor.stats["requests"]

    assert before < 200


def test_rows_that_raise_while_they_are_read_end_the_run_with_their_error() -> None:
    def rows() -> Iterator[str]:
        yield "row 1"
        raise OSError("the disk is gone")

    with pytest.raises(OSError, match="the disk is gone"):
        extract_many(rows(), "age int", provider=Echo(), **QUIET)


# -- chaos ---------------------------------------------------------------------------------------------


def test_chaos_loses_nothing_doubles_nothing_and_keeps_the_order(vendor: VendorProcess) -> None:
    """5 % are refused, 1 % break the schema once, 1 % of connections drop, 0.5 % never fit."""
    count = 3_000
    began = time.monotonic()
    texts = (prompt(at) for at in range(count))
    rows = extract_many(texts, SCHEMA, concurrency=50, **vendor.options("10-5-1-1-0.5"))
    took = time.monotonic() - began

    hopeless = [at for at in range(count) if never_fits(at, 0.5)]
    assert count == len(rows)
    assert hopeless == [each.index for each in rows.failures]
    assert {"invalid"} == {each.kind for each in rows.failures}
    assert all(expected(at) == row for at, row in enumerate(rows) if at not in set(hopeless))
    stats = vendor.stats
    assert stats["refused"] > 100
    assert stats["dropped"] > 10
    assert stats["broken"] > 20
    assert stats["requests"] == count + stats["refused"] + stats["dropped"] + stats["broken"] - len(hopeless)
    assert took < 60


def test_a_refusal_pauses_all_who_share_the_quota_and_no_row_is_lost() -> None:
    class Quota(Echo):
        opens = 0.0
        early = 0

        def before(self, text: str) -> None:
            now = time.monotonic()
            if not self.opens and len(self.asked) == 20:
                self.opens = now + 0.4
            if now < self.opens:
                self.early += 1
                raise RateLimited("slow down", retry_after=self.opens - now, retryable=True)

    quota = Quota()
    rows = extract_many(numbers(60), "age int", provider=quota, concurrency=4, **QUIET)

    assert ages(60) == rows
    assert 1 <= quota.early <= 4  # those that were open when it closed, and none while it was


def test_a_wait_beyond_all_patience_ends_the_run() -> None:
    class Closed(Echo):
        def before(self, text: str) -> None:
            raise RateLimited("come back tomorrow", retry_after=86_400.0)

    with pytest.raises(RateLimited, match="tomorrow"):
        extract_many(numbers(5), "age int", provider=Closed(), concurrency=2, **QUIET)


def test_requests_a_minute_are_kept() -> None:
    echo = Echo()
    rows = extract_many(numbers(50), "age int", provider=echo, requests_per_minute=1_200, **QUIET)

    assert ages(50) == rows
    assert echo.times[-1] - echo.times[0] >= 0.4  # a burst of two seconds' worth, 40; then 20 a second


def test_a_refused_key_ends_the_run_at_once() -> None:
    class Locked(Echo):
        def before(self, text: str) -> None:
            raise MissingKey("no such key", status=401)

    locked = Locked()
    with pytest.raises(MissingKey, match="no such key"):
        extract_many(numbers(100_000), "age int", provider=locked, concurrency=5, **QUIET)
    assert len(locked.asked) < 100


def test_a_vendor_that_answers_nothing_from_the_start_ends_the_run() -> None:
    class Gone(Echo):
        def before(self, text: str) -> None:
            raise Unreachable("nobody is there", retryable=False)

    with pytest.raises(Unreachable, match="nobody is there"):
        extract_many(numbers(100_000), "age int", provider=Gone(), **QUIET)


def test_failures_after_an_answer_are_rows_and_the_run_goes_on() -> None:
    class Weak(Echo):
        def before(self, text: str) -> None:
            if text != "row 0":
                raise Unreachable("broke down", retryable=False)

    rows = extract_many(numbers(200), "age int", provider=Weak(), concurrency=1, **QUIET)

    assert {"age": 0} == rows[0]
    assert 199 == len(rows.failures)


# -- the checkpoint ------------------------------------------------------------------------------------


def test_a_second_run_asks_for_what_is_missing(tmp_path: Path) -> None:
    class Weak(Echo):
        weak = True

        def before(self, text: str) -> None:
            if self.weak and text.endswith("7"):
                raise ExtractionError("no", kind="refused")

    weak, path = Weak(), tmp_path / "run.db"
    how: dict[str, Any] = {"provider": weak, "checkpoint": path, **QUIET}
    first = extract_many(numbers(100), "age int", **how)
    assert 10 == len(first.failures)
    weak.weak = False
    weak.asked.clear()
    second = extract_many(numbers(120), "age int", **how)

    assert ages(120) == second
    assert 90 == second.reused
    assert 30 == len(weak.asked)
    assert Usage(input=60, output=30) == second.usage


def test_an_interrupt_stops_within_half_a_second_and_the_next_run_goes_on(
    vendor: VendorProcess, tmp_path: Path
) -> None:
    pressed = 0.0

    def watch(now: Progress) -> None:
        nonlocal pressed
        if now.done >= 100 and not pressed:
            pressed = time.monotonic()
            signal.raise_signal(signal.SIGINT)

    how: dict[str, Any] = vendor.options("20") | {"checkpoint": tmp_path / "run.db", "concurrency": 20}
    watched: dict[str, Any] = how | {"progress": watch}
    texts = [prompt(at) for at in range(1_500)]
    before = signal.signal(signal.SIGINT, signal.default_int_handler)  # a shell's background ignores it
    try:
        with pytest.raises(KeyboardInterrupt):
            extract_many(texts, SCHEMA, **watched)
    finally:
        signal.signal(signal.SIGINT, before)
    took = time.monotonic() - pressed
    rows = extract_many(texts, SCHEMA, **how)

    assert took < PROMPT
    assert [expected(at) for at in range(1_500)] == rows
    assert 100 <= rows.reused < 1_500
    assert rows.reused + vendor.stats["rows"] >= 1_500
    assert vendor.stats["answered"] == 1_500


# -- progress, and where it may be called ---------------------------------------------------------------


def test_progress_counts_everything_and_ends_with_the_last_report(vendor: VendorProcess) -> None:
    reports: list[Progress] = []
    texts = [prompt(at) for at in range(400)]
    how: dict[str, Any] = vendor.options("20") | {"progress": reports.append}
    extract_many(texts, SCHEMA, concurrency=10, **how)

    last = reports[-1]
    assert (400, 400, 0, True) == (last.done, last.total, last.failed, last.over)
    assert 32_000 == last.usage.total
    assert all(not each.over and each.rate > 0 for each in reports[1:-1])
    assert len(reports) >= 3


def test_it_works_beside_a_running_loop_and_from_any_thread_but_the_agents_own() -> None:
    found: list[Any] = []

    def on_a_thread() -> None:
        found.append(extract_many(numbers(3), "age int", provider=Echo()))

    thread = threading.Thread(target=on_a_thread)
    thread.start()
    thread.join(30)
    assert [ages(3)] == found

    async def inside() -> None:
        extract_many(numbers(3), "age int", provider=Echo())

    with pytest.raises(SessionError):
        background.submit(inside()).result(10)


@pytest.mark.parametrize(
    "wrong",
    [
        {"on_error": "x"},
        {"stream": "x"},
        {"concurrency": 0},
        {"concurrency": "5"},
        {"concurrency": 2.5},
        {"concurrency": True},
        {"requests_per_minute": -1},
        {"tokens_per_minute": float("nan")},
        {"template": 5},
    ],
    ids=str,
)
def test_what_makes_no_sense_is_refused_before_anything_is_asked(wrong: dict[str, Any]) -> None:
    with pytest.raises(UsageError):
        extract_many(["row 1"], "age int", provider=Echo(), **wrong)
