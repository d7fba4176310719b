"""A result made to fit the parameter that it goes into."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from agent_magics.providers.demo import reporting
from agent_magics.providers.demo.candidates import is_said
from agent_magics.providers.loose import items, obj
from agent_magics.talk import JSON


def fitted(value: JSON, name: str, wanted: str, said: str) -> JSON:
    """``value`` for the parameter ``name`` of the type ``wanted``, in a question that says ``said``.

    >>> fitted({"city": "Kiel", "temperature": 12.5}, "celsius", "number", "the temperature in fahrenheit")
    12.5
    """
    if wanted != "object" and (told := obj(value)):
        value = _part(told, name, wanted, said)
    if wanted == "string":
        return value if isinstance(value, str) else reporting.short(value)
    number = number_in(value)
    if wanted == "integer" and number is not None:
        return round(number)
    return number if wanted == "number" and number is not None else value


def number_in(value: JSON) -> float | None:
    """The number that a value is, or the last in an object or a list of one."""
    if isinstance(value, bool):
        return None
    if isinstance(value, int | float):
        return value
    inner = list(obj(value).values()) or (items(value) if len(items(value)) == 1 else [])
    return next((number for each in reversed(inner) if (number := number_in(each)) is not None), None)


def _part(told: Mapping[str, Any], name: str, wanted: str, said: str) -> JSON:
    """What of an object fits: what bears the parameter's name, what the question names, or what there is."""
    for key, each in told.items():
        if (key == name or is_said(key, said)) and _is(each, wanted):
            return each
    if wanted == "string":
        texts = [each for each in told.values() if isinstance(each, str)]
        return max(texts, key=len, default=dict(told))
    number = number_in(dict(told))
    whole: JSON = dict(told)
    return whole if number is None else number


def _is(value: JSON, wanted: str) -> bool:
    return isinstance(value, str) if wanted == "string" else number_in(value) is not None
