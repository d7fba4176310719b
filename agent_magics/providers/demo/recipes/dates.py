"""The recipes for dates: days between, weekdays, days to add, leap years.

>>> from agent_magics.providers.demo.passage import Passage
>>> found = read(Passage.of("What date is 90 days after 31 January 2024?"))
>>> found.draft.name, found.arguments
('add_days', {'day': '2024-01-31', 'days': 90})
"""

from __future__ import annotations

import datetime as dt
import re
from collections.abc import Callable, Mapping
from typing import Any

from agent_magics.providers.demo.dates import Date, dates
from agent_magics.providers.demo.figures import figure, numbers
from agent_magics.providers.demo.passage import Passage
from agent_magics.providers.demo.recipes.book import dates as book
from agent_magics.providers.demo.recipes.draft import Job, draft_of
from agent_magics.talk import JSON

_EXAMPLES: dict[str, dict[str, JSON]] = {
    "days_between": {"start": "2024-02-01", "end": "2024-03-01"},
    "working_days_between": {"start": "2024-03-01", "end": "2024-03-08"},
    "weekday_of": {"day": "1969-07-20"},
    "add_days": {"day": "2024-02-28", "days": 2},
    "is_leap_year": {"year": 2024},
}
_LEAP = re.compile(r"\bleap[ _]years?\b", re.IGNORECASE)
_WORKING = re.compile(
    r"\b(?:working|business|week)[ _]?days\b.*\b(?:between|from|until|till|to)\b", re.IGNORECASE
)
_BETWEEN = re.compile(r"\bdays?\b.*\b(?:between|from|until|till|since|to)\b|\bdays_between\b", re.IGNORECASE)
_WEEKDAY = re.compile(r"\b(?:weekday|(?:which|what) day\b|day of the week)", re.IGNORECASE)
_UNIT = re.compile(r"\s*(?:days?|(?P<weeks>weeks?))\b", re.IGNORECASE)
_OPEN_END = re.compile(r"\bdays?\b.*\b(?:until|till|to|(?P<since>since))\b", re.IGNORECASE)
_TODAY = re.compile(r"\b(?:today|tomorrow|yesterday|until|till|since)\b", re.IGNORECASE)
_DATE = re.compile(
    r"\bwhat(?:'s|’s| is)\s+(?:today(?:'s|’s)? date|the date(?: today)?|today)\b|\bwhat day is it\b",
    re.IGNORECASE,
)
_BACK = re.compile(r"\b(?:before|earlier|ago|subtract|minus)\b", re.IGNORECASE)
_ON = re.compile(r"\b(?:after|later|from|add|adding|plus|past)\b", re.IGNORECASE)
_ASKS_FOR_DATE = re.compile(r"\b(?:what|which|when|date|add|subtract)\b", re.IGNORECASE)


def read(passage: Passage, today: dt.date | None = None) -> Job | None:
    """The job that the passage asks for, complete or with its dates left open."""
    text = passage.open
    found = dates(text, today)
    if _LEAP.search(text):
        return _leap_year(text, found)
    if _WORKING.search(text):
        return _span(book.working_days_between, found, _told_working)
    if shifted := _shifted(text, found):
        return shifted
    if _WEEKDAY.search(text):
        return _weekday(found)
    if today and len(found) == 1 and (open_end := _OPEN_END.search(text)):
        other = Date(day=today, start=0, end=0)
        found = [found[0], other] if open_end["since"] else [other, found[0]]
    if _BETWEEN.search(text) and (len(found) >= 2 or not found):
        return _span(book.days_between, found, _told_between)
    return None


def asked_today(text: str, today: dt.date | None) -> str:
    """The date of today, if that is the question and somebody said it."""
    return f"Today is **{_long(today.isoformat())}**, as I was told." if today and _DATE.search(text) else ""


def obstacle(text: str, today: dt.date | None) -> str:
    """Why a question about dates can't be answered: nobody said what day it is."""
    about_days = _BETWEEN.search(text) or _WEEKDAY.search(text)
    if today or not (_DATE.search(text) or (about_days and _TODAY.search(text))):
        return ""
    return "I have no clock. Tell me the date, for example: “today is 2026-11-30”."


def _leap_year(text: str, found: list[Date]) -> Job:
    years = [int(number.value) for number in numbers(text) if 1 <= number.value <= 9999]
    year = found[0].day.year if found else years[0] if years else None
    return _job(book.is_leap_year, {} if year is None else {"year": year}, _told_leap)


def _span(function: Callable[..., Any], found: list[Date], tell: Callable[..., str]) -> Job:
    ends = [date.day.isoformat() for date in found[:2]]
    return _job(function, dict(zip(("start", "end"), ends, strict=False)), tell)


def _weekday(found: list[Date]) -> Job:
    return _job(book.weekday_of, {"day": found[0].day.isoformat()} if found else {}, _told_weekday)


def _shifted(text: str, found: list[Date]) -> Job | None:
    """*90 days after …*, *add 3 weeks to …*: one date, one number, and a direction."""
    if len(found) != 1 or not _ASKS_FOR_DATE.search(text):
        return None
    back, on = _BACK.search(text), _ON.search(text)
    amounts = [(number, unit) for number in numbers(text) if (unit := _UNIT.match(text, number.end))]
    if not amounts or not (back or on):
        return None
    number, unit = amounts[0]
    days = int(number.value) * (7 if unit["weeks"] else 1) * (-1 if back else 1)
    return _job(book.add_days, {"day": found[0].day.isoformat(), "days": days}, _told_shifted)


def _job(function: Callable[..., Any], arguments: dict[str, JSON], tell: Callable[..., str]) -> Job:
    draft = draft_of(function, arguments or _EXAMPLES[function.__name__])
    required: list[str] = draft.parameters["required"]
    open_ones = [name for name in required if name not in arguments]
    if open_ones:
        draft = draft_of(function, _EXAMPLES[function.__name__])
    return Job(
        draft=draft,
        work=function,
        tell=tell,
        arguments=arguments,
        hole=open_ones[0] if open_ones else "",
        question=" ".join([function.__name__.replace("_", " "), *map(str, arguments.values())]),
    )


def _long(day: JSON) -> str:
    """``2024-05-03`` as *3 May 2024*; what is no date stays as it is."""
    try:
        date = dt.date.fromisoformat(str(day))
    except ValueError:
        return str(day)
    return f"{date.day} {date:%B} {date.year}"


def _told_between(value: JSON, arguments: Mapping[str, JSON]) -> str:
    days = "day" if abs(value) == 1 else "days"
    between = f"{_long(arguments.get('start'))} and {_long(arguments.get('end'))}"
    order = " (the second date comes first)" if value < 0 else ""
    return f"Between {between} {'lies' if abs(value) == 1 else 'lie'} **{figure(abs(value))} {days}**{order}."


def _told_working(value: JSON, arguments: Mapping[str, JSON]) -> str:
    days = "working day" if value == 1 else "working days"
    span = f"From {_long(arguments.get('start'))} up to {_long(arguments.get('end'))}"
    return (
        f"{span} there {'is' if value == 1 else 'are'} **{figure(value)} {days}**, holidays not considered."
    )


def _told_weekday(value: JSON, arguments: Mapping[str, JSON]) -> str:
    return f"{_long(arguments.get('day'))} is a **{value}**."


def _told_shifted(value: JSON, arguments: Mapping[str, JSON]) -> str:
    days = int(arguments.get("days", 0))
    amount = f"{figure(abs(days))} {'day' if abs(days) == 1 else 'days'}"
    where = f"{'before' if days < 0 else 'after'} {_long(arguments.get('day'))}"
    return f"{amount} {where} is **{_long(value)}** ({value})."


def _told_leap(value: JSON, arguments: Mapping[str, JSON]) -> str:
    year = arguments.get("year")
    return f"**{'Yes' if value else 'No'}**, {year} is {'' if value else 'not '}a leap year."
