"""An agent in a notebook cell.

``%load_ext agent_magics``, then ``%%agent``: a cell runs one turn of a conversation with a model that can
use tools. The same from Python::

    from agent_magics import Session

    with Session(provider="demo") as session:
        print(session.ask("How many kilometres are 26.2 miles?").reply)

Nothing heavy is imported here: each name loads what it needs when it is first used.
"""

from __future__ import annotations

import sys
from types import ModuleType
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from agent_magics.agent.budget import Budget
    from agent_magics.agent.otel import OpenTelemetry
    from agent_magics.api import Session, current_session, run
    from agent_magics.many_rows import extract_many
    from agent_magics.one_text import extract
    from agent_magics.providers.registry import provider
    from agent_magics.tools.tool import Tool, tool

__version__ = "0.1.0"

_HOMES = {
    "OpenTelemetry": "agent_magics.agent.otel",
    "Budget": "agent_magics.agent.budget",
    "Session": "agent_magics.api",
    "current_session": "agent_magics.api",
    "extract": "agent_magics.one_text",
    "extract_many": "agent_magics.many_rows",
    "run": "agent_magics.api",
    "provider": "agent_magics.providers.registry",
    "Tool": "agent_magics.tools.tool",
    "tool": "agent_magics.tools.tool",
}

__all__ = [
    "Budget",
    "OpenTelemetry",
    "Session",
    "Tool",
    "__version__",
    "current_session",
    "extract",
    "extract_many",
    "provider",
    "run",
    "tool",
]


def __getattr__(name: str) -> Any:
    if name not in _HOMES:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    from importlib import import_module

    return getattr(import_module(_HOMES[name]), name)


class _Package(ModuleType):
    """This package. Its ``extract`` is the function, although a subpackage has the same name: importing that
    sets the name on its parent, and users would get the subpackage from then on."""

    @property
    def extract(self) -> Any:
        return __getattr__("extract")

    @extract.setter
    def extract(self, _: ModuleType) -> None: ...


sys.modules[__name__].__class__ = _Package


def __dir__() -> list[str]:
    return sorted({*globals(), *_HOMES})


def load_ipython_extension(shell: Any) -> None:
    """Called by ``%load_ext agent_magics``: registers ``%agent`` and ``%%agent``. Quiet, and no network."""
    from agent_magics.notebook.extension import load

    load(shell)


def unload_ipython_extension(shell: Any) -> None:
    """Called by ``%unload_ext agent_magics``: everything that loading put in place is taken back."""
    from agent_magics.notebook.extension import unload

    unload(shell)
