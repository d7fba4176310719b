"""May this call run? Allow, ask, or refuse. Pure: a policy asks nobody and changes nothing by deciding.

The order, first match wins: what a person rejected in this turn stays rejected; the phase ``plan`` lets
through what only reads; what a person granted for the session is granted; then the phase and the tool's own
mark decide; and where a person would be asked, ``approve`` says what happens instead of asking.
"""

from __future__ import annotations

import hashlib
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Literal, cast, get_args

from agent_magics.errors import UsageError
from agent_magics.talk import JSON
from agent_magics.tools.result import json_text
from agent_magics.tools.tool import Tool

Approve = Literal["ask", "always", "never"]
Phase = Literal["plan", "default", "accept_edits", "trusted", "bypass"]


@dataclass(frozen=True, kw_only=True)
class Allow:
    """It may run. ``unasked`` says that a person would have been asked but a setting answered."""

    unasked: str = ""


@dataclass(frozen=True, kw_only=True)
class Ask:
    """A person decides."""

    reason: str


@dataclass(frozen=True, kw_only=True)
class Refuse:
    """It may not run; the model is told why."""

    reason: str


Verdict = Allow | Ask | Refuse


def call_key(tool: Tool, arguments: Mapping[str, JSON]) -> str:
    """A key that two calls share if they ask for the same thing: same tool, same arguments."""
    text = json_text(_sorted({"tool": tool.name, "arguments": arguments}))
    return hashlib.sha256(text.encode()).hexdigest()


def _sorted(value: JSON) -> JSON:
    """``value`` with the keys of its objects in order, at any depth."""
    if isinstance(value, Mapping):
        items = cast("Mapping[str, JSON]", value).items()
        return {key: _sorted(item) for key, item in sorted(items)}
    return [_sorted(item) for item in cast("list[JSON]", value)] if isinstance(value, list) else value


@dataclass(kw_only=True)
class Policy:
    """What a session allows.

    Parameters
    ----------
    approve : {"ask", "always", "never"}
        What happens where a person would be asked: ask; allow without asking (and say so); refuse.
    phase : {"plan", "default", "accept_edits", "trusted", "bypass"}
        How far the agent is trusted: read only; the tools' own marks; edits of files without asking;
        the catalog's tools without asking; everything without asking.

    Raises
    ------
    UsageError
        If a value is not one of these.
    """

    approve: Approve = "ask"
    phase: Phase = "default"
    granted: set[str] = field(default_factory=set[str])
    rejected: dict[str, str] = field(default_factory=dict[str, str])

    def __post_init__(self) -> None:
        _one_of("approve", self.approve, get_args(Approve))
        _one_of("phase", self.phase, get_args(Phase))

    def decide(self, tool: Tool, arguments: Mapping[str, JSON]) -> Verdict:
        """Decide about one call of ``tool``."""
        if (comment := self.rejected.get(call_key(tool, arguments))) is not None:
            return Refuse(reason=_rejection("This same call was already rejected in this turn", comment))
        if self.phase == "plan" and not tool.read_only:
            return Refuse(
                reason=f"In the phase 'plan' only tools that read may run; {tool.name} may change something."
            )
        reason = tool.asked_because(arguments)
        if not reason or tool.covers(arguments) in self.granted:
            return Allow()
        if self._trusts(tool):
            return Allow(unasked=f"phase {self.phase!r}")
        match self.approve:
            case "ask":
                return Ask(reason=reason)
            case "always":
                return Allow(unasked="approve='always'")
            case "never":
                return Refuse(reason=f"{tool.name} needs an approval, and this session approves nothing.")

    def grant(self, tool: Tool, arguments: Mapping[str, JSON]) -> None:
        """Remember an "always this session"."""
        self.granted.add(tool.covers(arguments))

    def reject(self, tool: Tool, arguments: Mapping[str, JSON], comment: str) -> str:
        """Remember a rejection for this turn, and word it for the model."""
        self.rejected[call_key(tool, arguments)] = comment
        return _rejection("The user rejected this call", comment)

    def new_turn(self) -> None:
        """A rejection stands for its turn only."""
        self.rejected.clear()

    def _trusts(self, tool: Tool) -> bool:
        match self.phase:
            case "bypass":
                return True
            case "trusted":
                return not tool.generated
            case "accept_edits":
                return tool.edits
            case _:
                return False


def _rejection(what: str, comment: str) -> str:
    said = f": {comment}" if comment else "."
    return f"{what}{said} Don't try the same thing in another way; ask, or go on without it."


def _one_of(name: str, value: str, allowed: tuple[str, ...]) -> None:
    if value not in allowed:
        raise UsageError(
            f"{name}={value!r} is not known.",
            f"It is one of {', '.join(map(repr, allowed))}.",
            f"For example {name}={allowed[0]!r}.",
        )
