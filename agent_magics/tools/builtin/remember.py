"""``remember``: keep a fact for later turns and sessions."""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Mapping

from agent_magics.talk import JSON, Memory
from agent_magics.talk.memory import LONGEST, MOST, Scope
from agent_magics.tools.tool import Tool


def remember_tool(
    remember: Callable[[str, Scope], Memory], asks: Callable[[Mapping[str, JSON]], str]
) -> Tool:
    """The tool over one session's facts.

    Parameters
    ----------
    remember : callable
        Keeps a text in a scope.
    asks : callable
        The call's arguments -> why a person is asked about it; empty where nobody is.
    """

    def handle(fact: str, scope: Scope = "notebook") -> dict[str, JSON]:
        memory = remember(fact, scope)
        return {"id": memory.id, "fact": memory.text, "scope": memory.scope, "brief": f"{memory.id} kept"}

    return Tool(
        name="remember",
        description=(
            "Remember one fact that will matter in later conversations, such as a preference or what a "
            f"column means. At most {MOST} facts of {LONGEST} characters; `forget` makes room."
        ),
        parameters={
            "type": "object",
            "properties": {
                "fact": {"type": "string", "description": f"One sentence, at most {LONGEST} characters"},
                "scope": {
                    "type": "string",
                    "enum": ["notebook", "user"],
                    "default": "notebook",
                    "description": "For this notebook, or for all of the user's; the latter is asked about",
                },
            },
            "required": ["fact"],
            "additionalProperties": False,
        },
        handler=handle,
        why_ask=asks,
        brings_data=False,
        # A yes for good would hold for whatever comes later.
        scope=lambda arguments: hashlib.sha256(str(sorted(arguments.items())).encode()).hexdigest(),
    )
