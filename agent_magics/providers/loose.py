"""Reading JSON that may not have the shape that was promised.

A server's answer is a stranger's data: a field may be missing, null, or of another kind. These say what is
wanted and give an empty one of it otherwise, so that decoders read like the vendor's documentation.
"""

from __future__ import annotations

import json
from typing import Any, cast


def obj(value: Any) -> dict[str, Any]:
    """``value`` if it is an object, else an empty one."""
    return cast("dict[str, Any]", value) if isinstance(value, dict) else {}


def items(value: Any) -> list[Any]:
    """``value`` if it is a list, else an empty one."""
    return cast("list[Any]", value) if isinstance(value, list) else []


def text(value: Any) -> str:
    """``value`` if it is a text, else an empty one."""
    return value if isinstance(value, str) else ""


def count(value: Any) -> int:
    """``value`` if it is a whole number that is not negative, else 0."""
    return value if isinstance(value, int) and value > 0 else 0


def dumps(value: Any) -> str:
    """Compact JSON as people would write it: not escaped to ASCII."""
    return json.dumps(value, ensure_ascii=False, separators=(",", ":"), default=str)
