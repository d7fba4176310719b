"""X1, X4: the notebook about extraction, run as CI runs it, with the demo provider."""

from __future__ import annotations

from typing import Any

import nbformat
import pytest

from tests.conftest import ROOT
from tests.kernels.running import run_notebook

NOTEBOOK = ROOT / "notebooks" / "03_structured_extraction.ipynb"
BUGS = [
    ("src/parser.py", 42, "the loop never ends when the input is empty."),
    ("src/parser.py", 118, "an IndexError for a file without a header."),
    ("src/store.py", 7, "the file is never closed."),
]


@pytest.fixture(scope="module")
def executed(tmp_path_factory: pytest.TempPathFactory) -> Any:
    folder = tmp_path_factory.mktemp("extraction")
    with pytest.MonkeyPatch.context() as environment:
        environment.setenv("AGENT_MAGICS_HOME", str(folder / "home"))
        environment.setenv("JUPYTER_PATH", str(ROOT / ".build" / "share" / "jupyter"))
        environment.setenv("IPYTHONDIR", str(folder / "ipython"))
        notebook = nbformat.read(NOTEBOOK, as_version=4)
        return run_notebook(notebook, timeout=60, kernel_name="ipykernel-7.4.0", cwd=folder)


def shown(notebook: Any, kind: str) -> list[str]:
    outputs = [output for cell in notebook.cells for output in cell.get("outputs", [])]
    return [output["data"][kind] for output in outputs if kind in output.get("data", {})]


def test_it_is_kept_without_outputs():
    kept = nbformat.read(NOTEBOOK, as_version=4)
    nbformat.validate(kept)
    assert [] == shown(kept, "text/plain")


@pytest.mark.kernels
def test_the_bugs_are_found_bound_and_shown_as_a_table(executed):
    expected = {"bugs": [dict(zip(("file", "line", "issue"), bug, strict=True)) for bug in BUGS]}
    assert str(expected) in [" ".join(text.split()) for text in shown(executed, "text/plain")]
    settled = shown(executed, "text/html")[0]
    assert all(f">{line}</td>" in settled for _, line, _ in BUGS)


@pytest.mark.kernels
def test_a_model_of_pydantic_and_python_itself_give_plain_data(executed):
    said = "\n".join(shown(executed, "text/plain"))
    assert "'issue': 'the password is written to the log.'" in said
    assert "{'name': 'Ann Lee', 'age': 34, 'city': 'Berlin'}" in said
