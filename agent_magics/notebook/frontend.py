"""What the front end of the running cell can do: show widgets, take a line of input, or neither.

Nobody tells a kernel which program talks to it, but the execute request does in its way: a runner without a
person (nbclient, papermill) does not allow stdin; a notebook sends metadata about its cells; a console allows
stdin and sends none.
"""

from __future__ import annotations

import os
import sys
from collections.abc import Mapping
from typing import Any, Literal, cast

from agent_magics.agent.past import Place
from agent_magics.notebook.whereabouts import here

Mode = Literal["widgets", "input", "none"]
MODES: tuple[Mode, ...] = ("widgets", "input", "none")


class Frontend:
    """Looks at the shell that a cell runs in.

    Parameters
    ----------
    shell
        The running IPython shell.
    """

    def __init__(self, shell: Any) -> None:
        self._shell = shell

    @property
    def kernel(self) -> Any:
        """The kernel, or ``None`` in a terminal."""
        return getattr(self._shell, "kernel", None)

    def mode(self, setting: str = "auto") -> Mode:
        """How a person can be asked here; ``setting`` overrides what is found."""
        if setting in MODES:
            return setting
        if self.kernel is None:
            return "input" if sys.stdin is not None and sys.stdin.isatty() else "none"  # pyright: ignore[reportUnnecessaryComparison]  # None under pythonw
        if not self.allows_input:
            return "none"
        return "widgets" if self._shows_cells() else "input"

    @property
    def allows_input(self) -> bool:
        """Whether the running request allows stdin."""
        return bool(getattr(self.kernel, "_allow_stdin", False))

    @property
    def cell(self) -> str:
        """The running cell's id, where the front end tells it."""
        cell = self._metadata().get("cellId", "")
        return cell if isinstance(cell, str) else ""

    @property
    def run(self) -> str:
        """What tells this run of the cell from every other one: the id of its request."""
        header: Mapping[str, Any] = self._parent().get("header") or {}
        run = header.get("msg_id", "")
        return run if isinstance(run, str) else ""

    def place(self, name: str = "") -> Place:
        """Which notebook this is, as far as it is told; ``name`` is what the user calls it."""
        return here(self._shell, name, self.cell)

    def _shows_cells(self) -> bool:
        """Notebook front ends tell of their cells, each in its own words; consoles have none to tell of."""
        told = self._shell.user_ns.get("__vsc_ipynb_file__") or os.environ.get("JPY_SESSION_NAME")
        return bool({"cellId", "deletedCells", "recordTiming"} & self._metadata().keys()) or bool(told)

    def _metadata(self) -> Mapping[str, Any]:
        return self._parent().get("metadata") or {}

    def _parent(self) -> Mapping[str, Any]:
        """The running request."""
        get_parent = getattr(self._shell, "get_parent", None)
        return cast("Mapping[str, Any]", (get_parent() if get_parent else None) or {})
