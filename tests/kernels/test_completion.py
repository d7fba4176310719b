"""What the Tab key offers behind ``%agent`` and in ``%%agent``."""

from __future__ import annotations

import pytest

from tests.kernels.conftest import oldest_and_newest
from tests.kernels.page import Page

pytestmark = oldest_and_newest


def offered(page: Page, code: str) -> tuple[list[str], str]:
    """What is offered at the end of the code, and which part of it would be replaced."""
    reply = page.kernel.send("complete_request", {"code": code, "cursor_pos": len(code)}).result()
    return reply["matches"], code[reply["cursor_start"] : reply["cursor_end"]]


@pytest.mark.parametrize(
    ("code", "offers", "replaced"),
    [
        ("%agent --in", ["--into"], "--in"),
        ("%%agent --into x --mo", ["--model"], "--mo"),
        ("%agent --provider stu", ["stub"], "stu"),
        ("%agent -p stu", ["stub"], "stu"),
        ("%agent --provider=stu", ["stub"], "stu"),
        ("%agent /cle", ["/clear"], "/cle"),
        ("%agent /appr", ["/approve"], "/appr"),
        ("%agent /provider stu", ["stub"], "stu"),
        ("%agent /compare demo stu", ["stub"], "stu"),
        ("%agent --planner cl", ["classic"], "cl"),
        ("%agent --effort hi", ["high"], "hi"),
        ("%agent how many trip", ["trips"], "trip"),
        ("%%agent\nhow many trip", ["trips"], "trip"),
        ("%%agent\nhow many?\nAnd by day? Look at `trip", ["trips"], "trip"),
        ("%age", ["%agent", "%%agent"], "%age"),
    ],
)
def test_what_can_stand_there_is_offered_and_nothing_of_pythons_own(
    page: Page, code: str, offers: list[str], replaced: str
) -> None:
    page.run("trips = 3; play('')")
    page.run("%agent hello")
    assert offered(page, code) == (offers, replaced)


def test_models_are_offered_behind_a_providers_name(page: Page) -> None:
    matches, replaced = offered(page, "%agent /provider anthropic:claude-")
    assert matches
    assert all(match.startswith("claude-") for match in matches)
    assert replaced == "claude-"


def test_python_is_completed_as_ever(page: Page) -> None:
    page.run("trips = 3")
    assert offered(page, "x = trip") == (["trips"], "trip")
    assert offered(page, "%agents = trip")[0] == ["trips"]
