"""The one loop on the one thread: it outlives whatever runs on it, and a fork gets one of its own."""

from __future__ import annotations

import asyncio
import subprocess
import sys
from pathlib import Path

from agent_magics.agent.background import Background

ROOT = Path(__file__).resolve().parents[2]


async def leave() -> None:
    raise SystemExit(3)


async def here() -> str:
    return "here"


def test_work_is_done_on_a_thread_of_its_own():
    background = Background()

    async def inside() -> bool:
        return background.inside()

    assert (True, False) == (background.submit(inside()).result(5), background.inside())


def test_an_exit_on_the_loop_does_not_end_it(caplog):
    background = Background()

    async def start() -> None:
        task = asyncio.get_running_loop().create_task(leave())
        task.add_done_callback(lambda done: done.exception())

    background.submit(start()).result(5)
    assert "here" == background.submit(here()).result(5)
    assert "tried to end it" in caplog.text


def test_a_forked_child_has_a_loop_of_its_own():
    program = """
import os
from agent_magics import Session, tool
from agent_magics.talk import ToolCall
from agent_magics.testing import ScriptedProvider

@tool
def who() -> int:
    return os.getpid()

session = Session(ScriptedProvider([ToolCall(id="c", name="who"), "ok"] * 4), tools=[who], tool_making="off")
assert session.ask("before").calls[0].ok
child = os.fork()
assert session.ask("after").calls[0].result.text == '{"result": %d, "ok": true}' % os.getpid()
if child == 0:
    os._exit(0)
print(os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]))
"""
    done = subprocess.run(
        [
            sys.executable,
            "-W",
            "ignore:This process:DeprecationWarning",
            "-c",
            program,
        ],  # fork beside threads
        cwd=ROOT,
        text=True,
        capture_output=True,
        timeout=60,
        check=False,
    )
    assert ("0\n", "") == (done.stdout, done.stderr)
