"""Filling a JSON Schema from a text, by rules.

Each field is looked for in the text: under its own name first (``age: 34``), then by the form that its name,
its type or its ``format`` asks for (an address, a date, a quantity in its unit, one of an enumeration), then
by what is left over. What nothing in the text speaks for is left out; if the schema insists, it is null where
that is allowed, else the least value that fits.

>>> fill({"type": "object", "properties": {"name": {"type": "string"}, "age": {"type": "integer"}},
...       "required": ["name", "age"]}, "Ann Lee is 34 years old.").value
{'name': 'Ann Lee', 'age': 34}
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise

from agent_magics.providers.demo.filling.filler import Filler
from agent_magics.providers.demo.shape import Schema
from agent_magics.providers.parts import plain
from agent_magics.talk import JSON, Message

__all__ = ["Filling", "fill", "fill_from"]

LONGEST = 100_000
"""Characters of a text that are searched."""

_REPAIR = re.compile(r"\b(?:valid|schema|error|required property|is not of type)\b", re.IGNORECASE)


@dataclass(frozen=True, kw_only=True)
class Filling:
    """A value for the schema, and the fields that nothing in the text spoke for."""

    value: JSON
    unfounded: tuple[str, ...] = ()


def fill(schema: Schema, text: str) -> Filling:
    """The value of ``schema`` that ``text`` speaks for."""
    filled = Filler(schema).fill(schema, (), text[:LONGEST])
    return Filling(value=filled.value, unfounded=tuple(dict.fromkeys(filled.unfounded)))


def fill_from(schema: Schema, messages: Sequence[Message]) -> Filling:
    """The same from the text of a request. A prompt that only complains about an answer is not the text."""
    prompts = [plain(message.get("content")) for message in messages if message.get("role") == "user"]
    while len(prompts) > 1 and _is_repair(prompts[-1], messages):
        prompts.pop()
    return fill(schema, prompts[-1] if prompts else "")


def _is_repair(prompt: str, messages: Sequence[Message]) -> bool:
    """Whether a prompt follows a reply in JSON and speaks of what is wrong with it."""
    for before, message in pairwise(messages):
        if message.get("role") == "user" and plain(message.get("content")) == prompt:
            said = plain(before.get("content")).lstrip()
            if before.get("role") == "assistant" and said.startswith(("{", "[")) and _REPAIR.search(prompt):
                return True
    return False
