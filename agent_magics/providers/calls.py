"""Tool calls while they arrive: pieces of arguments until they are whole, or never become so."""

from __future__ import annotations

import json
import secrets
from dataclasses import dataclass, field
from typing import Any

from agent_magics.providers.halves import whole
from agent_magics.providers.loose import dumps
from agent_magics.talk import ToolCall

CUT = "The reply reached its length limit in the middle of this call, so the call was not run."


def fresh_id() -> str:
    """An id for a call whose vendor gave none."""
    return f"call_{secrets.token_hex(6)}"


@dataclass(kw_only=True, slots=True)
class Draft:
    """A call in the making."""

    id: str = ""
    name: str = ""
    pieces: list[str] = field(default_factory=list[str])

    def add(self, piece: Any) -> None:
        """The next piece of the arguments: a text, or (some servers) an object, or nothing."""
        if isinstance(piece, str):
            self.pieces.append(piece)
        elif piece:
            self.pieces.append(dumps(piece))

    def call(self, *, cut: bool = False) -> ToolCall:
        """The call as it came; arguments that are no JSON object make a ``problem``, and it never runs."""
        arguments, problem = _parsed("".join(self.pieces))
        if cut:
            problem = CUT
        return ToolCall(id=self.id or fresh_id(), name=self.name, arguments=arguments, problem=problem)


def _parsed(arguments: str) -> tuple[dict[str, Any], str]:
    if not arguments.strip():
        return {}, ""
    try:
        value = json.loads(whole(arguments))
    except ValueError as error:
        return {}, f"The arguments are not JSON: {error}. They began with {arguments[:80]!r}."
    if value is None:
        return {}, ""
    if not isinstance(value, dict):
        return {}, f"The arguments must be a JSON object, not {type(value).__name__}."
    return value, ""  # pyright: ignore[reportUnknownVariableType] (an object, as just checked)
