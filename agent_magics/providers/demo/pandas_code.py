"""Questions about a table -> one line of pandas, from the columns that were seen.

The code is an expression, so that what it is worth is its result, and it names only columns that exist.

>>> seen = [Column(name="vehicle", type="object"), Column(name="mph", type="float64")]
>>> question = FrameQuestion(kind="statistic", frame="trips", statistics=("mean",), words="mph", by="vehicle")
>>> compose(question, seen).code
'trips.groupby("vehicle")["mph"].mean().to_dict()'
"""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import dataclass

from agent_magics.providers.demo.frame_questions import FrameQuestion
from agent_magics.providers.demo.tables import Column
from agent_magics.providers.demo.words import STOP, joined, stem, words


class NoSuchColumn(Exception):
    """The question speaks of a column that the table doesn't have, or that doesn't fit."""


@dataclass(frozen=True, kw_only=True)
class Code:
    """A line of pandas, and what its result is."""

    code: str
    what: str


def compose(question: FrameQuestion, seen: Sequence[Column]) -> Code:
    """The code that answers ``question`` about a table with the columns ``seen``.

    Raises
    ------
    NoSuchColumn
        If a column that the question speaks of isn't there, with what is.
    """
    match question.kind:
        case "statistic":
            return _statistic(question, seen)
        case "plot":
            return _plot(question, seen)
        case "counts":
            column = _one(question.words, seen)
            return Code(
                code=f"{_column(question, column)}.value_counts().to_dict()", what=f"rows per {column.name}"
            )
        case "correlation":
            first, second = _two(question.words, seen)
            code = f"float({_column(question, first)}.corr({_column(question, second)}))"
            return Code(code=code, what=f"correlation of {first.name} and {second.name}")
        case "missing":
            return Code(code=f"{question.frame}.isna().sum().to_dict()", what="missing values")
        case _:
            rows = question.rows or 5
            return Code(code=f'{question.frame}.head({rows}).to_dict("records")', what=f"first {rows} rows")


def answers(question: FrameQuestion, seen: Sequence[Column]) -> bool:
    """Whether a table with these columns can answer the question."""
    try:
        compose(question, seen)
    except NoSuchColumn:
        return False
    return True


def columns_as_said(question: FrameQuestion) -> list[Column]:
    """The columns as the question names them, where nobody could look at the table."""
    return [Column(name=word) for word in (*words(question.words), *words(question.by)) if word not in STOP]


def _statistic(question: FrameQuestion, seen: Sequence[Column]) -> Code:
    column = _one(question.words, seen, numeric=True)
    many = len(question.statistics) > 1
    which = f"agg({json.dumps(list(question.statistics))})" if many else f"{question.statistics[0]}()"
    what = f"{joined(list(question.statistics))} of {column.name}"
    if not question.by:
        value = f"{_column(question, column)}.{which}"
        return Code(code=f"{value}.to_dict()" if many else f"float({value})", what=what)
    group = _one(question.by, seen)
    grouped = f"{question.frame}.groupby({_quoted(group.name)})[{_quoted(column.name)}].{which}"
    turned = '.to_dict("index")' if many else ".to_dict()"
    return Code(code=grouped + turned, what=f"{what} by {group.name}")


def _plot(question: FrameQuestion, seen: Sequence[Column]) -> Code:
    column = _one(question.words, seen, numeric=True)
    frame, name = question.frame, column.name
    if not question.by:
        title = _quoted(f"{name} in {frame}")
        return Code(
            code=f"{_column(question, column)}.plot.hist(bins=20, title={title}, xlabel={_quoted(name)})",
            what=f"histogram of {name}",
        )
    other = _one(question.by, seen)
    title = _quoted(f"{name} by {other.name} in {frame}")
    axes = f"x={_quoted(other.name)}, y={_quoted(name)}, title={title}"
    if other.is_time:
        return Code(
            code=f"{frame}.sort_values({_quoted(other.name)}).plot.line({axes})",
            what=f"{name} over {other.name}",
        )
    if other.is_numeric:
        return Code(code=f"{frame}.plot.scatter({axes})", what=f"{name} against {other.name}")
    which = (question.statistics or ("mean",))[0]
    grouped = f"{frame}.groupby({_quoted(other.name)})[{_quoted(name)}].{which}()"
    bars = f"{grouped}.plot.bar(title={title}, ylabel={_quoted(name)})"
    return Code(code=bars, what=f"{which} of {name} by {other.name}")


def _one(said: str, seen: Sequence[Column], *, numeric: bool = False) -> Column:
    found = _named(said, seen)
    fitting = [column for column in found if column.is_numeric or not numeric]
    if fitting:
        return fitting[0]
    if found:
        numbers = [column.name for column in seen if column.is_numeric]
        there = f" These are numbers: {joined([f'`{name}`' for name in numbers])}." if numbers else ""
        raise NoSuchColumn(f"The column `{found[0].name}` holds no numbers ({found[0].type}).{there}")
    raise NoSuchColumn(
        f"I see no column “{said}”. There are {joined([f'`{column.name}`' for column in seen])}."
    )


def _two(said: str, seen: Sequence[Column]) -> tuple[Column, Column]:
    found = [column for column in _named(said, seen) if column.is_numeric]
    if len(found) < 2:
        raise NoSuchColumn(f"I need two columns of numbers, and “{said}” names {len(found)} that I see.")
    return found[0], found[1]


def _named(said: str, seen: Sequence[Column]) -> list[Column]:
    """The columns that the words name, in the order in which they are named; the whole name before a part."""
    spoken = " ".join(words(said))
    whole = [
        (spoken.find(key), column)
        for column in seen
        if (key := " ".join(words(column.name))) and _has(spoken, key)
    ]
    if whole:
        return [column for _, column in sorted(whole, key=lambda pair: (pair[0], -len(pair[1].name)))]
    stems = [stem(word) for word in words(said) if word not in STOP]
    partly = [
        (min(stems.index(part) for part in parts), column)
        for column in seen
        if (parts := set(map(stem, words(column.name))) & set(stems))
    ]
    return [column for _, column in sorted(partly, key=lambda pair: pair[0])]


def _has(spoken: str, key: str) -> bool:
    return f" {key} " in f" {spoken} "


def _column(question: FrameQuestion, column: Column) -> str:
    return f"{question.frame}[{_quoted(column.name)}]"


def _quoted(name: str) -> str:
    return json.dumps(name, ensure_ascii=False)
