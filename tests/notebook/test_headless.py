"""The quickstart without a person: runners run it, and what they save can be read without a kernel."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

import nbformat
import papermill
import pytest
from nbclient.exceptions import CellExecutionError
from nbconvert import HTMLExporter, MarkdownExporter

from tests.conftest import ROOT
from tests.kernels.running import run_notebook

QUICKSTART = ROOT / "notebooks" / "01_quickstart.ipynb"
KERNEL = "ipykernel-7.4.0"
TRANSCRIPT = (
    "I am a rule-based demonstration, not a language model",
    "with 6 rows and 4 columns",
    "rejected, nobody was asked",
    "this front end shows no buttons and takes no input",
    "bicycle",
    "68 °F",
    "293.15 K",
    "The slowest trips of a table, the slowest first.",
    "391",
)
"""What the quickstart says, from its first turn to its last."""


@pytest.fixture(scope="module")
def executed(tmp_path_factory: pytest.TempPathFactory) -> Any:
    """The quickstart as nbclient leaves it, read back from its file."""
    folder = tmp_path_factory.mktemp("headless")
    with pytest.MonkeyPatch.context() as environment:
        environment.setenv("AGENT_MAGICS_HOME", str(folder / "home"))
        environment.setenv("AGENT_MAGICS_MODEL", "demo")
        environment.setenv("JUPYTER_PATH", str(ROOT / ".build" / "share" / "jupyter"))
        environment.setenv("IPYTHONDIR", str(folder / "ipython"))
        book = nbformat.read(QUICKSTART, as_version=4)
        ran = run_notebook(book, timeout=60, kernel_name=KERNEL, store_widget_state=True, cwd=folder)
    nbformat.write(ran, folder / "executed.ipynb")
    return nbformat.read(folder / "executed.ipynb", as_version=4)


def run(*cells: str) -> Any:
    notebook = nbformat.v4.new_notebook(cells=[nbformat.v4.new_code_cell(cell) for cell in cells])
    return run_notebook(notebook, timeout=60, kernel_name=KERNEL)


def outputs(notebook: Any) -> list[Any]:
    return [output for cell in notebook.cells for output in cell.get("outputs", [])]


def test_the_quickstart_is_kept_without_outputs():
    kept = nbformat.read(QUICKSTART, as_version=4)
    nbformat.validate(kept)
    assert [] == outputs(kept)
    assert {None} == {cell.execution_count for cell in kept.cells if cell.cell_type == "code"}


@pytest.mark.kernels
def test_every_cell_ends_well_and_every_turn_is_there(executed):
    assert "error" not in {output.output_type for output in outputs(executed)}
    turns = [
        each for each in outputs(executed) if "application/x-agent-magics.turn+json" in each.get("data", {})
    ]
    assert 7 == len(turns)


@pytest.mark.kernels
def test_the_saved_file_needs_no_widget(executed):
    assert "widgets" not in executed.metadata
    kinds = {kind for output in outputs(executed) for kind in output.get("data", {})}
    assert {kind for kind in kinds if "widget" in kind} == set()


@pytest.mark.kernels
@pytest.mark.parametrize("exporter", [HTMLExporter, MarkdownExporter])
def test_a_conversion_shows_the_whole_transcript(executed, exporter):
    converted, _ = exporter().from_notebook_node(executed)
    text = re.sub(r"<[^>]+>", "", converted)
    assert [] == [said for said in TRANSCRIPT if said not in text]
    assert "at work; this front end shows no widgets" not in text


@pytest.mark.kernels
def test_papermill_runs_it_too(tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setenv("AGENT_MAGICS_MODEL", "demo")
    papermill.execute_notebook(
        QUICKSTART, tmp_path / "out.ipynb", kernel_name=KERNEL, progress_bar=False, cwd=str(tmp_path)
    )
    saved = nbformat.read(tmp_path / "out.ipynb", as_version=4)
    assert "widgets" not in saved.metadata
    assert "293.15 K" in str(outputs(saved))


@pytest.mark.kernels
def test_without_a_front_end_a_failed_turn_stops_the_run():
    with pytest.raises(CellExecutionError, match="The turn failed"):
        run(
            "%load_ext agent_magics",
            "from agent_magics import current_session\n"
            "from agent_magics.testing import ScriptedProvider\n"
            "current_session().provider = ScriptedProvider([ValueError('out of order')])",
            "%agent hello",
            "print('ran')",
        )


@pytest.mark.kernels
def test_a_rejected_call_is_no_failure(monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setenv("AGENT_MAGICS_MODEL", "demo")
    ran = run(
        "%load_ext agent_magics\nnumbers = [3, 5, 10]", "%agent what is the mean of numbers?", "print('ran')"
    )
    assert "ran\n" == ran.cells[-1].outputs[0].text
