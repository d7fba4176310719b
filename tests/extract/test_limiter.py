"""The pace: places, rates and the gate, on a clock of our own."""

from __future__ import annotations

import asyncio

from agent_magics.extract.limiter import FIRST_PLACES, Pace, Rate


class Clock:
    def __init__(self) -> None:
        self.now = 100.0

    def __call__(self) -> float:
        return self.now


def pace(concurrency: int | None = None) -> tuple[Pace, Clock]:
    clock = Clock()
    return Pace(concurrency, clock=clock), clock


async def test_no_more_requests_are_open_than_there_are_places() -> None:
    limiter, _ = pace(2)
    await limiter.enter()
    await limiter.enter()
    third = asyncio.create_task(limiter.enter())
    await asyncio.sleep(0)

    assert not third.done()
    limiter.leave()
    await third
    assert 2 == limiter.open


async def test_who_was_refused_goes_before_who_has_not_been_asked() -> None:
    limiter, order = pace(1)[0], []
    await limiter.enter()

    async def enter(name: str, again: bool) -> None:
        await limiter.enter(again=again)
        order.append(name)
        limiter.leave()

    tasks = [asyncio.create_task(enter("new", False)), asyncio.create_task(enter("again", True))]
    await asyncio.sleep(0)
    limiter.leave()
    await asyncio.gather(*tasks)

    assert ["again", "new"] == order


async def test_a_cancelled_wait_takes_no_place() -> None:
    limiter, _ = pace(1)
    await limiter.enter()
    waiting = asyncio.create_task(limiter.enter())
    await asyncio.sleep(0)
    limiter.leave()  # the place is given to it in this moment
    waiting.cancel()
    await asyncio.gather(waiting, return_exceptions=True)

    assert 0 == limiter.open
    await limiter.enter()


def test_few_at_once_pause_at_the_first_refusal_for_as_long_as_was_said() -> None:
    limiter, clock = pace(8)

    assert 30.0 == limiter.refused(30.0)
    assert 30.0 == limiter.paused
    clock.now += 29
    assert 1.0 == limiter.paused
    clock.now += 1
    assert 0.0 == limiter.paused


async def test_a_stray_refusal_among_a_hundred_pauses_its_own_row_only() -> None:
    limiter, _ = pace(100)
    for _ in range(100):
        await limiter.enter()
    for at in range(200):
        if at % 20 == 0:
            assert 5.0 == limiter.refused(5.0)
        limiter.answered(0.1)

    assert 0.0 == limiter.paused
    assert 100.0 == limiter.places


def test_refusals_in_a_row_pause_everybody_and_halve_nothing_twice() -> None:
    limiter, _ = pace(100)
    for _ in range(60):
        limiter.refused(2.0)

    assert 2.0 == limiter.paused
    assert 70.0 == limiter.places


def test_a_longer_wait_is_kept_and_a_shorter_one_does_not_end_it() -> None:
    limiter, _ = pace(1)
    limiter.refused(20.0)
    limiter.refused(3.0)

    assert 20.0 == limiter.paused


def test_unannounced_refusals_wait_longer_each_time() -> None:
    limiter, clock = pace(1)
    waits = []
    for _ in range(8):
        waits.append(limiter.refused(None))
        clock.now += 100

    assert [1.0, 2.0, 4.0, 8.0, 16.0, 30.0, 30.0, 30.0] == waits


def test_places_grow_while_answers_come_quickly_and_stop_when_they_slow_down() -> None:
    limiter, _ = pace()
    assert FIRST_PLACES == limiter.places
    for _ in range(100):
        limiter.answered(0.1)
    grown = limiter.places
    assert FIRST_PLACES + 100 == grown
    for _ in range(100):
        limiter.answered(1.0)

    assert limiter.places < grown + 10


def test_places_never_pass_what_was_asked_for_and_come_back_after_a_cut() -> None:
    limiter, clock = pace(10)
    limiter.refused(1.0)
    assert 7.0 == limiter.places
    clock.now += 2
    for _ in range(100):
        limiter.answered(0.1)

    assert 10.0 == limiter.places


def test_a_stray_dropped_connection_changes_nothing_and_many_do() -> None:
    limiter, clock = pace(100)
    for at in range(100):
        limiter.answered(0.1)
        if at % 50 == 0:
            limiter.troubled()
    assert 100.0 == limiter.places
    for _ in range(20):
        clock.now += 1
        limiter.troubled()

    assert limiter.places < 70


def test_a_rate_is_kept_over_a_minute() -> None:
    rate = Rate(120, now=0.0)
    waits = [rate.reserve(1, now=0.0) for _ in range(124)]

    assert 0.0 == waits[3]
    assert 60.0 == waits[-1]


def test_tokens_that_were_not_foreseen_are_paid_later() -> None:
    rate = Rate(60_000, now=0.0)
    assert 0.0 == rate.reserve(1_000, now=0.0)
    rate.correct(4_000)

    assert 4.0 == rate.reserve(1_000, now=0.0)
