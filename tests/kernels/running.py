"""Notebooks that are run from their first cell to their last, without a front end."""

from __future__ import annotations

from typing import Any

from nbclient import NotebookClient

UNBORN = "Kernel died before replying"


def run_notebook(notebook: Any, *, cwd: object = None, **options: Any) -> Any:
    """The notebook, run. A kernel whose port somebody else took before it could is started once more."""
    where = {} if cwd is None else {"cwd": str(cwd)}
    try:
        return NotebookClient(notebook, **options).execute(**where)
    except RuntimeError as error:
        if UNBORN not in str(error):
            raise
    return NotebookClient(notebook, **options).execute(**where)
