"""A draft of a tool, and the job that asks for one.

A recipe answers a question in two ways that must agree: with a :class:`Draft`, the source of a tool that
anybody can read, check and keep; and with ``work``, which computes the same here when no tool can be had.
Where a recipe is a plain function both are one thing, since the draft's source is the function's own.
"""

from __future__ import annotations

import inspect
import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace
from typing import Any, get_args, get_origin

from agent_magics.talk import JSON

MODULES = ("collections", "datetime", "math", "re", "statistics")
"""What the source of a recipe may import."""

_PARAMETER = re.compile(r"^ {4}(\w+) : [^\n]+\n((?: {8}[^\n]+\n?)+)", re.MULTILINE)
_TYPES: dict[Any, str] = {str: "string", int: "integer", float: "number", bool: "boolean"}


@dataclass(frozen=True, kw_only=True)
class Draft:
    """A tool as its author hands it in.

    Parameters
    ----------
    name : str
        ``^[a-z][a-z0-9_]{2,49}$``.
    description : str
        One sentence: what it does.
    parameters : dict
        JSON Schema of the arguments, an object.
    source : str
        One function with type hints and a numpydoc docstring, and the imports that it needs.
    example : dict
        Arguments for which it must work.
    """

    name: str
    description: str
    parameters: dict[str, JSON]
    source: str
    example: dict[str, JSON]

    def renamed(self, name: str) -> Draft:
        """The same tool under another name."""
        return replace(self, name=name, source=re.sub(rf"\b{self.name}\b", name, self.source))

    def arguments(self) -> dict[str, JSON]:
        """What ``make_tool`` is called with."""
        return {
            "name": self.name,
            "description": self.description,
            "parameters": self.parameters,
            "source": self.source,
            "example": self.example,
        }


@dataclass(frozen=True, kw_only=True)
class Job:
    """A question that a recipe understands.

    Parameters
    ----------
    draft : Draft
        The tool that would answer it.
    work : callable
        Computes the same, called with ``arguments`` as keywords; raises ``ValueError`` for what can't be.
    tell : callable
        The value and the arguments as a sentence in Markdown.
    arguments : dict
        What the question gives; without ``hole`` it is complete.
    hole : str
        The parameter that the question leaves open, to be filled by an earlier result; else empty.
    question : str
        The question in plain words, for tools of other people that do the same.
    vague : bool
        Whether the text was taken from bare words that may as well describe what another tool returns.
    conversion : (str, str), optional
        The names of two units, if the job is to convert one into the other.
    origin : str
        Definitions that the tool rests on: a tool of the same name that doesn't know them is another.
    """

    draft: Draft
    work: Callable[..., JSON]
    tell: Callable[[JSON, Mapping[str, JSON]], str]
    arguments: dict[str, JSON] = field(default_factory=dict[str, JSON])
    hole: str = ""
    question: str = ""
    vague: bool = False
    conversion: tuple[str, str] | None = None
    origin: str = ""


def draft_of(function: Callable[..., Any], example: dict[str, JSON]) -> Draft:
    """The draft whose source is ``function`` itself, docstring, hints and all."""
    source = inspect.getsource(function)
    needed = [name for name in MODULES if re.search(rf"(?<![\w.]){name}\.\w", source)]
    imports = "".join(f"import {name}\n" for name in needed)
    return Draft(
        name=function.__name__,
        description=(inspect.getdoc(function) or "").split("\n")[0],
        parameters=schema_of(function),
        source=f"{imports}\n\n{source}" if imports else source,
        example=example,
    )


def schema_of(function: Callable[..., Any]) -> dict[str, JSON]:
    """The JSON Schema of a function's arguments, from its hints and its numpydoc section."""
    words = {name: " ".join(text.split()) for name, text in _PARAMETER.findall(_cleaned(function))}
    signature = inspect.signature(function, eval_str=True)
    properties: dict[str, JSON] = {}
    for name, parameter in signature.parameters.items():
        properties[name] = {**_schema(parameter.annotation), "description": words.get(name, "")}
        if parameter.default is not parameter.empty:
            properties[name]["default"] = parameter.default
    required = [
        name for name, parameter in signature.parameters.items() if parameter.default is parameter.empty
    ]
    return {
        "type": "object",
        "properties": properties,
        "required": required,
        "additionalProperties": False,
    }


def _schema(hint: Any) -> dict[str, JSON]:
    if get_origin(hint) is list:
        return {"type": "array", "items": _schema(get_args(hint)[0])}
    return {"type": _TYPES[hint]}


def _cleaned(function: Callable[..., Any]) -> str:
    """The Parameters section, indented as in the source of a function at the top level."""
    text = inspect.getdoc(function) or ""
    section = re.search(r"Parameters\n-+\n(.*?)(?=\n\n\w+\n-+\n|\Z)", text, re.DOTALL)
    lines = section.group(1).splitlines() if section else []
    return "\n".join(f"    {line}" for line in lines) + "\n"
