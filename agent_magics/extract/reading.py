"""The one JSON value in a reply, which models like to wrap in prose and fences.

Only JSON is read, by the ``json`` module. Where several values stand in a reply nothing is guessed: whoever
asked decides, or asks again.
"""

from __future__ import annotations

import json
import re
from typing import Any, NoReturn, cast

from agent_magics.talk import JSON
from agent_magics.talk.text import whole

_FENCE = re.compile(r"^[ \t]*(```+|~~~+)[^\n]*\n(.*?)^[ \t]*\1[ \t]*$", re.MULTILINE | re.DOTALL)
_OPENING = re.compile(r"[{\[]")
_MOST = 20
"""Values that are looked for in one reply; each start that is no JSON costs another look."""


def json_values(text: str) -> list[JSON]:
    """The JSON values of ``text``: itself, or those of its fences, or those in its prose. Equal ones once.

    >>> json_values('Here it is:\\n```json\\n{"age": 3}\\n```')
    [{'age': 3}]
    >>> json_values('Either {"age": 3} or {"age": 4}.')
    [{'age': 3}, {'age': 4}]
    """
    text = text.strip().removeprefix("\ufeff")
    if (value := _parsed(text)) is not _NOTHING:
        return [value]
    fenced = [_parsed(block[2].strip()) for block in _FENCE.finditer(text)]
    if found := [value for value in fenced if value is not _NOTHING]:
        return _distinct(found)
    return _distinct(_in_prose(text))


_NOTHING: Any = object()


def _parsed(text: str) -> JSON:
    try:
        return _mended(_DECODER.decode(text), text)
    except (ValueError, RecursionError):
        return _NOTHING


def _in_prose(text: str) -> list[JSON]:
    found: list[JSON] = []
    at = tries = 0
    while tries < _MOST and (opening := _OPENING.search(text, at)):
        tries += 1
        try:
            value, at = _DECODER.raw_decode(text, opening.start())
        except (ValueError, RecursionError):
            at = opening.end()
        else:
            found.append(_mended(value, text))
    objects = [value for value in found if _is_object_like(value)]
    return objects or found  # prose has footnotes: [1]


def _is_object_like(value: JSON) -> bool:
    listed = cast("list[JSON]", value) if isinstance(value, list) else [value]
    return any(isinstance(each, dict) for each in listed)


def _distinct(values: list[JSON]) -> list[JSON]:
    by_text = {json.dumps(value, sort_keys=True): value for value in values}
    return list(by_text.values())


def _mended(value: JSON, text: str) -> JSON:
    """Halves of characters, written as two escapes, can't be stored or sent."""
    if "\\u" not in text:
        return value
    plain = json.dumps(value, ensure_ascii=False)
    return value if (mended := whole(plain)) == plain else json.loads(mended)


def _refuse(name: str) -> NoReturn:
    raise ValueError(f"{name} is not JSON")


_DECODER = json.JSONDecoder(strict=False, parse_constant=_refuse)
