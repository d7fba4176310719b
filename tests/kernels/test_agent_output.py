"""Whatever prints while a turn runs, prints into the cell of that turn, on every kernel."""

from __future__ import annotations

import pytest

from tests.kernels.conftest import oldest_and_newest, on_kernel
from tests.kernels.page import Page

TOOLS = """
from IPython.display import display

@tool(needs_kernel=True)
def on_main() -> str:
    "Works in the namespace."
    print("main prints")
    display({"text/plain": "main displays"}, raw=True)
    return threading.current_thread().name

@tool
def on_a_thread() -> str:
    "Works on a thread."
    print("thread prints", flush=True)
    return threading.current_thread().name

@tool
async def on_the_loop() -> str:
    "Works on the agent's loop."
    print("loop prints", flush=True)
    return threading.current_thread().name

for each in (on_main, on_a_thread, on_the_loop):
    current_session().toolbox.add(each)
"""


@pytest.mark.parametrize("tool", ["on_main", "on_a_thread", "on_the_loop"])
def test_what_a_tool_prints_stands_in_its_own_cell(page: Page, tool: str) -> None:
    page.run(TOOLS)
    cells = []
    for number in range(3):
        page.run(f"print({number})")
        page.run(f"play(call('{tool}'), 'Done.')")
        cells.append(page.run("%agent go on"))
    word = tool.rpartition("_")[2]
    assert [page.printed(cell) for cell in cells] == [f"{word} prints\n"] * 3


def test_what_a_tool_displays_on_the_main_thread_stands_in_its_own_cell(page: Page) -> None:
    page.run(TOOLS)
    page.run("play(call('on_main'), 'Done.')")
    cell = page.run("%agent go on")
    assert "main displays" in page.shown(cell, "text/plain")


@oldest_and_newest
def test_a_watcher_that_fails_is_dropped_and_the_turn_goes_on(page: Page) -> None:
    page.run("play('One.', 'Two.')")
    page.run("current_session().subscribe(lambda event: 1 / 0)")
    cells = [page.run("%agent one"), page.run("print('between')"), page.run("%agent two")]
    assert [page.shown(cell).split()[-1:] for cell in (cells[0], cells[2])] == [["One."], ["Two."]]
    assert page.printed(cells[1]) == "between\n"
    assert page.printed(cells[2]) == ""


@pytest.mark.parametrize("kernel", [on_kernel("7.4.0")], indirect=True)  # where there is a matplotlib
def test_a_figure_that_code_draws_is_shown_and_told(page: Page) -> None:
    page.run("%matplotlib inline\nimport matplotlib.pyplot as plt")
    page.run("current_session().policy.approve = 'always'")
    page.run("play(run_python('plt.plot([1, 2, 3]);'), 'Done.')")
    cell = page.run("%agent draw")
    assert '"pictures": "1 shown to the user"' in page.printed(page.run("print(told())"))
    assert len([output for output in page.outputs(cell) if "image/png" in output.get("data", {})]) == 1
