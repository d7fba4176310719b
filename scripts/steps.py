"""Steps of setting up that are done once and skipped quickly afterwards.

A step has a recipe: whatever its outcome depends on. When it ends well, the recipe's digest is kept in
a stamp beside what the step made; the next run compares two short strings and goes on. Standard library
only, since this runs before anything is installed.
"""

from __future__ import annotations

import hashlib
import os
import subprocess
import sys
import time
import tomllib
from collections.abc import Callable
from pathlib import Path
from typing import Any

ROOT = Path(__file__).resolve().parent.parent
BUILD = ROOT / ".build"
VENV = ROOT / ".venv"
PYTHON = VENV / "bin" / "python"


def settings() -> dict[str, Any]:
    """Return pyproject.toml: the one place that names dependencies."""
    return tomllib.loads((ROOT / "pyproject.toml").read_text())


def once(name: str, stamp: Path, recipe: str, act: Callable[[], None]) -> None:
    """Run `act`, unless `stamp` says that the same recipe has been carried out."""
    digest = hashlib.sha256(recipe.encode()).hexdigest()
    if stamp.exists() and stamp.read_text() == digest:
        return
    print(f"{name} …", flush=True)
    began = time.monotonic()
    act()
    stamp.parent.mkdir(parents=True, exist_ok=True)
    stamp.write_text(digest)
    print(f"{name}: done in {time.monotonic() - began:.0f} s", flush=True)


def run(*command: str | Path, env: dict[str, str] | None = None, limit: float = 900) -> str:
    """Run a command quietly and return what it said; if it fails, show that and end the script."""
    arguments = [str(part) for part in command]
    done = subprocess.run(
        arguments,
        check=False,
        cwd=ROOT,
        env={**os.environ, **(env or {})},
        timeout=limit,
        text=True,
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
    )
    if done.returncode:
        stop(done.stdout[-4000:], f"Exit code {done.returncode} from: {' '.join(arguments)}")
    return done.stdout


def pip_install(python: Path, *arguments: str | Path) -> None:
    """Install with the pip that belongs to `python`."""
    run(python, "-m", "pip", "install", "--quiet", "--disable-pip-version-check", *arguments, limit=1800)


def stop(*lines: str) -> None:
    """Say why, and end the script."""
    print(*lines, sep="\n", file=sys.stderr, flush=True)
    raise SystemExit(1)
