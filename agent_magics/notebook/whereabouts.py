"""Which notebook this is: its path, the ids of its cells, its kernel.

Nobody tells a kernel its notebook's name. Servers leave it in the environment, VS Code and papermill in a
variable, and where none of them does a person may give one. The file, if it can be read, has the ids of the
cells, by which a notebook is known again when it was renamed or copied.
"""

from __future__ import annotations

import json
import os
from collections.abc import Mapping
from pathlib import Path
from typing import Any, cast

from agent_magics.agent.past import Place

LARGEST = 100 << 20
"""Bytes of a notebook that is read for its ids; a larger one is known by the cells that ran."""

MOST = 500
"""Cells whose ids are remembered."""

UNSTEADY = "vscode-notebook-cell:"
"""How ids begin that only number the cells of an open editor: after a reload they name other cells."""


def place(environment: Mapping[str, str], namespace: Mapping[str, Any], *, name: str, kernel: str) -> Place:
    """Where this kernel is at work, as far as it is told.

    Parameters
    ----------
    environment, namespace : mapping
        Where servers, editors and runners leave the path.
    name : str
        The name that the user gave; it goes before what was found, which may be out of date.
    kernel : str
        The kernel's id.
    """
    found = path(name) or path(_found(environment, namespace), known=True)
    return Place(notebook=found, cells=cell_ids(found), kernel=kernel)


def _found(environment: Mapping[str, str], namespace: Mapping[str, Any]) -> str:
    told = (
        environment.get("JPY_SESSION_NAME"),
        namespace.get("__vsc_ipynb_file__"),
        namespace.get("PAPERMILL_OUTPUT_PATH"),
        namespace.get("PAPERMILL_INPUT_PATH"),
    )
    return next((each for each in told if isinstance(each, str) and each), "")


def path(name: str, *, known: bool = False) -> str:
    """A notebook's path, made absolute; a name that is none stays as it is. What was found (``known``) counts
    only if it is a notebook's: consoles and the like have names that the next one has again."""
    if not name:
        return ""
    file = Path(name).expanduser().absolute()
    if file.suffix == ".ipynb" or file.is_file():
        return str(file)
    return "" if known else name


def cell_ids(notebook: str) -> tuple[str, ...]:
    """The ids of the cells as they were saved last; none if that can't be read."""
    try:
        file = Path(notebook)
        if not notebook or file.stat().st_size > LARGEST:
            return ()
        cells = json.loads(file.read_bytes())["cells"]
        ids = [cast("dict[str, Any]", each).get("id") for each in cells[:MOST]]
    except (OSError, ValueError, TypeError, KeyError, AttributeError, RecursionError):
        return ()
    return tuple(each for each in ids if isinstance(each, str) and each)


def kernel_id(shell: Any) -> str:
    """The kernel's id: the name of its connection file, which a restarted kernel keeps."""
    parent = getattr(getattr(shell, "kernel", None), "parent", None)
    file = getattr(parent, "connection_file", "")
    return Path(file).stem if isinstance(file, str) else ""


def steady(cell: str) -> bool:
    """Whether a cell keeps this id when its notebook is opened again."""
    return bool(cell) and not cell.startswith(UNSTEADY)


def here(shell: Any, name: str, cell: str) -> Place:
    """The place of a running shell, whose cell of that id is running."""
    found = place(os.environ, shell.user_ns, name=name, kernel=kernel_id(shell))
    if not steady(cell) or cell in found.cells:
        return found
    return Place(notebook=found.notebook, cells=(*found.cells, cell), kernel=found.kernel)
