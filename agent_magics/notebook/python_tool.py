"""``run_python``: the model's code, run in the user's own namespace after a person has approved it.

This is the one tool whose code runs in the kernel: it is meant to change the notebook's variables. So it
always asks, an "always this session" covers that exact text only, and what changed is told.

What the code prints or displays goes to the model and into the call's row, not into the cell; pictures are
shown in the cell as well.
"""

from __future__ import annotations

import hashlib
from collections.abc import Mapping
from typing import Any

from agent_magics.notebook.snippet import Ran, run_snippet
from agent_magics.talk import JSON
from agent_magics.tools.builtin.summary import brief
from agent_magics.tools.builtin.variables import user_variables
from agent_magics.tools.tool import Tool


def python_tool(shell: Any) -> Tool:
    """The tool over one running shell."""

    def run_python(code: str) -> dict[str, JSON]:
        before = user_variables(shell.user_ns)
        ran = run_snippet(shell, code)
        return {**_told(ran), **_changed(before, user_variables(shell.user_ns))}

    return Tool(
        name="run_python",
        description=(
            "Run Python in the user's notebook, in its own namespace. Returns what was printed, the value of "
            "the last expression, and which variables changed. The user is asked first."
        ),
        parameters={
            "type": "object",
            "properties": {
                "code": {"type": "string", "description": "Python source, several lines if need be"}
            },
            "required": ["code"],
            "additionalProperties": False,
        },
        handler=run_python,
        needs_kernel=True,
        asks=True,
        code="code",
        scope=lambda arguments: hashlib.sha256(str(arguments.get("code", "")).encode()).hexdigest(),
    )


def _told(ran: Ran) -> dict[str, JSON]:
    """What came of it, and nothing that didn't."""
    told: dict[str, JSON] = {"error": ran.error} if ran.error else {}
    if ran.printed:
        told["printed"] = ran.printed
    if ran.displayed:
        told["displayed"] = list(ran.displayed)
    if ran.value is not None:
        told |= {"value": ran.text, "brief": brief(ran.value)}
    if ran.pictures:
        told["pictures"] = f"{ran.pictures} shown to the user"
    return told


def _changed(before: Mapping[str, Any], after: Mapping[str, Any]) -> dict[str, JSON]:
    """Names that are new, rebound or gone."""
    named = {
        "new": sorted(after.keys() - before.keys()),
        "rebound": sorted(name for name in after.keys() & before.keys() if after[name] is not before[name]),
        "gone": sorted(before.keys() - after.keys()),
    }
    changes: dict[str, JSON] = {kind: names for kind, names in named.items() if names}
    return {"changed": changes} if changes else {}
