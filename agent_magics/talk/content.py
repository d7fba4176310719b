"""The pieces that events and turns are made of: tool calls, results, tokens, opaque blocks."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, Literal

JSON = Any
"""A value that JSON can hold: ``None``, bool, int, float, str, and lists and string-keyed dicts of these."""

Message = dict[str, Any]
"""One plain message for a provider. Roles: ``system``, ``user``, ``assistant`` (perhaps with ``tool_calls``
``[{"id", "name", "arguments"}]`` and ``opaque`` blocks), ``tool`` (with ``tool_call_id`` and JSON text)."""

ToolSpec = dict[str, Any]
"""One tool in the OpenAI function format:
``{"type": "function", "function": {"name", "description", "parameters"}}``."""

Decision = Literal["approve", "always", "once", "edit", "reject"]
"""A person's answer: yes; yes for the rest of the session; yes, but keep nothing; take my text instead, check
it, and ask me again; no."""


@dataclass(frozen=True, kw_only=True, slots=True)
class ToolCall:
    """A model asks for a tool.

    Parameters
    ----------
    id : str
        The vendor's id of the call, or one made here where the vendor has none. Unique within a turn.
    name : str
        The tool's name as the model wrote it; perhaps an alias, perhaps unknown.
    arguments : dict
        The parsed arguments; missing or empty arguments are ``{}``.
    problem : str
        Why this call must not run although it was asked for (arguments that are not JSON, a call that was
        cut off); empty for a call in order. The model is told.
    """

    id: str
    name: str
    arguments: Mapping[str, JSON] = field(default_factory=dict[str, JSON])
    problem: str = ""


@dataclass(frozen=True, kw_only=True, slots=True)
class ToolResult:
    """What a call came back with, as the model reads it.

    Parameters
    ----------
    ok : bool
        Whether the tool did its work.
    text : str
        The JSON text that the model is sent; capped (a capped text says so).
    size : int
        How many characters the whole result had before it was capped.
    brief : str
        A few words for the row in the panel, such as ``"1,284 × 4"``.
    handle : str
        Where the rest can be read on with the tool ``more``; empty when nothing was cut.
    """

    ok: bool
    text: str
    size: int = 0
    brief: str = ""
    handle: str = ""


@dataclass(frozen=True, kw_only=True, slots=True)
class Usage:
    """Tokens of one provider call, or of a whole turn.

    ``input`` counts everything that was sent, ``cached`` the part of it that the vendor had cached;
    ``output`` counts everything that was generated, ``reasoning`` the part of it spent on thinking.
    """

    input: int = 0
    output: int = 0
    cached: int = 0
    reasoning: int = 0

    @property
    def total(self) -> int:
        return self.input + self.output

    def __add__(self, other: Usage) -> Usage:
        return Usage(
            input=self.input + other.input,
            output=self.output + other.output,
            cached=self.cached + other.cached,
            reasoning=self.reasoning + other.reasoning,
        )


@dataclass(frozen=True, kw_only=True, slots=True)
class Retry:
    """A try that failed ``after`` seconds of its request, and the pause of ``delay`` seconds behind it."""

    after: float
    delay: float
    why: str = ""


@dataclass(frozen=True, kw_only=True, slots=True)
class Image:
    """A picture that belongs to a prompt: its kind (``"image/png"``) and its bytes in base64."""

    media_type: str
    data: str = field(repr=False)


@dataclass(frozen=True, kw_only=True, slots=True)
class Opaque:
    """A provider's own block (a signature, encrypted reasoning): replayed to it word for word, never read."""

    provider: str
    block: JSON
