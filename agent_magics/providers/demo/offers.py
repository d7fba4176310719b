"""What is on offer: the rules' own skills, and the tools of this very request."""

from __future__ import annotations

import re
from collections.abc import Sequence

from agent_magics.providers.demo.reading import Tool
from agent_magics.providers.demo.reporting import escaped
from agent_magics.providers.demo.shape import kind
from agent_magics.providers.demo.words import joined

I_AM = "I am a rule-based demonstration, not a language model"

_SKILLS = (
    ("sums", "17 * 23"),
    ("conversions between units, made-up ones too", "a blorp is 3.7 metres; how many blorps is 10 km?"),
    ("counts of texts and looks at them", 'how many vowels are in "banana"?'),
    ("dates", "how many days are between 3 May 2024 and 1 June 2024?"),
    ("means, medians and deviations of numbers", "what is the median of 3, 5 and 9?"),
)


def abilities(tools: Sequence[Tool]) -> str:
    """All that can be asked, a line each."""
    skills = "\n".join(f"- {skill}: `{example}`" for skill, example in _SKILLS)
    listed = "\n".join(f"- {signature(tool)}: {_first_sentence(tool.description)}" for tool in tools)
    given = f"These tools were given to me, and I call them where a prompt fits:\n\n{listed}"
    return f"{I_AM}. By rules I can do:\n\n{skills}\n\n{given if tools else 'I was given no tools.'}"


def in_short(tools: Sequence[Tool]) -> str:
    """The same in two sentences."""
    return f"By rules I can do {joined([skill for skill, _ in _SKILLS])}. {counted(tools)}"


def counted(tools: Sequence[Tool]) -> str:
    """How many tools there are, and their names."""
    if not tools:
        return "No tools were given to me."
    names = [f"`{tool.name}`" for tool in tools[:12]]
    more = [f"{len(tools) - 12} more"] if len(tools) > 12 else []
    return f"I was given {len(tools)} {'tool' if len(tools) == 1 else 'tools'}: {joined([*names, *more])}."


def signature(tool: Tool) -> str:
    """``word_count(text: string)``."""
    required = [f"{name}: {kind(tool.properties[name])}" for name in tool.required]
    optional = [f"{name}=…" for name in tool.properties if name not in tool.required]
    return f"`{tool.name}({', '.join([*required, *(optional if len(optional) < 4 else ['…'])])})`"


def described(tool: Tool) -> str:
    """A tool with what is said of it and of each of its parameters."""
    lines = [
        f"- `{name}` ({kind(schema)}): {escaped(str(schema.get('description') or 'not described'))}"
        for name, schema in tool.properties.items()
    ]
    about = escaped(" ".join(tool.description.split())) or "It has no description."
    return f"{signature(tool)}: {about}" + ("\n\n" + "\n".join(lines) if lines else "")


def _first_sentence(text: str) -> str:
    text = " ".join(text.split())
    return escaped(re.split(r"(?<=[.!?])\s", text, maxsplit=1)[0]) if text else "no description"
