"""The portable tier, tried here as on a system without zygotes."""

from __future__ import annotations

import os
import subprocess
import sys
import threading
import time
from pathlib import Path

import pandas as pd
import pytest

from agent_magics.sandbox import portable
from agent_magics.sandbox.capabilities import read_grants
from agent_magics.sandbox.leash import Leash
from agent_magics.sandbox.order import CONFINEMENTS, Order
from agent_magics.sandbox.outcome import Outcome
from agent_magics.sandbox.parcel import pack
from tests.patience import PROMPT, until
from tests.sandbox.processes import children

ROOT = Path(__file__).resolve().parents[2]


def call(source: str, *capabilities: str, seconds: float = 30, **arguments: object) -> Outcome:
    grants = read_grants(capabilities)
    order = Order(source=source, function="f", seconds=seconds, grants=grants, confinement=CONFINEMENTS["D"])
    return portable.run(order, pack(arguments))


def test_value_and_output_come_back():
    outcome = call("def f(x):\n    print('seen')\n    return 2 * x", x=21)
    assert (42, "seen\n") == (outcome.value, outcome.stdout)


def test_frame_goes_in_and_comes_back():
    frame = pd.DataFrame({"a": [1, 2], "s": ["x", None]})
    pd.testing.assert_frame_equal(frame, call("def f(d):\n    return d", d=frame).value)


@pytest.mark.parametrize(
    ("source", "kind"),
    [
        ("def f():\n    1 / 0", "exception"),
        ("def f(:", "syntax"),
        ("def g(): ...", "function"),
        ("def f():\n    while True: pass", "timeout"),
        ("def f():\n    while True: print('x' * 1000)", "output"),
        ("import os\ndef f():\n    os._exit(0)", "no_reply"),
        ("import os\ndef f():\n    os.closerange(0, 99)\n    while True: pass", "no_reply"),
        ("import ctypes\ndef f():\n    ctypes.string_at(0)", "crashed"),
        ("def f():\n    return (n for n in [])", "refused_reply"),
        ("import time\ndef f():\n    return time.time()", "exception"),
    ],
)
def test_end_is_readable_and_in_time(source, kind):
    outcome = call(source, seconds=2)
    assert (kind, True) == (outcome.error and outcome.error.kind, outcome.seconds <= 3)


def test_what_is_only_on_unix_is_not_needed():
    """As on Windows: neither the package nor its portable tier imports what is not there."""
    source = """
import asyncio, subprocess, sys
sys.modules.update(fcntl=None, resource=None, pwd=None, grp=None)
import agent_magics.sandbox.box, agent_magics.sandbox.portable, agent_magics.sandbox.solo
"""
    command = [sys.executable, "-c", source]
    done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, timeout=30, check=False)
    assert (0, "") == (done.returncode, done.stderr)


def test_environment_is_scrubbed(monkeypatch):
    monkeypatch.setenv("MY_API_KEY", "secret")
    assert [] == call("import os\ndef f():\n    return [n for n in os.environ if 'KEY' in n]").value


def test_errands_are_refused():
    error = call("def f():\n    return scratch.names()", "scratch").error
    assert error is not None
    assert ("level", True) == (error.kind, error.message.startswith("This system has no zygotes"))


def test_call_can_be_taken_back():
    leash = Leash()
    order = Order(source="def f():\n    while True: pass", function="f", confinement=CONFINEMENTS["D"])
    outcomes: list[Outcome] = []
    before = children(os.getpid())
    thread = threading.Thread(target=lambda: outcomes.append(portable.run(order, pack({}), leash=leash)))
    thread.start()
    until(lambda: children(os.getpid()) - before, "the process")
    began = time.monotonic()
    leash.pull()
    thread.join(5)
    (outcome,) = outcomes
    assert ("cancelled", True) == (outcome.error and outcome.error.kind, time.monotonic() - began < PROMPT)
    assert set() == children(os.getpid()) - before
