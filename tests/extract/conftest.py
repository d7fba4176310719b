"""The failing vendor, in a process of its own, and what asks it."""

from __future__ import annotations

import json
import subprocess
import sys
import urllib.request
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest

ROOT = Path(__file__).resolve().parents[2]


@dataclass
class VendorProcess:
    """Where the vendor is."""

    port: int

    def options(self, scenario: str) -> dict[str, Any]:
        """The keywords that lead ``extract_many`` through a scenario."""
        url = f"http://127.0.0.1:{self.port}/extract-{scenario}/v1"
        return {"provider": "openai:fixed", "base_url": url, "api_key": "not-a-real-key", "progress": False}

    @property
    def stats(self) -> dict[str, Any]:
        with urllib.request.urlopen(f"http://127.0.0.1:{self.port}/stats", timeout=5) as response:
            return json.load(response)


@pytest.fixture
def vendor() -> Iterator[VendorProcess]:
    command = [sys.executable, "-m", "tests.extract.vendor", "0"]
    with subprocess.Popen(command, cwd=ROOT, stdout=subprocess.PIPE, text=True) as process:
        assert process.stdout
        try:
            yield VendorProcess(int(process.stdout.readline()))
        finally:
            process.terminate()
