"""A planner for one tool: it calls ``make_tool`` with a description, and says what came of it.

A command that wants a tool made runs a turn with it. So the stages, the card and Stop are those of any turn.
"""

from __future__ import annotations

import json
from collections.abc import AsyncIterator, Callable, Mapping, Sequence
from typing import Any

from agent_magics.talk import JSON, Message, ProviderEvent, Saying, Stop, ToolCall, ToolSpec


class MakeOneTool:
    """A provider of two answers.

    Parameters
    ----------
    description : str
        What the tool should do.
    listing : callable
        The registry as Markdown, for the end.
    """

    name = "workshop"
    model = "one-tool"
    window = 0

    def __init__(self, description: str, listing: Callable[[], str]) -> None:
        self._description = description
        self._listing = listing

    async def fetch(
        self,
        messages: Sequence[Message],
        tools: Sequence[ToolSpec],
        *,
        schema: Mapping[str, JSON] | None = None,
    ) -> AsyncIterator[ProviderEvent]:
        """The call first; then what its result says."""
        last = messages[-1]
        if last["role"] == "tool":
            yield Saying(text=self._report(json.loads(last["content"])))
            yield Stop(reason="end")
        else:
            yield ToolCall(
                id="make-1", name="make_tool", arguments={"name": "", "description": self._description}
            )
            yield Stop(reason="tool_calls")

    async def aclose(self) -> None:
        """Nothing to give back."""

    def _report(self, told: Mapping[str, Any]) -> str:
        if "error" in told:
            return f"No tool was made. {told['error']}"
        if not told.get("made"):
            return f"`{told.get('name', '')}`: {told.get('note', 'nothing was kept.')}"
        return (
            f"Made `{told['made']}`, version {told['version']}: {told.get('tried', '')}\n\n{self._listing()}"
        )
