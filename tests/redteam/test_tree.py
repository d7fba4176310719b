"""The rows of the tree check: each attack is refused, would have worked, and its honest twin passes and
works."""

from __future__ import annotations

import json
import subprocess
import sys
import time
from functools import cache
from pathlib import Path
from tempfile import TemporaryDirectory

import pytest

from agent_magics.forge import check
from agent_magics.forge.checking import SECONDS
from tests.redteam.rows import Row
from tests.redteam.rows_tree_language import ROWS as LANGUAGE
from tests.redteam.rows_tree_libraries import ROWS as LIBRARIES

ROWS = [*LANGUAGE, *LIBRARIES]
PLAYED = [row for row in ROWS if row.canary is None]

pytestmark = pytest.mark.xdist_group("tree")

PLAY = """
import json, os, sys, types, warnings
import numpy, pandas, scipy.interpolate, dateutil.parser
warnings.simplefilter("ignore")
world, rows = json.load(sys.stdin)

def won(source, function):
    module = types.ModuleType("tool")
    sys.modules["tool"] = module
    exec(compile(source, "<tool>", "exec", dont_inherit=True), module.__dict__)
    return bool(module.__dict__[function](dict(world)))

def alone(source, function):
    child = os.fork()
    if child == 0:
        try:
            os._exit(0 if won(source, function) else 1)
        except BaseException as error:
            print(f"{function}: {error!r}", file=sys.stderr)
            os._exit(2)
    return os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) == 0

print(json.dumps([[alone(attack, "attack"), alone(twin, "twin")] for attack, twin in rows]))
"""


@cache
def played() -> dict[str, tuple[bool, bool]]:
    """What attacks and twins come to where nothing stops them: in a process that is thrown away."""
    with TemporaryDirectory() as folder:
        secret = Path(folder, "secret")
        secret.write_text("canary")
        world = {"folder": folder, "secret": str(secret)}
        done = subprocess.run(
            [sys.executable, "-c", PLAY],
            input=json.dumps([world, [[row.attack, row.twin] for row in PLAYED]]),
            stdout=subprocess.PIPE,
            text=True,
            timeout=300,
            check=True,
        )
    return {row.name: (won, fine) for row, (won, fine) in zip(PLAYED, json.loads(done.stdout), strict=True)}


def named(row: Row) -> str:
    return row.name


def test_there_are_eighty_rows_and_each_is_another() -> None:
    assert len(ROWS) >= 80
    assert len(ROWS) == len({row.name for row in ROWS})


@pytest.mark.parametrize("row", ROWS, ids=named)
def test_tree_check_refuses_the_attack_in_time(row: Row) -> None:
    check("def warm(): return 1", "warm")
    began = time.perf_counter()
    verdict = check(row.attack, "attack")
    assert time.perf_counter() - began < SECONDS + 0.5
    assert not verdict.ok
    assert all(reason.endswith(".") for reason in verdict.reasons)


@pytest.mark.parametrize("row", ROWS, ids=named)
def test_tree_check_lets_the_twin_pass(row: Row) -> None:
    assert () == check(row.twin, "twin").reasons


@pytest.mark.parametrize("row", PLAYED, ids=named)
def test_attack_would_have_worked_unchecked_and_the_twin_works(row: Row) -> None:
    assert (True, True) == played()[row.name]


@pytest.mark.parametrize("row", [row for row in ROWS if row.canary], ids=named)
def test_source_would_have_held_up_or_broken_the_parser(row: Row) -> None:
    assert row.canary is not None
    assert row.canary(None)
