"""Who runs the table, and on what kind of machine; each setting in a process of its own."""

from __future__ import annotations

import contextlib
import json
import os
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any

from tests.redteam.trial import Result

ROOT = Path(__file__).resolve().parents[2]
OLD_ABI = 2  # Landlock as Debian 12 has it: no truncation, TCP, signals or sockets
SECONDS = 600


@dataclass(frozen=True, kw_only=True)
class Setting:
    """A setting.

    Attributes
    ----------
    name : str
        What it is called in the table.
    everything : bool
        Whether all rows are tried, or those only that may come out differently here.
    """

    name: str
    everything: bool = False
    user: str | None = None
    wrapper: str | None = None
    abi: int | None = None

    def refusal(self) -> str:
        """Why this machine does not permit it; empty if it does."""
        if sys.platform != "linux":
            return "not Linux"
        if self.name == "root" and os.getuid() != 0:
            return "not root"
        if self.user and os.getuid() != 0:
            return "only root can become somebody else"
        if self.user and _interpreter_for(self.user) is None:
            return "no Python that another user may run"
        if self.wrapper and not _can_filter():
            return "no seccomp filters"
        return ""

    def run(self) -> dict[str, Result]:
        """Try the rows, and give their results by name."""
        with tempfile.NamedTemporaryFile("r", suffix=".json") as answer, _python_for(self.user) as python:
            os.fchmod(answer.fileno(), 0o666)
            wrapped = [python, "-m", f"tests.redteam.{self.wrapper}"] if self.wrapper else []
            options = ["--everything"] * self.everything + ([f"--abi={self.abi}"] if self.abi else [])
            process = subprocess.run(
                [*wrapped, python, "-m", "tests.redteam.inside", answer.name, *options],
                cwd=ROOT,
                env={"PATH": os.environ.get("PATH", ""), "LANG": "C.UTF-8", "PYTHONDONTWRITEBYTECODE": "1"},
                timeout=SECONDS,
                capture_output=True,
                text=True,
                check=False,
                **_as(self.user),
            )
            if process.returncode != 0:
                raise AssertionError(f"setting {self.name!r} failed:\n{process.stderr[-3000:]}")
            results: dict[str, Any] = json.load(answer)
        return {name: Result(**result) for name, result in results.items()}


def _can_filter() -> bool:
    import seccompy

    return seccompy.supported()


@cache
def _interpreter_for(user: str) -> str | None:
    """A Python of this very version that the user can start."""
    version = f"python{sys.version_info.major}.{sys.version_info.minor}"
    for python in (f"{sys.base_prefix}/bin/{version}", f"/usr/local/bin/{version}", f"/usr/bin/{version}"):
        with contextlib.suppress(OSError):
            subprocess.run([python, "-I", "-c", ""], check=True, timeout=60, cwd="/", **_as(user))
            return python
    return None


def _as(user: str | None) -> dict[str, Any]:
    return {"user": user, "group": "nogroup", "extra_groups": []} if user else {}


@contextmanager
def _python_for(user: str | None) -> Iterator[str]:
    """This interpreter, or for another user one with the same packages in a folder that they may read."""
    if user is None:
        yield sys.executable
        return
    python = _interpreter_for(user)
    assert python is not None
    with tempfile.TemporaryDirectory(prefix="redteam-python-") as folder:
        Path(folder).chmod(0o755)
        subprocess.run([python, "-m", "venv", "--without-pip", "--symlinks", folder], check=True, timeout=60)
        (packages,) = Path(folder, "lib").glob("python*/site-packages")
        packages.rmdir()
        packages.symlink_to(next(Path(path) for path in sys.path if path.endswith("site-packages")))
        yield f"{folder}/bin/python"


SETTINGS = (
    Setting(name="root" if os.getuid() == 0 else "this user", everything=True),
    Setting(name="nobody", user="nobody"),
    Setting(name="as in Docker", wrapper="dockerlike"),
    Setting(name=f"Landlock {OLD_ABI}", abi=OLD_ABI),
)


PERMITTED = [setting for setting in SETTINGS if not setting.refusal()]


@cache
def results(setting: Setting) -> dict[str, Result]:
    """What :meth:`Setting.run` gives, run once."""
    return setting.run()
