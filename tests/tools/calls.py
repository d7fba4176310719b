"""One call, taken through a toolbox by itself."""

from __future__ import annotations

from typing import Any

from agent_magics.ports import Workbench
from agent_magics.talk import ToolCall, ToolResult
from agent_magics.tools import Permit, Results, Tool, Toolbox


async def anything_goes(tool: Tool, call: ToolCall) -> Permit:
    return Permit(allowed=True)


async def call_tool(tool: Tool, workbench: Workbench | None = None, /, **arguments: Any) -> ToolResult:
    """Call ``tool`` as a model would, with everything permitted."""
    call = ToolCall(id="c1", name=tool.name, arguments=arguments)
    return await Toolbox([tool], workbench=workbench).run(call, permit=anything_goes, results=Results())
