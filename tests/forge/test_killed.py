"""A process that is killed in any stage leaves no other process, and no tool that is half there."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

from agent_magics.forge.registry import Registry
from tests.patience import until

VICTIM = """
import os, signal, sys, threading
from agent_magics import Session
from agent_magics.talk import ApprovalAsked, StageDone, ToolMade
from agent_magics.testing import FakeAsker, ScriptedProvider
from tests.forge.conftest import SOURCE, make_call
from tests.sandbox.processes import children

def below(pid):
    own = children(pid)
    return own.union(*map(below, own))

def die():
    print(*below(os.getpid()), flush=True)
    os.kill(os.getpid(), signal.SIGKILL)

def watch(event):
    if getattr(event, "stage", type(event).__name__) == sys.argv[1]:
        die()
    if sys.argv[1] == "probing" and getattr(event, "stage", "") == "schema":
        threading.Timer(0.5, die).start()

slow = SOURCE.replace("return", "total = sum(range(10 ** 9))\\n    return")
source = slow if sys.argv[1] == "probing" else SOURCE
with Session(ScriptedProvider([make_call(source=source), "ok"]), asker=FakeAsker("approve")) as session:
    session.ask("make it", on_event=watch)
"""

STAGES = ("check", "compile", "schema", "probing", "probe", "ApprovalAsked", "ToolMade", "save")


@pytest.mark.parametrize("stage", STAGES)
def test_killed_in_any_stage(stage: str, tools: Path) -> None:
    command = [sys.executable, "-c", VICTIM, stage]
    victim = subprocess.run(command, stdout=subprocess.PIPE, timeout=60, check=False)
    assert -9 == victim.returncode
    left = [int(pid) for pid in victim.stdout.split()]
    assert left, "it had a check and a sandbox at work"
    until(lambda: not any(map(lives, left)), "all processes of the victim are gone")
    kept = Registry(tools).read("blorps_to_metres")
    assert (stage in ("ToolMade", "save")) == (kept is not None)
    assert kept is None or not kept.edited


def lives(pid: int) -> bool:
    try:
        return Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0] != "Z"
    except (FileNotFoundError, ProcessLookupError):
        return False
