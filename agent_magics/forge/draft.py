"""A tool as its author hands it in, and what it is known by."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from typing import Any, cast

from agent_magics.errors import ToolError
from agent_magics.talk import JSON

SECONDS, MEMORY_MB = 60.0, 64
"""Time and memory of a call, unless more is asked for and approved."""

MOST_SECONDS, MOST_MEMORY_MB = 600.0, 4096


@dataclass(frozen=True, kw_only=True)
class Example:
    """A call that a tool must manage, and what it returns where that is known.

    Examples
    --------
    >>> Example(arguments={"text": "MMXXVI"}, returns=2026, known=True).known
    True
    """

    arguments: Mapping[str, JSON]
    returns: JSON = None
    known: bool = False

    def as_json(self) -> dict[str, JSON]:
        return {"arguments": dict(self.arguments), **({"returns": self.returns} if self.known else {})}


@dataclass(frozen=True, kw_only=True)
class Draft:
    """A tool that somebody wrote.

    Parameters
    ----------
    name, description : str
        What it is called, and one or two sentences for the model that will use it.
    source : str
        A Python module with one function of that name.
    parameters : mapping
        JSON Schema of the arguments; empty to have it made from the type hints.
    examples : tuple of Example
        Calls that it must manage; the first one is the probe.
    capabilities : tuple of str
        What it needs beyond computing; see :mod:`agent_magics.sandbox.capabilities`.
    seconds, memory_mb
        Limits of one call.
    author : str
        Who wrote the source: ``provider:model``.
    """

    name: str
    description: str
    source: str
    parameters: Mapping[str, JSON] = field(default_factory=dict[str, JSON])
    examples: tuple[Example, ...] = ()
    capabilities: tuple[str, ...] = ()
    seconds: float = SECONDS
    memory_mb: int = MEMORY_MB
    author: str = ""

    @property
    def sha256(self) -> str:
        """The hash that an approval is bound to: the source and everything else that decides what a call
        does."""
        shown = {
            "name": self.name,
            "description": self.description,
            "source": self.source,
            "parameters": self.parameters,
            "capabilities": sorted(self.capabilities),
            "seconds": self.seconds,
            "memory_mb": self.memory_mb,
        }
        return hashlib.sha256(json.dumps(shown, sort_keys=True, ensure_ascii=True).encode()).hexdigest()

    @property
    def probe(self) -> Mapping[str, JSON] | None:
        """The arguments of the probe, where there are any."""
        return self.examples[0].arguments if self.examples else None


def draft_from(arguments: Mapping[str, JSON], author: str = "") -> Draft:
    """The draft in the arguments of a ``make_tool`` call, which its schema has checked.

    Raises
    ------
    ToolError
        If a limit is beyond what can be granted.
    """
    examples: list[Example] = []
    if (arguments_of_probe := arguments.get("example")) is not None:
        known = "expected" in arguments
        examples.append(Example(arguments=arguments_of_probe, returns=arguments.get("expected"), known=known))
    for each in cast("list[dict[str, Any]]", arguments.get("tests", [])):
        known = "returns" in each
        examples.append(Example(arguments=each["arguments"], returns=each.get("returns"), known=known))
    seconds, memory = float(arguments.get("seconds", SECONDS)), int(arguments.get("memory_mb", MEMORY_MB))
    if not (0 < seconds <= MOST_SECONDS and 0 < memory <= MOST_MEMORY_MB):
        raise ToolError(
            f"A call has at most {MOST_SECONDS:.0f} s and {MOST_MEMORY_MB} MB, "
            f"not {seconds:g} s and {memory} MB."
        )
    return Draft(
        name=str(arguments.get("name", "")),
        description=" ".join(str(arguments.get("description", "")).split()),
        source=str(arguments.get("source", "")),
        parameters=dict(arguments.get("parameters") or {}),
        examples=tuple(examples),
        capabilities=tuple(arguments.get("capabilities", ())),
        seconds=seconds,
        memory_mb=memory,
        author=author,
    )


def unanswered(draft: Draft) -> Draft:
    """The draft without what its examples returned: a change may be meant to change just that."""
    return replace(draft, examples=tuple(replace(each, returns=None, known=False) for each in draft.examples))
