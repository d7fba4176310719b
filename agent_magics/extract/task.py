"""What is asked of every row, and who asks: the words that a run and its crews share."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Protocol

from agent_magics.errors import AgentMagicsError
from agent_magics.extract.schema import Schema
from agent_magics.ports import Provider
from agent_magics.talk import JSON, Usage

Row = tuple[int, str]
"""A row's place and its text."""


@dataclass(frozen=True, kw_only=True)
class Limits:
    """How much at once, and how much a minute; None where it is found, or not limited."""

    concurrency: int | None = None
    requests_per_minute: float | None = None
    tokens_per_minute: float | None = None


@dataclass(frozen=True, kw_only=True)
class Task:
    """What is asked of every row."""

    provider: Provider
    schema: Schema
    instruction: str = ""
    repairs: int = 2
    limits: Limits = Limits()


@dataclass(slots=True)
class Outcome:
    """What came of one row: a value, or the error that kept it from one."""

    index: int
    value: JSON = None
    usage: Usage | None = None
    error: Exception | None = None


class Crew(Protocol):
    """Whoever asks for many rows at once; spoken to from one thread.

    Attributes
    ----------
    window : int
        How many rows it can use at a time.
    busy : int
        How many were handed in and not taken out.
    paused : float
        Seconds for which the vendor wants to be left alone.
    fatal : AgentMagicsError or None
        What would happen to every further row as well.
    """

    @property
    def window(self) -> int: ...
    @property
    def busy(self) -> int: ...
    @property
    def paused(self) -> float: ...
    @property
    def fatal(self) -> AgentMagicsError | None: ...

    def hand_in(self, rows: Sequence[Row]) -> None:
        """Begin with these rows."""
        ...

    def take(self, timeout: float = ...) -> list[Outcome]:
        """The outcomes so far; waits a moment for the first ones."""
        ...

    def stop(self, limit: float) -> None:
        """Leave every row that is not done, within ``limit`` seconds."""
        ...
