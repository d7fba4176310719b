"""L7, L8 in a notebook: what the model is sent, how that is set, and what is shortened."""

from __future__ import annotations

import json
import time

from tests.kernels.conftest import oldest_and_newest
from tests.kernels.page import Page
from tests.patience import PROMPT

READING = """
@tool
def lines(n: int) -> str:
    "Some text."
    return "x" * n

current_session().toolbox.add(lines)
script = play(*(call("lines", n=3_000 + n) for n in range(12)), "Done.")
script.window = 8_000
"""


def printed(page: Page, code: str) -> str:
    return page.printed(page.run(f"print({code})")).strip()


@oldest_and_newest
def test_the_policy_is_a_setting_that_the_running_session_follows(page: Page) -> None:
    page.run("%config AgentMagics.context = 'replies'")
    assert printed(page, "current_session().context.policy") == "replies"
    page.run("%agent /context policy last:2")
    assert printed(page, "current_session().context.policy") == "last:2"
    cell = page.run("%config AgentMagics.context = 'half'")
    first, *_ = page.printed(cell).splitlines()
    assert first.endswith("There is no context policy 'half'.")
    assert len(page.printed(cell).splitlines()) == 3
    assert printed(page, "current_session().context.policy") == "last:2"
    page.run("%config AgentMagics.context = 'full'\n%reload_ext agent_magics")
    assert printed(page, "current_session().context.policy") == "full"


@oldest_and_newest
def test_a_long_turn_is_compacted_while_it_runs_and_says_so(page: Page) -> None:
    page.run(READING)
    cell = page.run("%%agent\nRead it all.")
    shown = page.shown(cell)
    assert "Compacted: about " in shown
    assert "Done." in shown
    assert printed(page, "_turn.stop") == "done"
    said = page.shown(page.run("%agent /context"))
    assert "of the model's 8,000 tokens" in said
    assert "/compact undo" in said
    page.run("%agent /compact undo")
    said = page.shown(page.run("%agent /context"))
    assert "/compact undo" not in said
    assert "so what is shown is shorter: " in said


SUMMING_UP = "The model sums up"


@oldest_and_newest
def test_compacting_shows_that_it_goes_on_until_its_reply_is_there(page: Page) -> None:
    page.run("play(*['yes ' * 500] * 9, 'A summary.', 'Here again.')")
    for number in range(9):
        page.run(f"%agent question {number}")
    cell = page.run("%agent /compact")
    assert any(SUMMING_UP in str(message["content"]) for _, message in page.kernel.heard)
    assert "Compacted: about " in page.shown(cell)
    assert SUMMING_UP not in page.shown(cell)
    assert page.shown(page.run("%agent and now?")).endswith("Here again.")


@oldest_and_newest
def test_an_interrupt_ends_compacting_and_the_next_one_works(page: Page) -> None:
    page.run("play(*['yes ' * 500] * 9, Hang())")
    for number in range(9):
        page.run(f"%agent question {number}")
    cell = page.start("%agent /compact")
    page.kernel.until(lambda: SUMMING_UP in page.shown(cell), "the command to say what it does")
    began = time.monotonic()
    page.kernel.interrupt()
    assert cell.result()["status"] == "error"
    assert time.monotonic() - began < PROMPT
    assert SUMMING_UP not in page.shown(cell)
    page.run("play('A summary.', 'Here again.')")
    cell = page.run("%agent /compact")
    assert "Compacted: about " in page.shown(cell)
    assert page.shown(page.run("%agent and now?")).endswith("Here again.")


@oldest_and_newest
def test_what_context_shows_is_what_the_next_request_holds(page: Page) -> None:
    page.run("script = play('One.', 'Two.')")
    page.run("%agent first")
    page.run("%agent /pin")
    shown = page.shown(page.run("%agent /context"))
    page.run("%agent second")
    sent = json.loads(printed(page, "__import__('json').dumps(script.requests[-1][0])"))
    for message in sent[1:-1]:
        assert json.dumps(message, ensure_ascii=False) in shown
    assert "pinned" in shown
