"""The formats that are promised to be checked, the same ones on every machine.

jsonschema knows more where certain packages happen to be installed; a schema should not mean one thing on a
laptop and another one on a cluster. So this list is fixed, and any other ``format`` is a note to the model.
"""

from __future__ import annotations

import re
from functools import cache
from typing import Any

FORMATS = ("date", "date-time", "email", "ipv4", "ipv6", "regex", "time", "uri", "uuid")

_TIME = re.compile(
    r"(?P<hour>[01][0-9]|2[0-3]):(?P<minute>[0-5][0-9]):(?P<second>[0-5][0-9]|60)(?:\.[0-9]+)?"
    r"(?:[zZ]|(?P<sign>[+-])(?P<hours>[01][0-9]|2[0-3]):(?P<minutes>[0-5][0-9]))"
)
_DAY = 24 * 60

_ATOM = r"[A-Za-z0-9!#$%&'*+/=?^_`{|}~-]+"
_LABEL = r"[A-Za-z0-9](?:[A-Za-z0-9-]{0,61}[A-Za-z0-9])?"
_EMAIL = re.compile(
    rf'(?:{_ATOM}(?:\.{_ATOM})*|"(?:[^"\\\x00-\x1f]|\\[\x20-\x7e])*")'
    rf"@(?:{_LABEL}(?:\.{_LABEL})*|\[(?P<literal>[^\]]+)\])"
)
"""RFC 5321's mailbox."""

_CHARS = r"(?:[A-Za-z0-9._~!$&'()*+,;=:@/-]|%[0-9A-Fa-f]{2})"
_HOST = r"(?:\[(?P<ip>[0-9A-Fa-f:.]+)\]|(?:[A-Za-z0-9._~!$&'()*+,;=-]|%[0-9A-Fa-f]{2})*)"
_URI = re.compile(
    r"[A-Za-z][A-Za-z0-9+.-]*:"
    rf"(?://(?:(?:[A-Za-z0-9._~!$&'()*+,;=:-]|%[0-9A-Fa-f]{{2}})*@)?{_HOST}(?::[0-9]*)?(?=[/?#]|$)|(?!//))"
    rf"{_CHARS}*(?:\?(?:{_CHARS}|\?)*)?(?:#(?:{_CHARS}|\?)*)?"
)
"""RFC 3986's URI."""


@cache
def format_checker() -> Any:
    """The checker of :data:`FORMATS`, for :class:`~agent_magics.tools.validation.Validator`."""
    from jsonschema import FormatChecker

    usual = ("date", "ipv4", "ipv6", "regex", "uuid")
    checker = FormatChecker(usual)
    checker.checkers = {name: FormatChecker.checkers[name] for name in usual}
    checker.checkers["time"] = (_is_time, ())
    checker.checkers["email"] = (lambda value: _is_email(value, checker), ())
    checker.checkers["uri"] = (lambda value: _is_uri(value, checker), ())
    checker.checkers["date-time"] = (lambda value: _is_date_time(value, checker), ())
    return checker


def _is_time(value: object) -> bool:
    """RFC 3339's full-time; a leap second only at the end of a day in UTC."""
    if not isinstance(value, str):
        return True
    found = _TIME.fullmatch(value)
    if not found or found["second"] != "60":
        return bool(found)
    minute = int(found["hour"]) * 60 + int(found["minute"])
    if found["sign"]:
        shift = int(found["hours"]) * 60 + int(found["minutes"])
        minute += shift if found["sign"] == "-" else -shift
    return minute % _DAY == _DAY - 1


def _is_date_time(value: object, checker: Any) -> bool:
    if not isinstance(value, str):
        return True
    date, time = value[:10], value[11:]
    return value[10:11] in ("T", "t") and checker.conforms(date, "date") and _is_time(time)


def _is_email(value: object, checker: Any) -> bool:
    if not isinstance(value, str):
        return True
    found = _EMAIL.fullmatch(value)
    literal = found["literal"] if found else None
    if literal is None:
        return bool(found)
    kind, _, rest = literal.partition(":")
    return checker.conforms(rest, "ipv6") if kind.lower() == "ipv6" else checker.conforms(literal, "ipv4")


def _is_uri(value: object, checker: Any) -> bool:
    if not isinstance(value, str):
        return True
    found = _URI.fullmatch(value)
    return bool(found) and (found["ip"] is None or checker.conforms(found["ip"], "ipv6"))
