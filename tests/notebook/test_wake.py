"""What a waiting cell sleeps on behaves as an event does."""

from __future__ import annotations

import threading
import time

from agent_magics.notebook.wake import Wake


def test_it_is_woken_from_another_thread_and_stays_awake_until_it_is_cleared():
    wake = Wake()
    timer = threading.Timer(0.02, wake.set)
    timer.start()
    assert wake.wait(10) is True
    assert wake.wait(10) is True
    wake.clear()
    assert (False, False) == (wake.is_set(), wake.wait(0.01))
    timer.join()


def test_it_sleeps_no_longer_than_its_time():
    began = time.monotonic()
    assert Wake().wait(0.05) is False
    assert time.monotonic() - began >= 0.05


def test_being_set_twice_wakes_once():
    wake = Wake()
    wake.set()
    wake.set()
    wake.clear()
    assert wake.wait(0.01) is False
