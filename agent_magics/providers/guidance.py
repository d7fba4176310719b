"""What a small model needs before it can plan: few tools, examples of exactly those, and one decision less.

A model of a hundred million parameters can fill in a form, and can hardly decide which form. So the tools
that share a word with the request are picked by rule; each is shown once, worked; and while there is no
result the model may only choose among their forms, afterwards only answer. With no such tool it simply chats.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence

from agent_magics.providers.loose import items, obj, text
from agent_magics.providers.parts import plain
from agent_magics.talk import JSON, Message, ToolSpec

_MOST_TOOLS = 3
_PROGRAMS = frozenset(("code", "source"))  # a model of this size fills these with endless nonsense
_STEM = 5  # letters: "converting" and "conversion" meet, "count" and "country" do too, and that is the price
# fmt: off
_EMPTY = frozenset((
    "about", "after", "and", "are", "call", "can", "does", "find", "for", "from", "get", "give", "has",
    "have", "how", "into", "make", "now", "one", "our", "out", "please", "result", "show", "some",
    "tell", "text", "that", "the", "their", "them", "then", "there", "this", "tool", "use", "used",
    "value", "what", "when", "where", "which", "will", "with", "would", "you", "your",
))  # words that say nothing about a subject
# fmt: on


def related(messages: Sequence[Message], tools: Sequence[ToolSpec]) -> list[ToolSpec]:
    """The tools whose name, description or parameters share a word with the last request, best first."""
    asked = next((one for one in reversed(messages) if one["role"] == "user"), None)
    wanted = _stems(plain(asked.get("content"))) if asked else set[str]()
    within = [tool for tool in tools if not _PROGRAMS & obj(_parameters(tool).get("properties")).keys()]
    scored = [(len(wanted & _stems(_words_of(tool))), tool) for tool in within]
    found = sorted((pair for pair in scored if pair[0]), key=lambda pair: -pair[0])
    return [tool for _, tool in found[:_MOST_TOOLS]]


def examples(tools: Sequence[ToolSpec]) -> Iterator[tuple[str, JSON]]:
    """One worked request for each tool, made from what the tool says about itself."""
    for tool in tools:
        function = obj(tool.get("function"))
        params = {name: _sample(obj(kind)) for name, kind in obj(_parameters(tool).get("properties")).items()}
        does = text(function.get("description")).partition("\n")[0].rstrip(". ")
        yield (
            f"{does}: {', '.join(map(str, params.values()))}",
            {"steps": [{"tool": function["name"], "params": params}]},
        )
        yield f'Result of {function["name"]}: {{"value": 42, "ok": true}}', {"answer": "The result is 42."}


def _parameters(tool: ToolSpec) -> dict[str, JSON]:
    return obj(obj(tool.get("function")).get("parameters"))


def _words_of(tool: ToolSpec) -> str:
    function = obj(tool.get("function"))
    return " ".join(
        [
            text(function.get("name")),
            text(function.get("description")).strip().partition("\n")[0],
            *obj(_parameters(tool).get("properties")),
        ]
    )


def _stems(said: str) -> set[str]:
    words = re.findall(r"[a-z]{3,}", said.lower().replace("_", " "))
    return {word[:_STEM] for word in words if word not in _EMPTY}


def _sample(schema: dict[str, JSON]) -> JSON:
    if choices := items(schema.get("enum")):
        return choices[0]
    match schema.get("type"):
        case "integer" | "number":
            return 5
        case "boolean":
            return True
        case "array":
            return [1, 2]
        case _:
            return "example"
