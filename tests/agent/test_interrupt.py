"""L11: Ctrl-C in a real process: the turn ends soon, is kept, and the session goes on."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import threading
import time
from pathlib import Path

import pytest

from tests.patience import PROMPT

ROOT = Path(__file__).resolve().parents[2]

PROGRAM = """
import signal, sys, time
signal.signal(signal.SIGINT, signal.default_int_handler)  # in the background of a shell it is ignored
from agent_magics import tool
from agent_magics.agent.session import Session
from agent_magics.talk import Saying, ToolCall
from agent_magics.testing import FakeAsker, Hang, ScriptedProvider
from tests.agent.conftest import OnlyObjects

@tool
def sleep() -> None:
    print("ready", flush=True)
    time.sleep(60)

@tool(asks=True)
def remove() -> None: ...

replies = {"stream": [Saying(text="Once"), Hang()], "tool": ToolCall(id="c", name="sleep"),
           "approval": ToolCall(id="c", name="remove")}
session = Session(provider=ScriptedProvider([replies[sys.argv[1]], "Hello again!"]), providers=OnlyObjects(),
                  asker=FakeAsker(), tools=[sleep, remove])

def ready(event):
    if type(event).__name__ in ("Saying", "ApprovalAsked"):
        print("ready", flush=True)

remove_view = session.subscribe(ready)
try:
    session.ask("go")
    print("not interrupted")
except KeyboardInterrupt:
    print("interrupted", session.turn.stop, session.busy, flush=True)
remove_view()
print(session.ask("again").reply, flush=True)
"""


@pytest.mark.parametrize("what", ["stream", "tool", "approval"])
def test_an_interrupt_ends_the_turn_soon_and_the_next_one_works(what):
    with subprocess.Popen(
        [sys.executable, "-c", PROGRAM, what],
        cwd=ROOT,
        text=True,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        env={**os.environ, "PYTHONPATH": str(ROOT)},
    ) as process:
        assert process.stdout is not None
        assert process.stderr is not None
        limit = threading.Timer(60, process.kill)
        limit.start()
        try:
            assert "ready\n" == process.stdout.readline()
            began = time.monotonic()
            process.send_signal(signal.SIGINT)
            assert "interrupted cancelled False\n" == process.stdout.readline()
            assert time.monotonic() - began < PROMPT
            out, err = process.stdout.read(), process.stderr.read()
            process.wait(timeout=20)
        finally:
            limit.cancel()
            process.kill()
    assert ("Hello again!\n", "", 0) == (out, err, process.returncode)
