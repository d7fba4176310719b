"""Servers that nobody here wrote, and a model that fits in a test."""

from __future__ import annotations

import fcntl
import os
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from agent_magics.providers.local import weights
from tests.providers.servers import free_port, process
from tests.providers.tiny_model import write_tiny_model

ROOT = Path(__file__).resolve().parents[2]
FIXTURES = Path(__file__).with_name("aimock.json")


@pytest.fixture(scope="session")
def tiny(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A model with random weights."""
    return write_tiny_model(tmp_path_factory.mktemp("model") / "tiny.gguf")


@pytest.fixture(scope="session")
def smollm2() -> Path:
    """The real teaching model, installed once for all test runs as `agent-magics local install` does it."""
    folder = ROOT / ".build" / "home"
    folder.mkdir(parents=True, exist_ok=True)
    before = os.environ.get("AGENT_MAGICS_HOME")
    os.environ["AGENT_MAGICS_HOME"] = str(folder)
    try:
        with (folder / ".lock").open("w") as lock:  # test processes run side by side
            fcntl.flock(lock, fcntl.LOCK_EX)
            return weights.install()
    finally:
        if before is None:
            del os.environ["AGENT_MAGICS_HOME"]
        else:
            os.environ["AGENT_MAGICS_HOME"] = before


@pytest.fixture(scope="session")
def aimock(tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    """`aimock`: every vendor's protocol from one file of fixtures."""
    program = ROOT / ".build" / "node" / "node_modules" / ".bin" / "llmock"
    port = free_port()
    command = [program, "-p", str(port), "-f", FIXTURES, "--log-level", "warn"]
    log = tmp_path_factory.mktemp("aimock") / "log"
    with process(command, f"http://127.0.0.1:{port}", log) as url:
        yield url


@pytest.fixture(scope="session")
def llmock_url(tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    """`llmock`: breaks on demand, and judges how its client took it."""
    program = Path(sys.executable).with_name("llmock")
    port = free_port()
    command = [program, "serve", "--host", "127.0.0.1", "--port", str(port), "--log-level", "warning"]
    command += ["--stream-chunk-delay-ms", "5"]  # else all is sent before anybody could stop reading
    log = tmp_path_factory.mktemp("llmock") / "log"
    with process(command, f"http://127.0.0.1:{port}/_llmock/requests", log):
        yield f"http://127.0.0.1:{port}"
