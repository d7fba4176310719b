"""The recipes for lists of numbers: mean, median, deviation, sum, and means per group.

>>> from agent_magics.providers.demo.passage import Passage
>>> found = read(Passage.of("What is the median of 3, 5, 9 and 11?"))
>>> found.draft.name, found.arguments
('median_of', {'values': [3, 5, 9, 11]})
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from typing import Any

from agent_magics.providers.demo.figures import figure, is_exact, numbers
from agent_magics.providers.demo.passage import Passage
from agent_magics.providers.demo.recipes.book import lists
from agent_magics.providers.demo.recipes.draft import Job, draft_of
from agent_magics.talk import JSON

_BOOK: tuple[tuple[str, str, Callable[..., Any]], ...] = (
    (r"\b(?:standard[ _]deviation|std|stdev)\b", "standard deviation", lists.standard_deviation_of),
    (r"\bmedian\b", "median", lists.median_of),
    (r"\b(?:mean|average|avg)\b", "mean", lists.mean_of),
    (r"\b(?:sum|total)\b", "sum", lists.sum_of),
    (r"\b(?:smallest|minimum|min|lowest)\b", "smallest", lists.smallest_of),
    (r"\b(?:largest|biggest|maximum|max|highest|greatest)\b", "largest", lists.largest_of),
)
_GROUPED = {lists.mean_of: lists.mean_by_group, lists.median_of: lists.median_by_group}
_BY = re.compile(r"\b(?:by|per|for each|for every|grouped by)[ _]\w+", re.IGNORECASE)
_OF = re.compile(
    r"(?:\s|:|,|\b(?:of|is|are|the|these|those|this|following|numbers?|values?|list|between|for)\b)*",
    re.IGNORECASE,
)
_BETWEEN = re.compile(r"\s*(?:[,;&\s]|\band\b|\bor\b)\s*(?:and\s+)?", re.IGNORECASE)
_ABOUT_LISTS = re.compile(r"\b(?:numbers|values|list|column|figures|array)\b|\w_of\b", re.IGNORECASE)
_VALUES: list[JSON] = [2, 4, 9]


def read(passage: Passage) -> Job | None:
    """The job that the passage asks for; with a hole where it lists no numbers."""
    text = passage.open
    for asks, name, function in _BOOK:
        if match := re.search(asks, text.replace("_", " "), re.IGNORECASE):
            if _BY.search(text) and function in _GROUPED:
                return _grouped(_GROUPED[function], name)
            values = _listed(text, match.end())
            if len(values) >= 2 or _ABOUT_LISTS.search(text):
                return _plain(function, name, values)
    return None


def _listed(text: str, at: int) -> list[JSON]:
    """The numbers that are listed from ``at`` on, with nothing but commas and *and* between them."""
    values: list[JSON] = []
    for number in numbers(text):
        between = _BETWEEN if values else _OF
        if number.start >= at and between.fullmatch(text, at, number.start):
            values.append(number.value)
            at = number.end
    return values


def _plain(function: Callable[..., Any], name: str, values: list[JSON]) -> Job:
    complete = len(values) >= 2

    def tell(value: JSON, arguments: Mapping[str, JSON]) -> str:
        given: list[JSON] = arguments.get("values") or []
        about = f"of these {figure(len(given))} numbers " if given else ""
        return f"The {name} {about}{'is' if is_exact(value) else 'is about'} **{figure(value)}**."

    return Job(
        draft=draft_of(function, {"values": values if complete else _VALUES}),
        work=function,
        tell=tell,
        arguments={"values": values} if complete else {},
        hole="" if complete else "values",
        question=f"{function.__name__.replace('_', ' ')} {values}",
    )


def _grouped(function: Callable[..., Any], name: str) -> Job:
    """Per group: the prompt would have to list numbers and groups, which a table does better."""

    def tell(value: JSON, _: Mapping[str, JSON]) -> str:
        rows = "".join(f"\n| {group} | {figure(number)} |" for group, number in dict(value).items())
        return f"| group | {name} |\n|---|---:|{rows}"

    return Job(
        draft=draft_of(function, {"values": _VALUES, "groups": ["a", "b", "b"]}),
        work=function,
        tell=tell,
        hole="values",
        question=f"{name} by group",
    )
