"""Sessions for tests: bare ones, with the shipped fakes, closed when the test is over."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

import pytest

from agent_magics.agent.session import Session
from agent_magics.testing import FakeAsker, ScriptedProvider


class OnlyObjects:
    """A :class:`~agent_magics.ports.Providers` that knows no names."""

    def build(self, spec: Any, **options: Any) -> Any:
        return spec

    def names(self) -> list[str]:
        return []

    def why(self, spec: str) -> str:
        return "The test said so."


Make = Callable[..., Session]


@pytest.fixture
def make() -> Iterator[Make]:
    """Make a session that plays ``replies``; every keyword of the session may be given."""
    made: list[Session] = []

    def session(*replies: Any, **options: Any) -> Session:
        given: dict[str, Any] = {
            "provider": ScriptedProvider(replies or ["Hello!"], repeat=False),
            "providers": OnlyObjects(),
            "asker": FakeAsker(),
            **options,
        }
        made.append(Session(**given))
        return made[-1]

    yield session
    for each in made:
        each.close()
