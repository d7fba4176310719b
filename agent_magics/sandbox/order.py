"""What is asked of a child, and what it is promised: plain data, the same in every tier."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import asdict, dataclass, field
from typing import Any, Literal

from agent_magics.sandbox.capabilities import Grants
from agent_magics.sandbox.outcome import SandboxError

Level = Literal["A", "B", "C", "D"]

LONGEST_SECONDS = 24 * 3600
MOST_MEMORY_MB = 1 << 20
DATA_COPIES = 3  # the data itself and two copies of it, on top of the promised megabytes
LONGEST_SOURCE = 1 << 20

COULD_NOT_CONFINE = 113  # a child's exit codes that say where it ended, if not in the tool
COULD_NOT_REPLY = 114


@dataclass(frozen=True, kw_only=True)
class Confinement:
    """Which walls a child walks into.

    Attributes
    ----------
    landlock, seccomp, limits : bool
        Whether each is put up.
    files : bool
        Whether seccomp lets files be opened for reading; right only where Landlock says which.
    """

    landlock: bool = True
    seccomp: bool = True
    limits: bool = True
    files: bool = True


CONFINEMENTS: Mapping[Level, Confinement] = {
    "A": Confinement(),
    "B": Confinement(landlock=False, files=False),
    "C": Confinement(seccomp=False),
    "D": Confinement(landlock=False, seccomp=False),
}


@dataclass(frozen=True, kw_only=True)
class Order:
    """One call: what to run and within which limits; the arguments travel beside it.

    Attributes
    ----------
    source, function : str
        The code, and which of its functions to call.
    seconds : float
        Wall time.
    memory_mb : int
        Memory above the interpreter's own use, without what the data is given besides.
    grants : Grants
        The capabilities.
    confinement : Confinement
        The walls.
    """

    source: str
    function: str
    seconds: float = 60.0
    memory_mb: int = 64
    grants: Grants = field(default_factory=Grants)
    confinement: Confinement = CONFINEMENTS["A"]

    def __post_init__(self) -> None:
        if not 0 < self.seconds <= LONGEST_SECONDS:
            raise SandboxError(
                f"seconds={self.seconds!r} is no time limit.", "", "Take a number up to a day."
            )
        if not 0 < self.memory_mb <= MOST_MEMORY_MB:
            raise SandboxError(
                f"memory_mb={self.memory_mb!r} is no memory limit.", "", "Take a number from 1."
            )
        if len(self.source) > LONGEST_SOURCE:
            raise SandboxError("The source is longer than 1 MB.", "", "Pass data as arguments.")

    def memory(self, data: int) -> int:
        """Bytes above the baseline for a call with so many bytes of data."""
        return (self.memory_mb << 20) + DATA_COPIES * data

    def words(self, data: int) -> dict[str, Any]:
        """The order as the child reads it."""
        return {
            "source": self.source,
            "function": self.function,
            "memory": self.memory(data),
            "memory_mb": self.memory(data) >> 20,
            "cpu_seconds": math.ceil(self.seconds) + 1,
            "confinement": asdict(self.confinement),
            "clock": self.grants.clock,
            "moment": self.grants.moment,
            "seed": self.grants.seed,
            "http_get": bool(self.grants.hosts),
            "scratch": self.grants.scratch is not None,
            "errands": self.grants.errands,
        }
