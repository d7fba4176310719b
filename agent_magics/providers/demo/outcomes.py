"""What a tool came back with, read from the JSON text of a ``tool`` message.

``ok`` says whether it worked. A refusal is told apart from a failure, since it is answered differently: what
failed may be tried in another way, what a person or a policy refused may not.
"""

from __future__ import annotations

import ast
import json
import re
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, cast

from agent_magics.providers.loose import obj
from agent_magics.talk import JSON

_REFUSED = re.compile(
    r"^(?:rejected|refused|denied|declined|permission denied)\b"
    r"|\b(?:user|person|policy|hook|somebody) (?:has )?(?:rejected|refused|denied|declined)\b"
    r"|\bcall (?:was|is) (?:already )?(?:rejected|refused|denied|declined|not (?:approved|allowed))\b",
    re.IGNORECASE,
)
_COMMENT = re.compile(
    r"(?:rejected|denied|refused|declined)[^:.]*:\s*(?P<comment>.+?)(?:\s*Don't try the same.*)?$",
    re.DOTALL | re.IGNORECASE,
)
_HANDLE = re.compile(r"more\(handle=['\"](?P<handle>[\w-]+)['\"]")
_UNKNOWN = re.compile(r"^\s*unknown tool\b", re.IGNORECASE)
_WRAPPERS = ("result", "value", "output", "answer")
_SPARE = frozenset({"ok", "brief"})


@dataclass(frozen=True, kw_only=True)
class Outcome:
    """One tool result.

    Parameters
    ----------
    ok : bool
        Whether the tool did its work.
    value : JSON
        What it returned, without the wrapping; of a failure all that was told.
    error : str
        What went wrong, in the tool's words.
    refused : bool
        Whether a person or a policy said no.
    comment : str
        What the person wrote with it.
    handle : str
        Where a cut result can be read on.
    """

    ok: bool
    value: JSON = None
    error: str = ""
    refused: bool = False
    comment: str = ""
    handle: str = ""

    @property
    def unknown(self) -> bool:
        """Whether there is no such tool."""
        return bool(_UNKNOWN.match(self.error))

    @property
    def plain(self) -> JSON:
        """The value itself where it stands alone in an object, such as 86.0 in ``{"fahrenheit": 86.0}``."""
        value = obj(self.value)
        return next(iter(value.values())) if len(value) == 1 else self.value


def outcome(content: str) -> Outcome:
    """Read the content of a ``tool`` message. Text that is no JSON object counts as the value itself."""
    try:
        told: JSON = json.loads(content)
    except (ValueError, RecursionError):
        return Outcome(ok=True, value=content, handle=_handle(content))
    if not isinstance(told, dict):
        return Outcome(ok=True, value=told)
    told = cast("dict[str, Any]", told)
    if told.get("ok") is False or ("error" in told and "ok" not in told):
        return _failure(told)
    payload = {name: value for name, value in told.items() if name not in _SPARE}
    return Outcome(ok=True, value=_unwrapped(payload), handle=_handle(str(told.get("cut", ""))))


def literal_value(value: JSON) -> JSON:
    """A value that arrived as its ``repr`` as the value it was; any other as it is.

    >>> literal_value("{'van': 34.2}")
    {'van': 34.2}
    """
    if not isinstance(value, str) or len(value) > 20_000:
        return value
    try:
        read: Any = ast.literal_eval(value.strip())
    except (ValueError, SyntaxError, MemoryError, RecursionError, TypeError):
        return value
    return list(cast("tuple[Any, ...]", read)) if isinstance(read, tuple) else read


def _failure(told: Mapping[str, JSON]) -> Outcome:
    error = " ".join(str(told.get("error") or "It failed and did not say why.").split())
    refused = bool(told["rejected"]) if "rejected" in told else bool(_REFUSED.search(error))
    by_a_person = refused and told.get("by", "you") == "you"
    match = _COMMENT.search(error) if by_a_person else None
    comment = str(told.get("comment") or (match["comment"] if match else ""))
    return Outcome(ok=False, value=dict(told), error=error, refused=refused, comment=comment.strip())


def _unwrapped(payload: dict[str, JSON]) -> JSON:
    if "cut" in payload and "head" in payload:
        return f"{payload['head']}\n…\n{payload.get('tail', '')}"
    if len(payload) == 1 and (name := next(iter(payload))) in _WRAPPERS:
        return payload[name]
    return payload


def _handle(text: str) -> str:
    match = _HANDLE.search(text)
    return match["handle"] if match else ""
