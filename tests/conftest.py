"""What every test stands on: a home of its own, and no keys of the person who runs the tests."""

from __future__ import annotations

import os
from collections.abc import Iterator
from pathlib import Path

import pytest

from agent_magics.masking import knowing_nothing

ROOT = Path(__file__).resolve().parent.parent

VENDOR_KEYS = (
    "ANTHROPIC_API_KEY",
    "GEMINI_API_KEY",
    "GOOGLE_API_KEY",
    "GOOGLE_APPLICATION_CREDENTIALS",
    "OPENAI_API_KEY",
    "OPENAI_BASE_URL",
)


@pytest.fixture(autouse=True)
def home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Keep data, settings and keys inside the test's folder, also for the processes that it starts."""
    folder = tmp_path / "home"
    folder.mkdir()
    for name in [key for key in os.environ if key.startswith("AGENT_MAGICS_") or key in VENDOR_KEYS]:
        monkeypatch.delenv(name)
    monkeypatch.setenv("HOME", str(folder))
    monkeypatch.setenv("AGENT_MAGICS_HOME", str(folder / "agent_magics"))
    monkeypatch.setenv("IPYTHONDIR", str(folder / "ipython"))
    monkeypatch.setenv("JUPYTER_CONFIG_DIR", str(folder / "jupyter"))
    monkeypatch.setenv("JUPYTER_PATH", str(ROOT / ".build" / "share" / "jupyter"))
    monkeypatch.setenv("PYTHON_KEYRING_BACKEND", "keyring.backends.null.Keyring")
    return folder


@pytest.fixture(autouse=True)
def nothing_hidden() -> Iterator[None]:
    """What one test knows as a secret is an ordinary word in the next."""
    with knowing_nothing():
        yield
