"""The doors of the forge: who is asked, where calls run, who writes. Each is handed in by whoever composes a
session."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Protocol

from agent_magics.forge.draft import Draft
from agent_magics.sandbox.outcome import Outcome
from agent_magics.talk import JSON, Approval, ToolCall
from agent_magics.tools.tool import Tool
from agent_magics.tools.toolbox import Permit


class Sandboxed(Protocol):
    """Where calls of a generated tool run; :class:`agent_magics.sandbox.Sandbox` is one."""

    @property
    def level(self) -> str:
        """A, B, C or D."""
        ...

    async def acall(
        self,
        source: str,
        function: str,
        arguments: Mapping[str, Any] | None = None,
        *,
        seconds: float = ...,
        memory_mb: int = ...,
        capabilities: Iterable[str] = ...,
    ) -> Outcome: ...

    def call(
        self,
        source: str,
        function: str,
        arguments: Mapping[str, Any] | None = None,
        *,
        seconds: float = ...,
        memory_mb: int = ...,
        capabilities: Iterable[str] = ...,
    ) -> Outcome: ...


class Asks(Protocol):
    """Asks a person about a generated tool, unless a policy decides by itself."""

    async def about(
        self, tool: Tool, call: ToolCall, *, source: str, facts: Sequence[tuple[str, str]], reason: str
    ) -> tuple[Approval, Permit]:
        """The answer, and what it means for the call."""
        ...


@dataclass(frozen=True, kw_only=True)
class Request:
    """A tool that is wanted.

    Attributes
    ----------
    name, description : str
        What it is to be called, and what it is to do; either may be empty.
    goal : str
        The prompt of the turn that it is wanted in.
    arguments : mapping
        The arguments that it would be called with first.
    """

    name: str = ""
    description: str = ""
    goal: str = ""
    arguments: Mapping[str, JSON] | None = None


class Generator(Protocol):
    """Writes tools."""

    @property
    def author(self) -> str:
        """``provider:model``, or what else it is known by."""
        ...

    async def write(self, request: Request, rejected: Sequence[tuple[Draft, str]]) -> Draft:
        """A draft; ``rejected`` are its earlier drafts, each with the reason.

        Raises
        ------
        ToolError
            If it has none.
        """
        ...
