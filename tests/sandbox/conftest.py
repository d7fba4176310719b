"""One sandbox for most tests: its zygotes start once, and every call is a process of its own anyway."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from agent_magics.sandbox import Sandbox


@pytest.fixture(scope="session")
def sandbox() -> Iterator[Sandbox]:
    with Sandbox() as shared:
        yield shared
