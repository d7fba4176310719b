"""kill -9 at random moments of turns with tools and approvals: no step is lost, none is doubled."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from collections import Counter
from pathlib import Path

import pytest

from tests.conftest import ROOT

pytestmark = pytest.mark.skipif(not hasattr(os, "fork"), reason="victims are forked")


@pytest.mark.parametrize(
    ("journal", "kills", "seed"),
    [("wal", 50, 1), ("wal", 50, 2), ("wal", 50, 3), ("wal", 50, 4), ("rollback", 30, 5)],
)
def test_a_killed_session_comes_back_with_every_step_that_was_told(
    tmp_path: Path, journal: str, kills: int, seed: int
):
    arguments = [str(tmp_path / "sessions.db"), journal, str(kills), str(seed)]
    done = subprocess.run(
        [sys.executable, "-m", "tests.store.victims", *arguments],
        capture_output=True,
        text=True,
        cwd=ROOT,
        timeout=110,
        check=False,
    )
    assert ("", 0) == (done.stderr, done.returncode)
    killed = [json.loads(line) for line in done.stdout.splitlines()]
    assert kills == len(killed)
    assert [] == [each for each in killed if each["problems"]]
    moments = Counter(each["last"] for each in killed)
    assert len(moments) >= 4, f"they all died in the same moments: {moments}"
    assert moments["TurnEnded"] < kills / 2, "most died between turns"
    assert sum(each["told"] for each in killed) > 5 * kills, "they hardly lived"
