"""What a check comes to."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, kw_only=True)
class Verdict:
    """Whether a source may become a tool.

    Attributes
    ----------
    ok : bool
        Whether nothing speaks against it.
    reasons : tuple of str
        What does: sentences with line numbers that a model, or a person, can act on.
    """

    ok: bool
    reasons: tuple[str, ...] = ()

    def __bool__(self) -> bool:
        return self.ok

    def __str__(self) -> str:
        return "\n".join(self.reasons) or "Nothing speaks against it."


def verdict(reasons: list[str]) -> Verdict:
    """The verdict that follows from these reasons."""
    return Verdict(ok=not reasons, reasons=tuple(reasons))
