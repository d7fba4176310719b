"""Calls beside each other, calls taken back, and what is left when somebody dies."""

from __future__ import annotations

import asyncio
import gc
import os
import signal
import subprocess
import sys
import threading
import time
from pathlib import Path

import pytest

from agent_magics.sandbox import Sandbox
from agent_magics.sandbox.call import Call
from tests.patience import PROMPT, until
from tests.sandbox.processes import calls, calls_of, children, gone, zygotes

ROOT = Path(__file__).resolve().parents[2]
QUICK = "def f():\n    return 1"
ENDLESS = "def f():\n    while True: pass"


def call_elsewhere(sandbox: Sandbox, source: str, seconds: float = 60.0) -> tuple[threading.Thread, list]:
    """A call on a thread of its own, and where its outcome will be."""
    outcomes: list = []
    thread = threading.Thread(
        target=lambda: outcomes.append(sandbox.call(source, "f", seconds=seconds)), daemon=True
    )
    thread.start()
    return thread, outcomes


def test_slow_calls_hold_up_no_quick_one(sandbox):
    slow = [call_elsewhere(sandbox, ENDLESS, seconds=3) for _ in range(8)]
    until(lambda: len(calls()) == 8, "eight slow calls")
    quick = sandbox.call(QUICK, "f")
    assert ([True] * 8, 1) == ([thread.is_alive() for thread, _ in slow], quick.value)
    for thread, outcomes in slow:
        thread.join(10)
        assert "timeout" == outcomes[0].error.kind


def test_calls_beside_each_other_get_their_own_answers(sandbox):
    outcomes: dict[int, object] = {}

    def work(number: int) -> None:
        outcomes[number] = sandbox.call("def f(n):\n    return n", "f", {"n": number}).value

    threads = [threading.Thread(target=work, args=(number,)) for number in range(24)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(30)
    assert {number: number for number in range(24)} == outcomes


async def test_call_in_an_event_loop_leaves_the_loop_free(sandbox):
    calls_ = [asyncio.create_task(sandbox.acall(ENDLESS, "f", seconds=1)) for _ in range(4)]
    assert 1 == (await sandbox.acall(QUICK, "f")).value
    assert ["timeout"] * 4 == [outcome.error.kind for outcome in await asyncio.gather(*calls_)]


async def test_cancelled_call_is_gone_within_half_a_second(sandbox):
    await asyncio.to_thread(until, lambda: not calls(), "the end of other tests' calls")
    task = asyncio.create_task(sandbox.acall(ENDLESS, "f"))
    await asyncio.to_thread(until, lambda: len(calls()) == 1, "the call, and nobody else's")
    (child,) = calls()
    began = time.monotonic()
    task.cancel()
    with pytest.raises(asyncio.CancelledError):
        await task
    assert (True, True) == (time.monotonic() - began < PROMPT, gone(child))


async def test_cancelled_call_that_has_not_begun_never_runs():
    with Sandbox() as sandbox:
        assert sandbox.level
        sandbox.rest()
        task = asyncio.create_task(sandbox.acall("import pandas\n" + ENDLESS, "f"))
        await asyncio.sleep(0)
        task.cancel()
        with pytest.raises(asyncio.CancelledError):
            await task
        await asyncio.to_thread(until, lambda: not calls(), "no call")


def test_interrupted_call_leaves_no_child(sandbox):
    """As a notebook is interrupted: KeyboardInterrupt on the main thread, in the middle of waiting."""
    seen: list[int] = []
    until(lambda: not calls(), "the end of other tests' calls")

    def interrupt() -> None:
        until(calls, "the call")
        seen.extend(calls())
        signal.pthread_kill(threading.main_thread().ident or 0, signal.SIGINT)

    thread = threading.Thread(target=interrupt, daemon=True)
    before = signal.signal(signal.SIGINT, signal.default_int_handler)
    try:
        thread.start()
        with pytest.raises(KeyboardInterrupt):
            sandbox.call(ENDLESS, "f")
    finally:
        signal.signal(signal.SIGINT, before)
    until(lambda: all(gone(child) for child in seen), "its end")
    assert 1 == len(seen)


def test_call_that_its_host_lets_go_of_ends(sandbox, monkeypatch):
    """An interrupt may come after the call was sent and before anybody listens."""
    assert 1 == sandbox.call(QUICK, "f").value
    until(lambda: not calls(), "the end of other tests' calls")

    def interrupted(*_: object) -> None:
        until(calls, "the call")
        raise KeyboardInterrupt

    monkeypatch.setattr(Call, "listen", interrupted)
    with pytest.raises(KeyboardInterrupt):
        sandbox.call(ENDLESS, "f")
    until(lambda: not calls(), "its end")


def test_closing_ends_the_calls_under_way():
    others = zygotes()
    sandbox = Sandbox()
    sandbox.prepare()
    (zygote,) = zygotes() - others
    thread, outcomes = call_elsewhere(sandbox, ENDLESS)
    until(lambda: calls_of(zygote), "the call")
    left = {zygote, *children(zygote)}
    sandbox.close()
    thread.join(5)
    assert outcomes[0].error.kind in {"cancelled", "unavailable"}
    until(lambda: all(gone(pid) for pid in left), "their end")


def test_lost_zygote_is_told_and_replaced():
    others = zygotes()
    with Sandbox() as sandbox:
        assert 1 == sandbox.call(QUICK, "f").value
        (zygote,) = zygotes() - others
        until(lambda: not calls_of(zygote), "the end of the first call")
        thread, outcomes = call_elsewhere(sandbox, ENDLESS)
        until(lambda: calls_of(zygote), "the call")
        (child,) = calls_of(zygote)
        os.kill(zygote, signal.SIGKILL)
        thread.join(5)
        until(lambda: gone(child), "the child's end, with its zygote")
        assert ("unavailable", 1) == (outcomes[0].error.kind, sandbox.call(QUICK, "f").value)


def test_stuck_zygote_is_found_out_in_time():
    others = zygotes()
    with Sandbox() as sandbox:
        assert 1 == sandbox.call(QUICK, "f").value
        for pid in zygotes() - others:
            os.kill(pid, signal.SIGSTOP)
        outcome = sandbox.call(QUICK, "f", seconds=0.5)
        assert ("timeout", True) == (outcome.error and outcome.error.kind, outcome.seconds <= 1.5)
        assert 1 == sandbox.call(QUICK, "f").value


ORPHAN = """
import os
def f():
    told, tells = os.pipe()
    if os.fork() == 0:
        os.setsid()
        if os.fork() == 0:
            os.write(tells, str(os.getpid()).encode())
        while True: pass
    return int(os.read(told, 20))
"""


def test_what_an_unconfined_call_leaves_behind_is_ended_too():
    """At level D, for those who opted in, code can fork; as root even the limit on processes lets it."""
    with Sandbox("D") as sandbox:
        outcome = sandbox.call(ORPHAN, "f")
        if outcome.ok:
            until(lambda: gone(outcome.value), "the orphan's end")
        else:
            assert (False, "exception") == (os.getuid() == 0, outcome.error and outcome.error.kind)


def test_zygote_outlives_the_thread_that_started_it():
    others = zygotes()
    with Sandbox() as sandbox:
        thread = threading.Thread(target=sandbox.prepare)
        thread.start()
        thread.join(30)
        ours = zygotes() - others
        assert (1, True) == (sandbox.call(QUICK, "f").value, bool(ours & zygotes()))


def test_zygote_of_a_forgotten_sandbox_ends():
    others = zygotes()
    sandbox = Sandbox()
    sandbox.prepare()
    (zygote,) = zygotes() - others
    del sandbox
    gc.collect()
    until(lambda: gone(zygote), "its end")
    assert zygote not in zygotes()


def test_forked_copy_of_the_host_has_zygotes_of_its_own(tmp_path):
    source = """
import os, sys
from agent_magics.sandbox import Sandbox
sandbox = Sandbox()
first = sandbox.call("def f():\\n    return 1", "f").value
child = os.fork()
if child == 0:
    value = sandbox.call("def f():\\n    return 2", "f").value
    sandbox.close()
    os._exit(0 if value == 2 else 1)
copied = os.waitpid(child, 0)[1]
last = sandbox.call("def f():\\n    return 3", "f").value
sandbox.close()
sys.exit(0 if (first, copied, last) == (1, 0, 3) else 1)
"""
    command = [sys.executable, "-W", "ignore", "-c", source]
    done = subprocess.run(command, cwd=ROOT, timeout=60, capture_output=True, check=False)
    assert (0, b"") == (done.returncode, done.stderr)


HOST = """
import sys, threading, time
from agent_magics.sandbox import Sandbox
stage = sys.argv[1]
sandbox = Sandbox()
if stage != "starting":
    sandbox.call("def f():\\n    return 1", "f")
source = {
    "starting": "import scipy\\ndef f():\\n    while True: pass",
    "running": "def f():\\n    while True: pass",
    "sleeping": "import time\\ndef f():\\n    time.sleep(1000)",
    "importing": "import cProfile\\nwhile True: pass",
    "printing": "import time\\ndef f():\\n    while True: print('x'); time.sleep(0.01)",
    "answering": "import os\\ndef f():\\n    os.write(3, bytes(7))\\n    while True: pass",
    "in a thread": "def f():\\n    while True: pass",
    "doing an errand": "def f():\\n    while True: scratch.write('a', 'b')",
}[stage]
capabilities = ["clock"] + (["scratch"] if "scratch" in source else [])
work = lambda: sandbox.call(source, "f", capabilities=capabilities)
print("ready", flush=True)
if stage == "in a thread":
    for _ in range(3):
        threading.Thread(target=work, daemon=True).start()
    time.sleep(1000)
work()
"""


def test_stopped_host_does_not_prolong_a_call():
    """The zygote, too, knows how long a call may take."""
    source = "def f():\\n    while True: pass"
    program = f"""
from agent_magics.sandbox import Sandbox
sandbox = Sandbox()
sandbox.prepare()
print("ready", flush=True)
sandbox.call("{source}", "f", seconds=0.5)
"""
    host = subprocess.Popen([sys.executable, "-c", program], cwd=ROOT, stdout=subprocess.PIPE)
    try:
        assert host.stdout is not None
        assert b"ready\n" == host.stdout.readline()
        until(lambda: calls(host.pid), "the call")
        host.send_signal(signal.SIGSTOP)
        until(lambda: not calls(host.pid), "the call's end")
    finally:
        host.kill()
        host.communicate(timeout=5)


@pytest.mark.parametrize(
    "stage",
    [
        "starting",
        "running",
        "sleeping",
        "importing",
        "printing",
        "answering",
        "in a thread",
        "doing an errand",
    ],
)
def test_killed_host_leaves_no_process(stage):
    host = subprocess.Popen([sys.executable, "-c", HOST, stage], cwd=ROOT, stdout=subprocess.PIPE)
    assert host.stdout is not None
    assert b"ready\n" == host.stdout.readline()
    if stage == "starting":
        until(lambda: zygotes(host.pid), "the zygote")
    else:
        until(lambda: len(calls(host.pid)) >= (3 if stage == "in a thread" else 1), "the call")
    left = zygotes(host.pid) | calls(host.pid)
    host.kill()
    host.wait(5)
    host.stdout.close()
    until(lambda: all(gone(pid) for pid in left), "the end of its processes")


ENDS_WHILE_IT_STARTS = """
import threading, time
from agent_magics.sandbox import Sandbox
import atexit
sandbox = Sandbox()
atexit.register(sandbox.close)
threading.Thread(target=lambda: sandbox.level, daemon=True).start()
time.sleep({seconds})
"""


@pytest.mark.parametrize("seconds", [0.0, 0.02, 0.04, 0.06, 0.08, 0.1])
def test_host_that_ends_while_a_zygote_starts_says_nothing(seconds):
    done = subprocess.run(
        [sys.executable, "-c", ENDS_WHILE_IT_STARTS.format(seconds=seconds)],
        capture_output=True,
        text=True,
        timeout=60,
        check=False,
        cwd=ROOT,
    )
    assert (0, "") == (done.returncode, done.stderr)
