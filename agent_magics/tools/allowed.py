"""Which tools a session may offer."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Self

from agent_magics.errors import UsageError


@dataclass(frozen=True)
class Allowed:
    """Which tools may be offered.

    Attributes
    ----------
    only : set of str or None
        No others than these; ``None`` for all.
    never : set of str
        Not these, whatever ``only`` says.
    """

    only: frozenset[str] | None
    never: frozenset[str]

    @classmethod
    def of(cls, allowed: Iterable[str] | None, disallowed: Iterable[str]) -> Self:
        """As a session's ``allowed_tools`` and ``disallowed_tools`` say it."""
        return cls(None if allowed is None else frozenset(allowed), frozenset(disallowed))

    def has(self, name: str) -> bool:
        """Whether the tool of that name may be offered."""
        return name not in self.never and (self.only is None or name in self.only)

    def check(self, names: set[str]) -> None:
        """See that every name written down is one of ``names``: a typo would allow or forbid nothing.

        Raises
        ------
        UsageError
            If one is not.
        """
        if unknown := ((self.only or frozenset()) | self.never) - names:
            raise UsageError(
                f"There is no tool {min(unknown)!r}.",
                f"There are: {', '.join(sorted(names))}.",
                "Name one of these in allowed_tools or disallowed_tools.",
            )
