"""The bridge where it can't stand; what it does in kernels is tested in tests/kernels."""

from __future__ import annotations

import threading
import time
from types import SimpleNamespace

from agent_magics.notebook.bridge import Bridge


def test_in_a_terminal_the_bridge_says_why_it_is_not_available() -> None:
    bridge = Bridge(SimpleNamespace())
    assert bridge.install() is False
    assert (bridge.available, bridge.why) == (False, "No kernel: in a terminal nobody clicks.")


def test_a_kernel_of_an_unknown_make_is_left_alone() -> None:
    bridge = Bridge(SimpleNamespace(kernel=SimpleNamespace(session=None)))
    assert bridge.install() is False
    assert bridge.why == "The kernel has no 'shell_stream'."


def test_a_kernel_that_fails_while_the_filter_is_tried_is_left_alone() -> None:
    stream = SimpleNamespace(_recv_callback=print)
    kernel = SimpleNamespace(shell_stream=stream, session=object(), shell_handlers={}, _publish_status=print)
    bridge = Bridge(SimpleNamespace(kernel=kernel))
    assert bridge.install() is False
    assert bridge.why.startswith("This kernel is not as we know it: AttributeError")
    assert stream._recv_callback is print


def test_without_a_kernel_a_wait_ends_when_it_is_woken() -> None:
    bridge, wake = Bridge(SimpleNamespace()), threading.Event()
    threading.Timer(0.01, wake.set).start()
    with bridge.listening(lambda comm_id: True):
        assert bridge.wait(wake, timeout=10) is True
        assert bridge.pump() == 0


def test_without_a_kernel_a_wait_ends_after_its_time() -> None:
    bridge = Bridge(SimpleNamespace())
    began = time.monotonic()
    assert bridge.wait(threading.Event(), timeout=0.05) is False
    assert time.monotonic() - began >= 0.05
