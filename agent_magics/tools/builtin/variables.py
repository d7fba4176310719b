"""``variables``: what the user has in the namespace, a line each."""

from __future__ import annotations

import types
from collections.abc import Mapping
from typing import Any

from agent_magics.ports import Workbench
from agent_magics.talk import JSON
from agent_magics.tools.builtin.summary import brief
from agent_magics.tools.tool import Tool

MOST = 200


def variables_tool(workbench: Workbench, hidden: frozenset[str] = frozenset()) -> Tool:
    """The tool over one namespace; ``hidden`` names are the notebook's own and not the user's."""

    def variables() -> dict[str, JSON]:
        names = user_variables(workbench.namespace, hidden)
        listed = [
            {"name": name, "type": type(value).__name__, "value": brief(value)}
            for name, value in list(names.items())[:MOST]
        ]
        said = f"{len(names)} {'variable' if len(names) == 1 else 'variables'}"
        return {"variables": listed, "count": len(names), "brief": said}

    return Tool(
        name="variables",
        description="List the variables of the user's notebook: name, type and a short look at the value.",
        handler=variables,
        read_only=True,
        needs_kernel=True,
    )


def user_variables(namespace: Mapping[str, Any], hidden: frozenset[str] = frozenset()) -> dict[str, Any]:
    """The variables that a person made: no private names, no modules, nothing of the shell's."""
    return {
        name: value
        for name, value in sorted(namespace.items())
        if not name.startswith("_") and name not in hidden and not isinstance(value, types.ModuleType)
    }
