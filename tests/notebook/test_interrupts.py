"""An interrupt that is held back comes later, and exactly once."""

from __future__ import annotations

import signal

import pytest

from agent_magics.notebook.interrupts import HeldInterrupts


def test_an_interrupt_comes_at_the_end_of_the_block() -> None:
    done: list[str] = []
    with pytest.raises(KeyboardInterrupt), HeldInterrupts():
        signal.raise_signal(signal.SIGINT)
        done.append("went on")
    assert done == ["went on"]


def test_two_interrupts_come_as_one() -> None:
    with pytest.raises(KeyboardInterrupt), HeldInterrupts():
        signal.raise_signal(signal.SIGINT)
        signal.raise_signal(signal.SIGINT)
    with HeldInterrupts():
        pass


def test_what_may_take_long_can_be_interrupted() -> None:
    done: list[str] = []
    with pytest.raises(KeyboardInterrupt), HeldInterrupts() as interrupts, interrupts.lifted():
        signal.raise_signal(signal.SIGINT)
        done.append("went on")
    assert done == []


def test_an_interrupt_that_waited_comes_before_the_long_part() -> None:
    with pytest.raises(KeyboardInterrupt), HeldInterrupts() as interrupts:
        signal.raise_signal(signal.SIGINT)
        with interrupts.lifted():
            pytest.fail("the interrupt should have come first")


def test_an_inner_block_hands_its_interrupt_to_the_outer_one() -> None:
    done: list[str] = []
    with pytest.raises(KeyboardInterrupt), HeldInterrupts():
        with HeldInterrupts():
            signal.raise_signal(signal.SIGINT)
        done.append("went on")
    assert done == ["went on"]


def test_the_handler_that_stood_before_stands_again() -> None:
    before = signal.getsignal(signal.SIGINT)
    with HeldInterrupts() as interrupts, interrupts.lifted():
        pass
    assert signal.getsignal(signal.SIGINT) is before
