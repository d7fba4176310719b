"""The stages that a draft goes through before a person sees it: what each rejects, and what then is kept."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from agent_magics.talk import StageDone
from tests.forge.conftest import SOURCE, Open, make_call, told


def test_after_three_attempts_no_more_are_left(opened: Open) -> None:
    bad = [make_call(source=f"import os\n# {number}\n{SOURCE}") for number in range(4)]
    session = opened(*bad, "I gave up")
    turn = session.ask("2 blorps?")
    errors = [told(turn, at)["error"] for at in range(len(turn.calls))]
    assert ["Attempt 1 of 3", "Attempt 2 of 3", "Attempt 3 of 3"] == [error[:14] for error in errors[:3]]
    assert "No attempts are left" in errors[2]


@pytest.mark.parametrize(
    ("changes", "stage", "said"),
    [
        ({"source": SOURCE.replace("blorps * 3.7", "eval('1')")}, "check", "'eval'"),
        ({"source": "def other(blorps: float) -> float:\n    return 1.0\n"}, "check", "no function"),
        ({"parameters": {"type": "object", "properties": {"metres": {}}}}, "schema", "'metres'"),
        ({"example": None}, "schema", "example"),
        ({"example": {"blorps": "ten"}}, "schema", "not of type"),
        ({"expected": 36}, "probe", "and not 36"),
        ({"source": SOURCE.replace("* 3.7", "/ 0")}, "probe", "ZeroDivisionError"),
        ({"capabilities": ["telepathy"]}, "check", "No capability"),
    ],
)  # fmt: skip
def test_stage_says_what_it_rejects(opened: Open, changes: dict[str, Any], stage: str, said: str) -> None:
    turn = opened(make_call(**changes), "ok").ask("2 blorps?")
    assert (stage, 2) == (told(turn, 0)["stage"], told(turn, 0)["attempts_left"])
    assert said in told(turn, 0)["error"]


@pytest.mark.parametrize("name", ["list", "class", "Blorps", "ab", "more", "make_tool", "a" * 51, "../x"])
def test_name_that_can_not_be_used_is_refused(opened: Open, name: str) -> None:
    turn = opened(make_call(name=name), "ok").ask("2 blorps?")
    assert "name" == told(turn, 0)["stage"]


def test_near_duplicate_is_named_before_another_is_written(opened: Open) -> None:
    twin = {"name": "blorp_to_metre", "source": SOURCE.replace("blorps_to_metres", "blorp_to_metre")}
    session = opened(
        make_call(), make_call(**twin), make_call(**twin, anyway=True), "ok", answers=("approve", "approve")
    )
    turn = session.ask("2 blorps?")
    assert ["blorps_to_metres"] == [each["name"] for each in told(turn, 1)["similar"]]
    assert "blorp_to_metre" == told(turn, 2)["made"]


def test_limits_of_a_call_are_told_in_words(opened: Open) -> None:
    slow = make_call(source=SOURCE.replace("return", "while blorps:\n        pass\n    return"), seconds=1)
    turn = opened(slow, "ok").ask("2 blorps?")
    assert "probe" == told(turn, 0)["stage"]
    assert "1 s" in told(turn, 0)["error"]


def test_probe_that_fails_after_the_approval_keeps_nothing(opened: Open, tools: Path) -> None:
    broken = make_call(source=SOURCE.replace("* 3.7", "/ 0"))
    session = opened(broken, "ok", isolation="D", answers=("approve",))
    assert "ZeroDivisionError" in told(session.ask("2 blorps?"), 0)["error"]
    assert not tools.exists()


def test_stop_during_the_probe_ends_it(opened: Open, tools: Path) -> None:
    slow = make_call(source=SOURCE.replace("return", "while blorps:\n        pass\n    return"))
    session = opened(slow, "ok")

    def stop(event: object) -> None:
        if isinstance(event, StageDone) and event.stage == "schema":
            session.cancel()

    turn = session.ask("2 blorps?", on_event=stop)
    assert ("cancelled", True) == (turn.stop, turn.seconds < 10)
    assert not tools.exists()
