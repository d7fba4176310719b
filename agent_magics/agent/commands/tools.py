"""``/tools``: what the model may call, and which of it asks."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from agent_magics.agent.commands.command import Command, cell
from agent_magics.agent.policy import Allow, Ask

if TYPE_CHECKING:
    from agent_magics.agent.session import Session
    from agent_magics.tools.tool import Tool


MANY = 5
"""Arguments from which on only the required ones are shown."""


def run(session: Session, words: str) -> str:
    tools = list(session.toolbox)
    if not tools:
        return "There are no tools. Make one with `@tool` and `session.toolbox.add(...)`."
    rows = [f"| `{_call(tool)}` | {cell(_sentence(tool))} | {_asks(session, tool)} |" for tool in tools]
    return "\n".join(["| tool | what it does | asks |", "|:--|:--|:--|", *rows])


def _call(tool: Tool) -> str:
    """How it is called; of many arguments, those that it must have."""
    names = list(tool.parameters.get("properties", {}))
    if len(names) > MANY:
        required = tool.parameters.get("required", ())
        names = [*(name for name in names if name in required), "…"]
    return f"{tool.name}({', '.join(names)})"


def _sentence(tool: Tool) -> str:
    """The first sentence of what the model is told."""
    return re.split(r"(?<=[.!?])\s", " ".join(tool.description.split()), maxsplit=1)[0]


def _asks(session: Session, tool: Tool) -> str:
    if tool.asks_itself:
        return "itself, with what it shows you"
    match session.policy.decide(tool, {}):
        case Ask():
            return "yes"
        case Allow(unasked="") if tool.why_ask:
            return "for some calls"
        case Allow(unasked=""):
            return "no"
        case Allow(unasked=setting):
            return f"no ({setting})"
        case _:
            return "refused"


COMMAND = Command(
    name="tools", usage="", summary="The tools that the model may call, and which ask.", run=run
)
