"""Who writes a missing tool can be chosen apart from who plans: for one cell, or as a setting."""

from __future__ import annotations

import pytest

from tests.kernels.conftest import oldest_and_newest
from tests.kernels.page import Page

PLAN = (
    "play(ToolCall(id='c1', name='make_tool', arguments={'name': 'celsius_to_kelvin',"
    " 'description': 'Convert degrees Celsius to Kelvin', 'call': {'celsius': 30}}), 'Done.')"
)
"""A planner that names a tool and writes none of it."""


@oldest_and_newest
@pytest.mark.parametrize("how", ["option", "setting"])
def test_recipes_write_what_the_planner_only_names(page: Page, how: str) -> None:
    page.run(PLAN)
    page.run('%config AgentMagics.generator = "demo"' if how == "setting" else "pass")
    cell = page.start(f"%%agent {'--generator demo' if how == 'option' else ''}\nWhat is 30 C in Kelvin?")
    page.press("Approve")
    assert cell.result()["status"] == "ok"
    told = page.printed(page.run("print([call.result.text for call in _turn.calls])"))
    assert "303.15" in told
    page.run('%config AgentMagics.generator = ""')
    page.run(PLAN.replace("celsius_to_kelvin", "celsius_in_kelvin"))
    page.run("%%agent\nAnd now?")
    told = page.printed(page.run("print([call.result.text for call in _turn.calls])"))
    assert "The source is missing" in told


def test_a_generator_that_nobody_knows_is_told_before_the_turn(page: Page) -> None:
    page.run(PLAN)
    failed = page.start("%%agent --generator nobody\nWhat is 30 C in Kelvin?")
    assert failed.result()["status"] == "error"
    assert "unknown provider 'nobody'" in failed.result()["evalue"]
    assert page.printed(page.run("print(len(current_session().conversation.turns))")) == "0\n"
