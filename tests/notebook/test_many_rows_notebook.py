"""X4, X5: the notebook about many rows and a cluster, run as CI runs it, with the demo provider."""

from __future__ import annotations

import nbformat
import pytest

from tests.conftest import ROOT
from tests.kernels.running import run_notebook

NOTEBOOK = ROOT / "notebooks" / "04_many_rows.ipynb"


def test_it_is_kept_without_outputs():
    kept = nbformat.read(NOTEBOOK, as_version=4)
    nbformat.validate(kept)
    assert [] == [output for cell in kept.cells for output in cell.get("outputs", [])]


@pytest.mark.kernels
@pytest.mark.timeout(240)
def test_rows_are_found_kept_and_spread_over_a_cluster_that_loses_a_worker(tmp_path, monkeypatch):
    monkeypatch.setenv("JUPYTER_PATH", str(ROOT / ".build" / "share" / "jupyter"))
    notebook = nbformat.read(NOTEBOOK, as_version=4)
    run_notebook(notebook, timeout=120, kernel_name="ipykernel-7.4.0", cwd=tmp_path)

    outputs = [output for cell in notebook.cells for output in cell.get("outputs", [])]
    plain = [output["data"]["text/plain"] for output in outputs if "data" in output]
    printed = "".join(output["text"] for output in outputs if output.get("name") == "stdout")
    assert any("{'name': 'Person00', 'born': 1900, 'city': 'London'}" in text for text in plain)
    assert any("400 rows ·" in text for text in plain)
    assert 2 == plain.count("True")
    assert "kind='empty'" in printed
    assert "250 of 400 came from the checkpoint" in printed
    assert "killed 1 worker; 1600 rows, 0 failures" in printed
