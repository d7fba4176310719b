"""Sessions that make tools, each with an asker of its own; closed when the test is over."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from agent_magics import Session
from agent_magics.talk import ToolCall, Turn
from agent_magics.testing import FakeAsker, ScriptedProvider

Open = Callable[..., Session]

SOURCE = '''\
def blorps_to_metres(blorps: float) -> float:
    """A blorp is 3.7 metres."""
    return blorps * 3.7
'''


def make_call(**changes: Any) -> ToolCall:
    """A ``make_tool`` call for a tool in order, but for the changes."""
    arguments = {
        "name": "blorps_to_metres",
        "description": "Convert blorps to metres",
        "source": SOURCE,
        "example": {"blorps": 10},
        **changes,
    }
    given = {name: value for name, value in arguments.items() if value is not None}
    return ToolCall(id=f"make-{make_call.count}", name="make_tool", arguments=_counted(given))


make_call.count = 0  # type: ignore[attr-defined]


def _counted(arguments: dict[str, Any]) -> dict[str, Any]:
    make_call.count += 1  # type: ignore[attr-defined]
    return arguments


def use(blorps: float = 2, id: str = "use") -> ToolCall:  # noqa: A002
    """A call of that tool."""
    return ToolCall(id=id, name="blorps_to_metres", arguments={"blorps": blorps})


def told(turn: Turn, at: int) -> dict[str, Any]:
    """What the model was told of the turn's call at that place."""
    result = turn.calls[at].result
    assert result is not None
    return json.loads(result.text)


@pytest.fixture
def project(tmp_path: Path) -> Path:
    """A folder that the session works in."""
    folder = tmp_path / "project"
    folder.mkdir()
    return folder


@pytest.fixture
def opened(project: Path) -> Iterator[Open]:
    """Open a session that plays ``replies``; ``answers`` are what the person says."""
    made: list[Session] = []

    def session(*replies: Any, answers: tuple[Any, ...] = (), **options: Any) -> Session:
        provider = options.pop("provider", None) or ScriptedProvider(replies or ["Hello!"], repeat=False)
        asker = options.pop("asker", None) or FakeAsker(*answers)
        made.append(Session(provider, asker=asker, cwd=project, **options))
        return made[-1]

    yield session
    for each in made:
        each.close()


@pytest.fixture
def tools(home: Path) -> Path:
    """Where the user's tools are kept."""
    return home / ".agents" / "tools"
