"""``more``: read on in a result that was cut."""

from __future__ import annotations

from agent_magics.talk import JSON
from agent_magics.tools.result import Results
from agent_magics.tools.tool import Tool


def more_tool(results: Results) -> Tool:
    """The tool over one session's cut results."""

    def more(handle: str, page: int = 1) -> dict[str, JSON]:
        return results.more(handle, page)

    return Tool(
        name="more",
        description="Read one page of an earlier result that was cut. The cut result names its handle.",
        parameters={
            "type": "object",
            "properties": {
                "handle": {"type": "string", "description": "The cut result's handle, such as r1"},
                "page": {"type": "integer", "minimum": 1, "default": 1},
            },
            "required": ["handle"],
            "additionalProperties": False,
        },
        handler=more,
        read_only=True,
        parallel_safe=True,
        brings_data=False,  # what it reads was brought by another call
    )
