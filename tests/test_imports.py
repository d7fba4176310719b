"""Imports cost next to nothing and do nothing: what is heavy waits until it is used."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[1]

HEAVY = {
    "pydantic", "jsonschema", "httpx", "httpcore", "ipywidgets", "numpy", "pandas", "nh3", "markdown_it",
    "pygments", "docstring_parser", "keyring", "nbformat", "IPython", "traitlets", "ipykernel", "zmq",
    "sqlite3", "multiprocessing", "unittest",
}  # fmt: skip

PROGRAM = """
import json, sys, threading
before = set(sys.modules)
{statement}
print(json.dumps({{"modules": sorted(set(sys.modules) - before), "threads": threading.active_count()}}))
"""


def imported(statement: str) -> dict:
    """What a fresh interpreter has loaded after ``statement``."""
    done = subprocess.run(
        [
            sys.executable,
            "-I",
            "-c",
            f"import sys; sys.path.insert(0, {str(ROOT)!r})\n" + PROGRAM.format(statement=statement),
        ],
        text=True,
        capture_output=True,
        check=False,
        timeout=60,
        env=dict(os.environ),
    )
    assert "" == done.stderr
    return json.loads(done.stdout)


@pytest.mark.parametrize(
    "statement",
    [
        "import agent_magics",
        "import agent_magics.agent.session",
        "import agent_magics.talk.codec",
        "import agent_magics.tools",
        "import agent_magics.store",
        "import agent_magics.testing",
        "import agent_magics.cli",
        "from agent_magics import Session, run, current_session",
    ],
)
def test_an_import_loads_nothing_heavy_and_starts_nothing(statement):
    found = imported(statement)
    heavy = HEAVY & {name.partition(".")[0] for name in found["modules"]}
    assert (set(), 1) == (heavy, found["threads"])


def test_the_package_itself_loads_only_itself():
    modules = imported("import agent_magics")["modules"]
    assert ["agent_magics"] == [name for name in modules if name.startswith("agent_magics")]


def test_a_bare_session_with_a_plain_tool_needs_nothing_heavy():
    found = imported(
        "from agent_magics.agent.session import Session\n"
        "from agent_magics.testing import ScriptedProvider, FakeAsker\n"
        "class Providers:\n"
        "    def build(self, spec, **options): return spec\n"
        "session = Session(provider=ScriptedProvider(['hi']), providers=Providers(), asker=FakeAsker())\n"
        "assert session.ask('hi').reply == 'hi'\n"
    )
    assert set() == HEAVY & {name.partition(".")[0] for name in found["modules"]}
