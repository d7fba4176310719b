"""An open notebook whose cells ask the agent: what a person does there, and what then stands in its cells."""

from __future__ import annotations

import re

from playwright.sync_api import Locator
from playwright.sync_api import TimeoutError as NotInTime

from .lab import HEARS, STARTS, Notebook

CONNECTED = """() => {
    const context = window.jupyterapp?.shell?.currentWidget?.sessionContext;
    return context?.isReady && context.session?.kernel?.connectionStatus === "connected";
}"""


class LiveNotebook(Notebook):
    """A notebook in JupyterLab or Notebook 7."""

    CELL = ".jp-Notebook .jp-Cell"
    OUTPUT = ".jp-Cell-outputArea"
    NUMBER = ".jp-InputPrompt"
    EDITOR = ".cm-content"

    # What a person does.

    def run_all(self) -> None:
        """Run all cells; where the kernel has heard nothing of it, restart that and run them again."""
        super().run_all()
        if self.may_be_deaf:
            try:
                self.wait(f"() => /[0-9]/.test(document.querySelector('{self.NUMBER}').textContent)", HEARS)
            except NotInTime:
                self.restart()
                super().run_all()

    def press(self, text: str) -> None:
        """Press a button of the panel, once it can be pressed."""
        self.button(text).click()

    def comment(self, text: str) -> None:
        """Write to the model, in the card."""
        self.at(".agm-comment input").fill(text)

    def run(self, cell: int) -> None:
        """Run one cell from its editor."""
        self.cell(cell).locator(self.EDITOR).click()
        self.page.keyboard.press("Control+Enter")

    def append(self, code: str) -> int:
        """Write a new cell at the end; return its number."""
        number = self.at(self.CELL).count()
        self.cell(number - 1).locator(self.NUMBER).click()
        self.page.keyboard.press("b")
        self.cell(number).locator(self.EDITOR).click()
        self.page.keyboard.insert_text(code)
        return number

    def interrupt(self) -> None:
        """Press the toolbar's square."""
        self.at('[data-jp-item-name="interrupt"]').first.click()

    def restart(self) -> None:
        """Restart the kernel from the menu, and wait until it can run cells."""
        self.menu("Kernel", "kernelmenu:restart")
        self.at(".jp-Dialog button.jp-mod-accept").click()
        self.at(".jp-Dialog").wait_for(state="detached")
        self.wait(CONNECTED, STARTS)

    def reload(self) -> None:
        """Reload the page; its kernel may be in the middle of a cell."""
        self.page.reload(timeout=STARTS * 1000)
        self.cell(0).wait_for(timeout=STARTS * 1000)
        self.wait(CONNECTED, STARTS)

    # What stands there.

    def cell(self, number: int) -> Locator:
        return self.at(self.CELL).nth(number)

    def output(self, cell: int) -> Locator:
        return self.cell(cell).locator(self.OUTPUT)

    def printed(self, cell: int, text: str) -> None:
        """Wait until a cell shows this text."""
        self.output(cell).get_by_text(text, exact=True).first.wait_for()

    def question(self) -> str:
        """The id of the question that stands there."""
        found = re.search(r"%agent /approve ([0-9a-f]+)", self.at(".agm-ask").inner_text())
        assert found, self.at(".agm-ask").inner_text()
        return found[1]

    def number(self, cell: int) -> str:
        """What stands before a cell: ``[2]:``, ``[*]:`` while it waits or runs, ``[ ]:`` if it never ran."""
        return self.cell(cell).locator(self.NUMBER).inner_text().strip()

    def at_rest(self) -> None:
        """Wait until no cell is running or queued."""
        texts = f"[...document.querySelectorAll('{self.NUMBER}')].map(each => each.textContent)"
        self.wait(f"() => !{texts}.some(text => text.includes('*'))")

    def asks(self) -> None:
        """Wait until the panel asks, and a mouse could press Approve."""
        self.at(".agm-acts button.mod-primary").click(trial=True)


class SecondTab(LiveNotebook):
    """The notebook of another page, opened while its kernel is in the middle of a cell."""

    CONNECTED = CONNECTED


class ClassicNotebook(LiveNotebook):
    """A notebook in nbclassic, which shares nothing with the others but the words on its menus."""

    CELL = "#notebook-container .cell"
    OUTPUT = ".output_wrapper"
    NUMBER = ".input_prompt"
    EDITOR = ".CodeMirror"

    def run_all(self) -> None:
        self.at("#celllink").click()
        self.at("#run_all_cells").click()

    def interrupt(self) -> None:
        self.at('#run_int button[data-jupyter-action$=":interrupt-kernel"]').click()

    def number(self, cell: int) -> str:
        return super().number(cell).removeprefix("In\N{NO-BREAK SPACE}")

    def _ready(self) -> None:
        connected = "window.Jupyter?.notebook?.kernel?.is_connected()"
        self.wait(
            f"() => {connected} && document.querySelector('#kernel_indicator_icon.kernel_idle_icon')", STARTS
        )
