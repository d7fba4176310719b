"""``inspect``: a closer look at one variable."""

from __future__ import annotations

import difflib

from agent_magics.errors import ToolError
from agent_magics.ports import Workbench
from agent_magics.talk import JSON
from agent_magics.tools.builtin.summary import describe
from agent_magics.tools.builtin.variables import user_variables
from agent_magics.tools.tool import Tool


def inspect_tool(workbench: Workbench) -> Tool:
    """The tool over one namespace."""

    def inspect(name: str) -> dict[str, JSON]:
        namespace = workbench.namespace
        if name not in namespace:
            near = difflib.get_close_matches(name, user_variables(namespace), n=3)
            hint = f" Did you mean {', '.join(near)}?" if near else " See variables()."
            raise ToolError(f"There is no variable {name!r} in the notebook.{hint}")
        return describe(namespace[name])

    return Tool(
        name="inspect",
        description="Look at one variable of the user's notebook: type, shape, columns, first rows.",
        parameters={
            "type": "object",
            "properties": {"name": {"type": "string", "description": "The variable's name"}},
            "required": ["name"],
            "additionalProperties": False,
        },
        handler=inspect,
        read_only=True,
        needs_kernel=True,
    )
