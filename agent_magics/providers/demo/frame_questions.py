"""Questions about the notebook's variables and tables, read from their words.

>>> read(Passage.of("what is the mean of mph by vehicle in trips?"))
FrameQuestion(kind='statistic', frame='trips', statistics=('mean',), words='mph', by='vehicle', rows=0)
>>> read(Passage.of("what is in df?")).kind
'look'
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import Literal

from agent_magics.providers.demo.figures import numbers
from agent_magics.providers.demo.passage import Passage
from agent_magics.providers.demo.words import STOP, word_set

Kind = Literal["list", "look", "statistic", "plot", "head", "counts", "correlation", "missing"]

STATISTICS = {
    "mean": "mean",
    "average": "mean",
    "avg": "mean",
    "median": "median",
    "std": "std",
    "standard deviation": "std",
    "variance": "var",
    "sum": "sum",
    "total": "sum",
    "min": "min",
    "minimum": "min",
    "smallest": "min",
    "lowest": "min",
    "max": "max",
    "maximum": "max",
    "largest": "max",
    "highest": "max",
}
"""Words -> the methods of pandas."""

_NO_VARIABLE = word_set(
    """
    yourself numbers text words word page list world there general notebook namespace detail total all tools
    fahrenheit celsius kelvin time days order english german
    """
)
_END = r"(?=\s+(?:in|of|from)\b|$)"
_TABLE = r"(?:data ?frame|table|variable|frame|data ?set)"
_NAME = rf"(?:the\s+{_TABLE}\s+)?(?P<frame>[^\W\d]\w*)"
_THE_TABLE = re.compile(rf"\bthe\s+(\w+)\s+{_TABLE}\b", re.IGNORECASE)


def _form(pattern: str) -> re.Pattern[str]:
    return re.compile(pattern, re.IGNORECASE)


_OF_FRAME = _form(rf"\b(?:in|of|from|inside|for|on)\s+{_NAME}\s*$")
_STATISTIC = _form(rf"\b(?P<word>{'|'.join(sorted(STATISTICS, key=len, reverse=True))})s?\b")
_BY = _form(r"\b(?:grouped by|by|per|for each|for every|against|over|vs\.?|versus)\s+(?P<by>[\w ]+?)" + _END)
_COLUMN = _form(
    r"\b(?:of|for)\s+(?P<words>[\w ]+?)(?=\s+(?:by|per|for|grouped|in|of|from|against|over|vs|versus)\b|$)"
)
_LIST = _form(
    r"\b(?:what|which|list|show)\b.{0,30}\b(?:variables|data ?frames|names (?:are )?defined)\b"
    r"|\bwhat(?:'s| is| do i have)?\s+in\s+(?:my|the|this)\s+(?:notebook|namespace|session)\b"
)
_LOOK = tuple(
    _form(rf"^(?:so\s+|please\s+)?{pattern}$")
    for pattern in (
        rf"what(?:'s| is| are)\s+(?:in|inside)\s+{_NAME}",
        rf"(?:describe|inspect|look (?:in|into|at)|show(?: me)?|summari[sz]e)\s+{_NAME}",
        rf"how (?:big|large|long) is\s+{_NAME}",
        rf"what (?:does|is)\s+{_NAME}\s+(?:contain|hold|look like|made of)",
        rf".*\b(?:columns?|rows?|type|shape|size)\b.*\b(?:in|of|does|has|have)\s+{_NAME}(?:\s+have)?",
    )
)
_PLOT = _form(
    r"^(?:please\s+|can you\s+)?"
    r"(?:plot|draw|chart|graph|histogram|scatter\w*|visuali[sz]e|show (?:me )?an? (?:plot|histogram|chart))\b"
    r"\s*(?:(?:a|the)\s+)?(?:(?:plot|histogram|chart|distribution|graph)\s+)?(?:of\s+)?(?P<words>.*)$"
)
_HEAD = _form(r"\b(?:first|top)\s+(?:\w+\s+)?rows?\b|\bhead of\b")
_COUNTS = _form(
    r"\b(?:how many|count|number of)\b.*\b(?:by|per|for each|of each)\s+(?P<words>[\w ]+?)" + _END
)
_CORRELATION = _form(r"\bcorrelat\w+\b\s*(?:between|of)?\s*(?P<words>.*)")
_MISSING = _form(r"\bmissing\b|\bnulls?\b|\bNaNs?\b")


@dataclass(frozen=True, kw_only=True)
class FrameQuestion:
    """A question about data.

    Parameters
    ----------
    kind : str
        What is asked.
    frame : str
        The variable; empty where the question doesn't name it.
    statistics : tuple of str
        Methods of pandas.
    words : str
        The words that name the columns.
    by : str
        The words that name the column to group by, or to plot over.
    rows : int
        How many rows are asked for.
    """

    kind: Kind
    frame: str = ""
    statistics: tuple[str, ...] = ()
    words: str = ""
    by: str = ""
    rows: int = 0


def read(passage: Passage, known: frozenset[str] = frozenset()) -> FrameQuestion | None:
    """The question about data in a passage; ``known`` are the names of variables that were seen before."""
    clean = _THE_TABLE.sub(r"\1", passage.clean)
    if _LIST.search(clean):
        return FrameQuestion(kind="list")
    if not (_HEAD.search(clean) or _BY.search(clean)) and (found := _looked_at(clean)):
        return FrameQuestion(kind="look", frame=found)
    if any(mark in clean for mark in ("“”", ":")) or (numbers(clean) and not _HEAD.search(clean)):
        return None
    frame = _frame(clean, passage, known)
    rest = _OF_FRAME.sub("", clean).strip() if frame else clean
    by = _BY.search(rest)
    grouped = by["by"].strip() if by else ""
    if plot := _PLOT.match(rest):
        words = re.sub(r"^\s*(?:the|of)\b", "", _STATISTIC.sub("", _BY.sub("", plot["words"]))).strip()
        return FrameQuestion(kind="plot", frame=frame, words=words, by=grouped, statistics=_statistics(rest))
    if frame:
        return _about_table(clean, rest, frame, grouped)
    if _statistics(rest) and grouped and (words := _columns(rest)):
        return FrameQuestion(kind="statistic", statistics=_statistics(rest), words=words, by=grouped)
    return None


def _about_table(clean: str, rest: str, frame: str, by: str) -> FrameQuestion | None:
    if _HEAD.search(clean):
        rows = next((int(number.value) for number in numbers(clean) if 1 <= number.value <= 50), 5)
        return FrameQuestion(kind="head", frame=frame, rows=rows)
    if found := _CORRELATION.search(rest):
        return FrameQuestion(kind="correlation", frame=frame, words=found["words"])
    if _MISSING.search(rest):
        return FrameQuestion(kind="missing", frame=frame)
    if (statistics := _statistics(rest)) and (words := _columns(rest)):
        return FrameQuestion(kind="statistic", frame=frame, statistics=statistics, words=words, by=by)
    if found := _COUNTS.search(rest):
        return FrameQuestion(kind="counts", frame=frame, words=found["words"])
    return None


def _looked_at(clean: str) -> str:
    for form in _LOOK:
        match = form.search(clean)
        if match and _may_be_variable(match["frame"]):
            return match["frame"]
    return ""


def _frame(clean: str, passage: Passage, known: frozenset[str]) -> str:
    """The variable that is named: in backticks, by a name seen before, or behind the last preposition."""
    if passage.named:
        return passage.named[-1]
    match = _OF_FRAME.search(clean)
    name = match["frame"] if match else ""
    return name if name in known or (name[:1].islower() and _may_be_variable(name)) else ""


def _may_be_variable(name: str) -> bool:
    return name.casefold() not in STOP | _NO_VARIABLE


def _statistics(text: str) -> tuple[str, ...]:
    named = [STATISTICS[match["word"].casefold()] for match in _STATISTIC.finditer(text)]
    return tuple(dict.fromkeys(named))


def _columns(rest: str) -> str:
    """The words for the column: behind *of*, or around the statistic (*mean mph*)."""
    if match := _COLUMN.search(rest):
        return match["words"].strip()
    last = [match.end() for match in _STATISTIC.finditer(rest)][-1]
    return _BY.sub("", rest[last:]).strip()
