"""How much a file may bring. What is larger is refused before anything is built of it.

A file that came by mail is measured in three steps, each cheap and none recursive: its size, its brackets
(how many values there are, how deep), and for each turn its text.
"""

from __future__ import annotations

import math
import re
from typing import Any, cast

from agent_magics.errors import ConfigError

FILE = 100_000_000
"""Bytes of a file."""

LISTS = 1_000_000
"""Objects and lists in a file."""

VALUES = 5_000_000
"""Values in them."""

NESTED = 200
"""How deep they may be nested in a file."""

TURNS = 2_000
"""Turns in a file."""

TURN_TEXT = 10_000_000
"""Characters of one turn, all its texts together."""

TURN_VALUES = 100_000
"""Values in one turn."""

TURN_NESTED = 100
"""How deep the data of one turn may be nested."""

RESULT = 24_000
"""Characters of a tool's result; a longer one is cut, as the session itself would cut it."""

SCHEMA = 100_000
"""Characters of the JSON Schema that an answer had to keep; a longer one is left out."""

STAGES = 100
"""Stages of a tool that was made, in one call; those after them are left out."""

RETRIES = 100
"""Tries of one request that failed; those after them are left out."""

# Possessive, so that a string of 50 MB leaves nothing behind to go back to.
_STRING = re.compile(rb'"(?:[^"\\]++|\\.)*+"', re.DOTALL)
_NO_BRACKETS = bytes(byte for byte in range(256) if byte not in b"[]{}")


def check_file(raw: bytes) -> None:
    """Refuse a text of JSON that would take too much to parse.

    Raises
    ------
    ConfigError
        If it is too large, or nested too deep.
    """
    if len(raw) > FILE:
        raise too_much(f"It has more than {FILE / 1e6:.0f} MB.")
    quotes = raw.count(b'"') - raw.count(b'\\"')
    bare = _STRING.sub(b"", raw) if quotes <= 2 * VALUES else raw
    brackets = bare.translate(None, delete=_NO_BRACKETS)
    if len(brackets) > 2 * LISTS or bare.count(b",") > VALUES or quotes > 2 * VALUES:
        raise too_much(f"It holds more than {LISTS:,} objects and lists, or {VALUES:,} values.")
    depth = 0
    for bracket in brackets:
        depth += 1 if bracket in b"[{" else -1
        if depth > NESTED:
            raise too_much(f"Its data is nested more than {NESTED} deep.")


def check_turn(data: object) -> None:
    """Refuse the data of one turn that is too much, or that is no JSON (``NaN``).

    Raises
    ------
    ConfigError
        If it is.
    """
    left, text, values = [(data, 0)], 0, 0
    while left:
        value, depth = left.pop()
        values += 1
        if isinstance(value, str):
            text += len(value)
        elif isinstance(value, dict):
            items = cast("dict[str, Any]", value)
            text += sum(map(len, items))
            left += [(each, depth + 1) for each in items.values()]
        elif isinstance(value, list):
            left += [(each, depth + 1) for each in cast("list[Any]", value)]
        elif isinstance(value, float) and not math.isfinite(value):
            raise ConfigError("A number in it is no number.", f"JSON has no {value!r}.")
        if depth > TURN_NESTED:
            raise too_much(f"Its data is nested more than {TURN_NESTED} deep.")
        if text > TURN_TEXT:
            raise too_much(f"It has more than {TURN_TEXT:,} characters.")
        if values + len(left) > TURN_VALUES:
            raise too_much(f"It holds more than {TURN_VALUES:,} values.")


def too_much(why: str) -> ConfigError:
    return ConfigError("It is too large to be taken in.", why)
