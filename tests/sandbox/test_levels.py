"""The level of a machine is found by trying, and nothing runs below it without an opt-in."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

import pytest

from agent_magics.sandbox import Sandbox, box
from agent_magics.sandbox.detect import Isolation, probe
from agent_magics.sandbox.launch import Zygote

ROOT = Path(__file__).resolve().parents[2]
SINGS = {"read", "write", "listing", "metadata", "process", "signal", "connect", "datagram", "memory_file"}

ASK = """
import json, sys
from agent_magics.sandbox import Sandbox
answers = {}
for level in ("auto", "A", "B", "C", "D"):
    with Sandbox(level) as sandbox:
        outcome = sandbox.call("import json\\ndef f():\\n    return json.dumps(1)", "f")
        answers[level] = [sandbox.level, outcome.value, outcome.error and outcome.error.kind]
        message = outcome.error.message if level == "auto" and outcome.error else ""
        answers.setdefault("message", message)
        answers["isolation"] = sandbox.isolation.level
print(json.dumps(answers))
"""


def levels(hidden: str) -> dict:
    """What each level does where something is hidden."""
    command = [sys.executable, "-c", ASK]
    if hidden:
        command = [sys.executable, "-m", "tests.sandbox.hidden", hidden, *command]
    done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, timeout=100, check=False)
    assert (0, "") == (done.returncode, done.stderr)
    return json.loads(done.stdout)


RUNS, REFUSED = ["1", None], [None, "level"]


@pytest.mark.parametrize(
    ("hidden", "level", "runs"),
    [("", "A", "ABCD"), ("landlock", "B", "BD"), ("seccomp", "C", "CD"), ("both", "D", "D")],
)
def test_level_is_what_the_machine_gives(hidden, level, runs):
    answers = levels(hidden)
    expected = {name: [name, *(RUNS if name in runs else REFUSED)] for name in "ABCD"}
    automatic = [level, *(RUNS if level in "AB" else REFUSED)]
    assert (level, automatic) == (answers["isolation"], answers["auto"])
    assert expected == {name: answers[name] for name in "ABCD"}


def test_refusal_says_what_is_missing_and_how_to_opt_in():
    message = levels("seccomp")["message"]
    assert message.startswith(
        "This machine confines code only at level C. Landlock holds files, but seccomp is missing"
    )
    assert message.endswith("Nothing was run; whoever accepts that opts in with Sandbox(level='C').")


def test_every_canary_is_silenced_here(sandbox):
    assert ("A", SINGS) == (sandbox.level, set(sandbox.isolation.silenced))


def test_old_landlock_is_enough_with_seccomp():
    with Sandbox(landlock_abi=1) as sandbox:
        assert ("A", 1, SINGS) == (
            sandbox.level,
            sandbox.isolation.landlock_abi,
            set(sandbox.isolation.silenced),
        )


def test_no_landlock_by_request_is_level_b():
    with Sandbox(landlock_abi=0) as sandbox:
        assert "B" == sandbox.level


def test_canary_that_cannot_sing_outside_shows_nothing():
    """On a machine where not even unconfined code can do it, no level is claimed."""
    zygote = Zygote("bare")
    try:
        from agent_magics.sandbox import detect

        assert detect.ESSENTIAL <= SINGS
        found = probe(zygote)
        assert set(found.silenced) >= detect.ESSENTIAL
    finally:
        zygote.close()


def test_zygote_that_does_not_start_is_level_d_with_its_reason(monkeypatch):
    monkeypatch.setattr(sys, "executable", "/bin/false")
    monkeypatch.setattr(box, "_known", {})
    with Sandbox() as sandbox:
        found = sandbox.isolation
    assert ("D", True) == (found.level, found.why.startswith("The sandbox's process did not start."))


def test_level_without_zygotes_is_d(monkeypatch):
    monkeypatch.setattr(box, "ZYGOTES", False)
    monkeypatch.setattr(box, "_known", {})
    with Sandbox() as sandbox:
        refused = sandbox.call("def f():\n    return 1", "f")
    with Sandbox("D") as sandbox:
        accepted = sandbox.call("def f():\n    return 1", "f")
    assert ("level", 1) == (refused.error and refused.error.kind, accepted.value)


@pytest.mark.parametrize(("level", "enough"), [("A", True), ("B", True), ("C", False), ("D", False)])
def test_only_a_and_b_are_enough(level, enough):
    assert enough is Isolation(level=level, why="").enough


HARD_AT_B = {
    "zones": (
        """
import datetime, zoneinfo
def f():
    zone = zoneinfo.ZoneInfo("Asia/Tokyo")
    return str(datetime.datetime(2026, 1, 1, tzinfo=zone).utcoffset())
""",
        "9:00:00",
    ),
    "encodings": ("def f():\n  return 'é'.encode('cp850').hex() + 'é'.encode('utf-16').hex()", "82fffee900"),
    "dates": (
        """
import datetime
def f():
    return datetime.datetime.strptime("2 Jan 2026", "%d %b %Y").date()
""",
        "2026-01-02",
    ),
    "decimals": (
        """
import decimal
def f():
    return decimal.Decimal("1.15").quantize(decimal.Decimal("0.1"))
""",
        "1.2",
    ),
    "arrays": (
        """
import numpy as np
def f():
    return float(np.linalg.det(np.eye(50)) + abs(np.fft.fft([1, 0])).sum())
""",
        3.0,
    ),
    "frames": (
        """
import io
import pandas as pd
def f():
    d = pd.read_csv(io.StringIO("a,b\\n1,x\\n2,x"))
    return [d.groupby("b").a.sum().to_dict(), len(d.to_html()) > 0, d.describe().a["mean"]]
""",
        [{"x": 3}, True, 1.5],
    ),
    "text in frames": (
        """
import pandas as pd
def f():
    return pd.Series(["a1", "b2"]).str.extract(r"(\\d)")[0].tolist()
""",
        ["1", "2"],
    ),
    "science": (
        """
from scipy import optimize, stats
def f():
    return [round(stats.norm.cdf(0), 3), round(optimize.brentq(lambda x: x - 1, 0, 3), 3)]
""",
        [0.5, 1.0],
    ),
}


@pytest.mark.parametrize("level", ["A", "B"])
@pytest.mark.parametrize(("source", "expected"), HARD_AT_B.values(), ids=HARD_AT_B)
def test_honest_code_works_where_files_may_be_read_and_where_none_may(at_level, level, source, expected):
    outcome = at_level(level).call(source, "f")
    assert (None, expected) == (outcome.error, outcome.value)


@pytest.fixture(scope="module")
def at_level():
    """Sandboxes by level, kept for the module: their zygotes take a while."""
    kept: dict[str, Sandbox] = {}

    def get(level: str) -> Sandbox:
        return kept.setdefault(level, Sandbox(level))  # type: ignore[arg-type]

    yield get
    for sandbox in kept.values():
        sandbox.close()


@pytest.mark.parametrize("module", ["plistlib", "cProfile", "sqlite3", "wave"])
def test_module_that_nobody_loaded_ahead_is_imported_at_level_a(at_level, module):
    assert at_level("A").call(f"import {module}\ndef f():\n    return {module}.__name__", "f").value == module


def test_metadata_of_what_may_be_read_is_told(sandbox):
    source = """
import os
def f():
    return [os.path.isfile(os.__file__), os.path.isdir("/usr/lib"), os.path.exists("/etc")]
"""
    assert [True, True, False] == sandbox.call(source, "f").value
