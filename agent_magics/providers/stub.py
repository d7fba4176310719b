"""``stub``: a provider with no model behind it, for trying out the plumbing.

It says back what it was told, word by word; a tool's result it quotes; for a schema it gives the smallest
value that fits. It never calls a tool. For something that reads and does, see ``demo``.
"""

from __future__ import annotations

import asyncio
import re
from collections.abc import AsyncGenerator, Mapping, Sequence
from typing import Any

from agent_magics.providers.loose import dumps, items, obj
from agent_magics.providers.parts import plain
from agent_magics.talk import JSON, Message, ProviderEvent, Saying, Stop, ToolSpec, Usage


def stub(model: str | None = None, **_: Any) -> Stub:
    """The stub; it takes every option and heeds none."""
    return Stub(model or "stub")


class Stub:
    """Says back the last thing it was told."""

    name = "stub"
    window = 0
    summarises = False

    def __init__(self, model: str = "stub") -> None:
        self.model = model

    async def fetch(
        self,
        messages: Sequence[Message],
        tools: Sequence[ToolSpec],
        *,
        schema: Mapping[str, JSON] | None = None,
    ) -> AsyncGenerator[ProviderEvent]:
        words = re.findall(r"\S+\s*|\s+", _answer(messages, schema))
        for word in words:
            yield Saying(text=word)
            await asyncio.sleep(0)
        sent = sum(len(plain(message.get("content")).split()) for message in messages)
        yield Usage(input=sent, output=len(words))
        yield Stop(reason="end")

    async def aclose(self) -> None:
        """Nothing to give back."""


def _answer(messages: Sequence[Message], schema: Mapping[str, JSON] | None) -> str:
    if schema is not None:
        return dumps(smallest(schema))
    told = next((one for one in reversed(messages) if one["role"] in ("user", "tool")), None)
    if told is None:
        return "Nothing was said."
    said = plain(told.get("content"))
    return f"The tool says: {said}" if told["role"] == "tool" else said


def smallest(schema: Mapping[str, JSON]) -> JSON:
    """The smallest value of the schema, as far as its types, ``enum``, ``const`` and minima tell."""
    if "const" in schema:
        return schema["const"]
    if choices := items(schema.get("enum")):
        return choices[0]
    if options := items(schema.get("anyOf")) or items(schema.get("oneOf")):
        return smallest(obj(options[0]))
    kind = schema.get("type")
    match next(iter(items(kind)), kind):
        case "object":
            properties = obj(schema.get("properties"))
            return {name: smallest(obj(properties.get(name))) for name in items(schema.get("required"))}
        case "array":
            return [smallest(obj(schema.get("items")))] * int(schema.get("minItems", 0))
        case "string":
            return "x" * int(schema.get("minLength", 0))
        case "integer" | "number":
            return schema.get("minimum", 0)
        case "boolean":
            return False
        case _:
            return None
