"""Recipes for dates. None asks a clock: what day it is, they are told."""

import datetime  # noqa: ICN001  # the source that is handed out imports it so


def days_between(start: str, end: str) -> int:
    """Count the days from one date to another.

    Parameters
    ----------
    start : str
        The first date, as YYYY-MM-DD.
    end : str
        The second date, as YYYY-MM-DD.

    Returns
    -------
    int
        How many days lie between them; negative if the second comes first.

    Raises
    ------
    ValueError
        If one of them is no date.

    Examples
    --------
    >>> days_between("2024-02-01", "2024-03-01")
    29
    """
    first = datetime.date.fromisoformat(start)
    return (datetime.date.fromisoformat(end) - first).days


def working_days_between(start: str, end: str) -> int:
    """Count the days from Monday to Friday between two dates, the first included, the last not.

    Parameters
    ----------
    start : str
        The first date, as YYYY-MM-DD.
    end : str
        The second date, as YYYY-MM-DD; not before the first, and not over a thousand years after it.

    Returns
    -------
    int
        How many working days there are; holidays are not known here.

    Raises
    ------
    ValueError
        If one of them is no date, or they are in the wrong order or too far apart.

    Examples
    --------
    >>> working_days_between("2024-03-01", "2024-03-08")
    5
    """
    first = datetime.date.fromisoformat(start)
    days = (datetime.date.fromisoformat(end) - first).days
    if not 0 <= days <= 366_000:
        raise ValueError(f"{end!r} must not be before {start!r}, nor over a thousand years after it")
    weeks, rest = divmod(days, 7)
    return weeks * 5 + sum((first.weekday() + day) % 7 < 5 for day in range(rest))


def weekday_of(day: str) -> str:
    """Tell on which day of the week a date falls.

    Parameters
    ----------
    day : str
        The date, as YYYY-MM-DD.

    Returns
    -------
    str
        The English name of the weekday.

    Raises
    ------
    ValueError
        If it is no date.

    Examples
    --------
    >>> weekday_of("1969-07-20")
    'Sunday'
    """
    names = ("Monday", "Tuesday", "Wednesday", "Thursday", "Friday", "Saturday", "Sunday")
    return names[datetime.date.fromisoformat(day).weekday()]


def add_days(day: str, days: int) -> str:
    """Find the date a number of days after another, or before it.

    Parameters
    ----------
    day : str
        The date to begin from, as YYYY-MM-DD.
    days : int
        How many days to go on; negative to go back.

    Returns
    -------
    str
        The date, as YYYY-MM-DD.

    Raises
    ------
    ValueError
        If it is no date, or the result lies outside the years 1 to 9999.

    Examples
    --------
    >>> add_days("2024-02-28", 2)
    '2024-03-01'
    """
    start = datetime.date.fromisoformat(day)
    if not 1 <= start.toordinal() + days <= datetime.date.max.toordinal():
        raise ValueError(f"{days!r} days from {day!r} there is no date between the years 1 and 9999")
    return (start + datetime.timedelta(days=days)).isoformat()


def is_leap_year(year: int) -> bool:
    """Tell whether a year has a 29th of February.

    Parameters
    ----------
    year : int
        The year in the Gregorian calendar, at least 1.

    Returns
    -------
    bool
        Whether it is a leap year.

    Raises
    ------
    ValueError
        If the year is before 1.

    Examples
    --------
    >>> is_leap_year(2000), is_leap_year(1900)
    (True, False)
    """
    if year < 1:
        raise ValueError(f"year must be at least 1, not {year!r}")
    return year % 4 == 0 and (year % 100 != 0 or year % 400 == 0)
