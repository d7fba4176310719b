"""``forget``: take out a fact that was remembered."""

from __future__ import annotations

from collections.abc import Callable, Mapping

from agent_magics.talk import JSON, Memory
from agent_magics.tools.tool import Tool


def forget_tool(forget: Callable[[str], Memory], asks: Callable[[Mapping[str, JSON]], str]) -> Tool:
    """The tool over one session's facts; see :func:`~agent_magics.tools.builtin.remember.remember_tool`."""

    def handle(id: str) -> dict[str, JSON]:  # noqa: A002  # the model's word for it
        memory = forget(id)
        return {"forgotten": memory.id, "fact": memory.text, "brief": f"{memory.id} forgotten"}

    return Tool(
        name="forget",
        description="Forget one remembered fact that is no longer true or wanted, by its id.",
        parameters={
            "type": "object",
            "properties": {"id": {"type": "string", "description": "The fact's id, as it is listed"}},
            "required": ["id"],
            "additionalProperties": False,
        },
        handler=handle,
        why_ask=asks,
        brings_data=False,
        scope=lambda arguments: str(arguments.get("id", "")),
    )
