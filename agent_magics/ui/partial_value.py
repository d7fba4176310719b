"""A JSON value that is still arriving, read as far as it has come."""

from __future__ import annotations

import re
from typing import Any, cast

from agent_magics.talk import JSON

_OPENING = re.compile(r"[{\[]")
NOTHING: Any = object()
"""There is no value yet."""


def partial_value(text: str) -> JSON:
    """The JSON in ``text`` so far, or :data:`NOTHING`; words and a fence before it are passed over.

    >>> partial_value('~~~json\\n{"name": "Ada", "born": 18')
    {'name': 'Ada', 'born': 18}
    """
    from pydantic_core import from_json

    opening = _OPENING.search(text)
    if opening is None:
        return NOTHING
    body = text[opening.start() :]
    end = max(body.rfind("}"), body.rfind("]")) + 1
    for part in (body, body[:end]):
        try:
            return from_json(part, allow_partial="trailing-strings", allow_inf_nan=False)
        except ValueError:
            continue
    return NOTHING


def unwrapped(value: JSON, wanted: Any) -> JSON:
    """The value that an answer carries, where it stands alone under one key."""
    properties = wanted.get("properties") if isinstance(wanted, dict) else None  # pyright: ignore[reportUnknownMemberType, reportUnknownVariableType]
    alone = isinstance(properties, dict) and list(cast("dict[str, Any]", properties)) == ["value"]
    if alone and isinstance(value, dict):
        known = cast("dict[str, JSON]", value)
        if list(known) == ["value"]:
            return known["value"]
        return known or NOTHING
    return value
