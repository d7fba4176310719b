"""A notebook that nobody uses keeps no processes, and the next turn works as before."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.kernels.conftest import SCRIPTING, on_kernel
from tests.kernels.kernel import LiveKernel
from tests.kernels.page import Page
from tests.sandbox.processes import zygotes

MAKE = """
SOURCE = "def triple(x: float) -> float:\\n    'Three times.'\\n    return 3 * x\\n"
made = call("make_tool", name="triple", description="Three times", source=SOURCE, example={"x": 1})
"""


@pytest.fixture(params=[on_kernel("6.31.0"), on_kernel("7.4.0")])
def page(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[Page]:
    with LiveKernel(request.param, tmp_path) as kernel:
        page = Page(kernel)
        page.run(SCRIPTING)
        page.run(MAKE)
        yield page


def test_an_idle_notebook_gives_its_processes_back_and_wakes_by_itself(page: Page) -> None:
    kernel = page.kernel
    page.run(
        "current_session().permission.asker = __import__('agent_magics.testing').testing.FakeAsker('approve')"
    )
    page.run("play(made, call('triple', x=2), 'Six.')")
    assert page.shown(page.run("%agent what is three times two?", limit=60)).endswith("Six.")
    assert zygotes(kernel.pid)
    page.run("%config AgentMagics.idle_minutes = 0.005")
    kernel.until(lambda: not zygotes(kernel.pid), "the sandbox's processes to end")
    assert "agent-loop" in page.printed(page.run("print([each.name for each in threading.enumerate()])"))
    page.run("%config AgentMagics.idle_minutes = 15")
    page.run("play(call('triple', x=5), 'Fifteen.')")
    assert page.shown(page.run("%agent and of five?", limit=60)).endswith("Fifteen.")
    assert zygotes(kernel.pid)
    assert '"result": 15' in page.printed(page.run("print(current_session().turn.calls[0].result.text)"))


def test_a_time_that_is_none_is_refused_and_the_setting_stays(page: Page) -> None:
    cell = page.start("%config AgentMagics.idle_minutes = -1")
    cell.result()
    assert "The setting stays as it was." in str(list(cell.answers("iopub")))
    page.run("assert current_session().idle.minutes == 15")
