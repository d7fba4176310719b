"""Who writes the source, if not the planner: a provider of its own, or the demonstration's recipes.

So a small local model may plan, and a strong one write; or nobody at all, with recipes.
"""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from typing import Any, Protocol

from agent_magics.errors import ToolError
from agent_magics.forge import names
from agent_magics.forge.doors import Request
from agent_magics.forge.draft import Draft, draft_from
from agent_magics.forge.rules import RULES
from agent_magics.ports import Provider
from agent_magics.talk import JSON, Message, Saying, Usage
from agent_magics.tools.validation import Validator

SCHEMA: dict[str, JSON] = {
    "type": "object",
    "properties": {
        "name": {"type": "string", "pattern": names.PATTERN},
        "description": {"type": "string"},
        "source": {"type": "string", "description": "the Python module"},
        "parameters": {"type": "object", "description": "JSON Schema of the arguments"},
        "example": {"type": "object", "description": "arguments for which it must work"},
        "capabilities": {"type": "array", "items": {"type": "string"}},
    },
    "required": ["name", "description", "source", "example"],
}


class Recipe(Protocol):
    """What a recipe hands in."""

    name: str

    def arguments(self) -> dict[str, JSON]:
        """What ``make_tool`` would be called with."""
        ...

    def renamed(self, name: str) -> Recipe:
        """The same under another name."""
        ...


class RecipeGenerator:
    """Writes from recipes, without a model.

    Parameters
    ----------
    write : callable
        A request in words -> a recipe, or nothing.
    """

    author = "demo:recipes"

    def __init__(self, write: Callable[[str], Any]) -> None:
        self._write = write

    async def write(self, request: Request, rejected: Sequence[tuple[Draft, str]]) -> Draft:
        if rejected:
            raise ToolError(f"The recipe was rejected, and there is no other: {rejected[-1][1]}")
        goal, what = request.goal, request.description
        for text in (what, f"{what} {goal}", goal, request.name):
            recipe = self._write(text) if text.strip() else None
            if recipe is not None:
                recipe = recipe.renamed(request.name) if request.name else recipe
                return draft_from(recipe.arguments(), self.author)
        raise ToolError(
            "No recipe writes this tool. Recipes know units, counts of texts, dates and lists of numbers."
        )


class ProviderGenerator:
    """Writes with a model.

    Parameters
    ----------
    provider : callable
        Returns the provider that writes.

    Attributes
    ----------
    usage : Usage
        Tokens of the last draft.
    """

    def __init__(self, provider: Callable[[], Provider]) -> None:
        self._provider = provider
        self.usage = Usage()

    @property
    def author(self) -> str:
        provider = self._provider()
        return f"{provider.name}:{provider.model}"

    async def write(self, request: Request, rejected: Sequence[tuple[Draft, str]]) -> Draft:
        self.usage, said = Usage(), list[str]()
        async for event in self._provider().fetch(_messages(request, rejected), [], schema=SCHEMA):
            if isinstance(event, Saying):
                said.append(event.text)
            elif isinstance(event, Usage):
                self.usage = event
        draft = draft_from(_read("".join(said)), self.author)
        return replace(draft, name=request.name) if request.name and not draft.name else draft


def _messages(request: Request, rejected: Sequence[tuple[Draft, str]]) -> list[Message]:
    wanted = {
        "name": request.name or None,
        "what it does": request.description or None,
        "asked for in": request.goal or None,
        "first call": dict(request.arguments) if request.arguments else None,
    }
    told = {label: value for label, value in wanted.items() if value}
    messages: list[Message] = [
        {"role": "system", "content": f"You write one Python function as a tool.\n\n{RULES}"},
        {"role": "user", "content": f"Write this tool: {json.dumps(told, ensure_ascii=False)}"},
    ]
    for draft, reason in rejected:
        answer = {"name": draft.name, "description": draft.description, "source": draft.source}
        messages.append({"role": "assistant", "content": json.dumps(answer, ensure_ascii=False)})
        messages.append({"role": "user", "content": f"It was rejected: {reason} Write it anew, whole."})
    return messages


def _read(text: str) -> Mapping[str, JSON]:
    """The JSON object in an answer, perhaps in a fence."""
    match = re.search(r"\{.*\}", text, re.DOTALL)
    try:
        found = json.loads(match[0]) if match else None
    except ValueError as error:
        raise ToolError(f"The generator's answer is no JSON: {error}.") from error
    if not isinstance(found, dict):
        raise ToolError("The generator's answer has no JSON object in it.")
    if problems := Validator(SCHEMA).problems(found):
        raise ToolError(f"The generator's answer is no draft: {'; '.join(problems)}.")
    return found  # pyright: ignore[reportUnknownVariableType]  # JSON, validated
