"""Dates, found in a text as people write them.

``2024-05-03``, ``3 May 2024``, ``May 3rd, 2024``, ``3.5.2024`` (day first) and ``5/3/2024`` (month first,
unless that can't be) are read. A day without a year takes the year of the date behind it, or of today. What
*today* is, the rules know only if somebody says so: nothing here asks a clock.

>>> [found.day.isoformat() for found in dates("from 3 May to June 1st, 2024")]
['2024-05-03', '2024-06-01']
"""

from __future__ import annotations

import datetime as dt
import re
from collections.abc import Iterator
from dataclasses import dataclass

from agent_magics.providers.demo.figures import plain_digits

_NAMES = "january february march april may june july august september october november december"
_MONTHS = _NAMES.split()
_MONTH = rf"(?P<month>{'|'.join(f'{name[:3]}(?:{name[3:]})?' for name in _MONTHS)}|sept)\.?"
_DAY = r"(?P<day>\d{1,2})(?:st|nd|rd|th)?"
_YEAR = r"(?P<year>\d{4})"
_FORMS = tuple(
    re.compile(form, re.IGNORECASE)
    for form in (
        rf"(?<!\d){_YEAR}-(?P<number>\d{{1,2}})-{_DAY}(?!\d)",
        rf"(?<!\w){_DAY}\s+(?:of\s+)?{_MONTH}(?:,?\s+{_YEAR})?(?!\w)",
        rf"(?<!\w){_MONTH}\s+{_DAY}(?:,?\s+{_YEAR})?(?!\w)",
        rf"(?<!\d){_DAY}\.\s?(?P<number>\d{{1,2}})\.\s?{_YEAR}(?!\d)",
        rf"(?<!\d)(?P<american>\d{{1,2}})/(?P<second>\d{{1,2}})/{_YEAR}(?!\d)",
    )
)
_RELATIVE = re.compile(r"\b(today|tomorrow|yesterday)\b", re.IGNORECASE)
_SHIFT = {"yesterday": -1, "today": 0, "tomorrow": 1}
_TODAY = re.compile(
    r"\b(?:today|date)\b(?:'s date| is|:|=|,)*\s*(?:is |it is )?(?P<rest>[^\n]{4,40})", re.IGNORECASE
)


@dataclass(frozen=True, kw_only=True, slots=True)
class Date:
    """A date and where it stands."""

    day: dt.date
    start: int
    end: int


def dates(text: str, today: dt.date | None = None) -> list[Date]:
    """The dates in ``text``, in order; of two readings that overlap, the one in the more certain form."""
    text = plain_digits(text)
    found: list[re.Match[str]] = []
    for form in _FORMS:
        for match in form.finditer(text):
            if not any(match.start() < other.end() and other.start() < match.end() for other in found):
                found.append(match)
    found.sort(key=lambda match: match.start())
    return sorted([*_dated(found, today), *_relative(text, today)], key=lambda date: date.start)


def today_in(text: str) -> dt.date | None:
    """What day it is, if the text says so."""
    for match in _TODAY.finditer(text):
        if found := dates(match["rest"]):
            return found[0].day
    return None


def _dated(found: list[re.Match[str]], today: dt.date | None) -> Iterator[Date]:
    years = [_group(match, "year") for match in found]
    for place, match in enumerate(found):
        following = next((year for year in years[place:] if year), "")
        year = years[place] or following or (str(today.year) if today else "")
        if year and (day := _day(match, int(year))):
            yield Date(day=day, start=match.start(), end=match.end())


def _relative(text: str, today: dt.date | None) -> Iterator[Date]:
    if today is None:
        return
    for match in _RELATIVE.finditer(text):
        shift = dt.timedelta(days=_SHIFT[match.group(1).casefold()])
        yield Date(day=today + shift, start=match.start(), end=match.end())


def _day(match: re.Match[str], year: int) -> dt.date | None:
    if american := _group(match, "american"):
        first, second = int(american), int(match["second"])
        month, day = (first, second) if first <= 12 else (second, first)
    else:
        month, day = _month(match), int(match["day"])
    try:
        return dt.date(year, month, day)
    except ValueError:
        return None


def _month(match: re.Match[str]) -> int:
    if number := _group(match, "number"):
        return int(number)
    return next(
        place for place, name in enumerate(_MONTHS, 1) if name.startswith(match["month"].casefold()[:3])
    )


def _group(match: re.Match[str], name: str) -> str:
    return match.groupdict().get(name) or ""
