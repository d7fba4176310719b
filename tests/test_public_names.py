"""The names that stay: what users import, call and read."""

from __future__ import annotations

import importlib
import inspect
import subprocess
import sys

import pytest

import agent_magics
from agent_magics import Session, talk
from agent_magics.talk import STOPS, Step, Turn, Usage


def test_every_public_name_can_be_imported_from_the_package():
    for name in agent_magics.__all__:
        assert getattr(agent_magics, name) is not None
        assert name in dir(agent_magics)


def test_a_name_that_is_not_there_is_an_attribute_error():
    with pytest.raises(AttributeError, match="has no attribute 'nothing'"):
        _ = agent_magics.nothing


KEYWORDS = (
    "provider model base_url api_key headers timeout tools phase approve max_rounds planner generator store "
    "system_prompt cwd allowed_tools disallowed_tools"
)
PARTS = (
    "ask ask_async stream subscribe conversation cancel stop provider close toolbox context turn policy "
    "commands __enter__ __exit__"
)
EVENTS = (
    "Thinking Saying ToolProgress TurnBegan RequestSent ReplyReceived ToolCalled ApprovalAsked "
    "ApprovalGiven ToolReturned ToolMade TurnEnded"
)


@pytest.mark.parametrize("name", KEYWORDS.split())
def test_the_keywords_of_a_session_stay(name):
    assert name in inspect.signature(Session).parameters


@pytest.mark.parametrize("name", PARTS.split())
def test_what_a_session_has_stays(name):
    with Session("stub") as session:
        assert hasattr(session, name)


def test_what_a_turn_has_stays():
    turn = Turn(id="t", prompt="p")
    for name in ("reply", "stop", "steps", "usage", "error", "prompt", "calls", "ok"):
        assert hasattr(turn, name)
    for name in ("input", "output", "cached", "reasoning"):
        assert hasattr(Usage(), name)
    assert hasattr(Step(), "calls")


def test_the_stops_stay():
    expected = (
        "done max_rounds no_progress too_many_failures budget refused_by_model truncated context_full "
        "provider_error halted cancelled"
    )
    assert set(expected.split()) == set(STOPS)


@pytest.mark.parametrize("name", EVENTS.split())
def test_the_event_types_import_from_talk(name):
    assert name in talk.__all__
    assert inspect.isclass(getattr(talk, name))


@pytest.mark.parametrize("module", ["talk", "tools", "testing", "errors", "ports"])
def test_everything_that_a_module_offers_is_there(module):
    loaded = importlib.import_module(f"agent_magics.{module}")
    for name in getattr(loaded, "__all__", ()):
        assert hasattr(loaded, name)


def test_the_command_is_there_under_its_name():
    from importlib.metadata import entry_points

    (point,) = entry_points(group="console_scripts", name="agent-magics")
    assert callable(point.load())


def test_the_version_is_one_that_pip_takes():
    from packaging.version import Version

    assert str(Version(agent_magics.__version__)) == agent_magics.__version__
    said = subprocess.run(
        [sys.executable, "-m", "agent_magics", "--version"],
        text=True,
        capture_output=True,
        timeout=30,
        check=True,
    )
    assert f"agent-magics {agent_magics.__version__}\n" == said.stdout
