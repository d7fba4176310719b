"""`/compare` and the options of one cell, in a running kernel."""

from __future__ import annotations

import pytest

from tests.kernels.conftest import on_kernel
from tests.kernels.page import Page

pytestmark = pytest.mark.parametrize("kernel", [on_kernel("7.4.0")], indirect=True)

SCRIPTS = """
provider("talker", lambda model=None, **options: ScriptedProvider([f"I am {model or options or 'plain'}."]))
provider("caller", lambda **options: ScriptedProvider([run_python("answer = 6 * 7"), "It is 42."]))
"""
PNG = r"b'\x89PNG\r\n\x1a\n.....'"


def test_a_comparison_serves_its_approvals_and_then_shows_one_table(page: Page) -> None:
    page.run(SCRIPTS)
    page.run("%agent hello")
    cell = page.start("%agent /compare talker caller -- What is six times seven?")
    page.press("Approve")
    assert "ok" == cell.result()["status"], page.error(cell)
    table = page.shown(cell, "text/markdown")
    for word in ("talker", "caller", "I am plain.", "It is 42.", "run_python", "tokens", "time"):
        assert word in table
    assert "42\n" == page.printed(page.run("print(answer)"))
    assert "1\n" == page.printed(page.run("print(len(current_session().conversation.turns))"))


def test_options_of_a_cell_reach_its_provider_and_no_other_cell(page: Page) -> None:
    page.run(SCRIPTS)
    page.run("%agent -p talker --effort low --max-tokens 9 --base-url http://x hello")
    said = page.printed(page.run("print(_turn.reply)"))
    assert "I am {'base_url': 'http://x', 'effort': 'low', 'max_tokens': 9}.\n" == said
    page.run("%agent -p talker hello")
    assert "I am plain.\n" == page.printed(page.run("print(_turn.reply)"))


def test_a_picture_goes_with_the_prompt_of_a_cell(page: Page) -> None:
    page.run(f"open('a b.png', 'wb').write({PNG})")
    page.run("script = play('A dot.')")
    page.run("%agent --image 'a b.png' what is this?")
    parts = "print([part['type'] for part in script.requests[-1][0][-1]['content']])"
    assert "['image', 'text']\n" == page.printed(page.run(parts))
    cell = page.start("%agent --image none.png what is this?")
    assert "error" == cell.result()["status"]
    assert "The picture 'none.png' can't be read." in page.error(cell)


def test_the_doctor_answers_in_a_cell(page: Page) -> None:
    cell = page.run("%agent /doctor")
    said = page.shown(cell, "text/markdown")
    assert "default model claude-sonnet-5-5" in said
    assert "isolation" in said
