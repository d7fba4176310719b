"""Rows -> texts, one at a time: lists, generators, columns and frames, with a template where one is given.

A template's fields are names of columns or keys and nothing else: no attribute and no index is ever looked
up, so a row can't be made to show what it isn't.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable, Iterator, Mapping
from numbers import Real
from string import Formatter
from typing import Any, cast

from agent_magics.errors import UsageError

ROW = "row"
"""The field that stands for a row that has no columns."""


class NoText(ValueError):
    """A row that gives no text; ``kind`` is ``empty`` or ``template``."""

    def __init__(self, kind: str, message: str) -> None:
        super().__init__(message)
        self.kind = kind


class Source:
    """The rows of a call, as texts.

    Parameters
    ----------
    rows : iterable
        Texts, numbers, mappings; a pandas or polars Series or frame; any generator. Read once, row by row.
    template : str, optional
        How a row is put into words: ``"{title}: {text}"``.

    Attributes
    ----------
    total : int or None
        How many rows there are, where that can be told without reading them.

    Examples
    --------
    >>> [each() for each in Source([{"name": "Ada", "age": 36}], "{name} is {age}")]
    ['Ada is 36']
    """

    def __init__(self, rows: Iterable[Any], template: str | None = None) -> None:
        if isinstance(rows, str | bytes | Mapping) or not hasattr(rows, "__iter__"):
            raise UsageError(
                f"rows={type(rows).__name__} is not many rows.",  # pyright: ignore[reportUnknownArgumentType]
                "It is a list, a generator, a Series or a frame.",
                "For a single text use extract(text, schema).",
            )
        self._template = Template(template) if template is not None else None
        self.total = len(cast("Any", rows)) if hasattr(rows, "__len__") else None
        self._records = iter(self._from_frame(rows) if hasattr(rows, "columns") else rows)

    def __iter__(self) -> Iterator[Callable[[], str]]:
        """For each row a function that returns its text, or raises :class:`NoText`."""
        for record in self._records:
            yield lambda record=record: self._text(record)

    def _from_frame(self, frame: Any) -> Iterator[Any]:
        names = [str(name) for name in frame.columns]
        if self._template is None:
            if len(names) != 1:
                raise UsageError(
                    "A frame needs a template.",
                    f"Its columns are {', '.join(names)}." if names else "It has no columns.",
                    'Say how a row reads, for example template="{' + (names or ["text"])[0] + '}".',
                )
            return (record[0] for record in _records(frame))
        if missing := [name for name in self._template.names if name not in names]:
            raise UsageError(
                f"The template names {missing[0]!r}, which is no column.",
                f"There are {', '.join(names)}.",
                "Check the spelling.",
            )
        return (dict(zip(names, record, strict=True)) for record in _records(frame))

    def _text(self, record: Any) -> str:
        if self._template is not None:
            text = self._template.filled(
                cast("Any", record) if isinstance(record, Mapping) else {ROW: record}
            )
        else:
            text = _plain(record)
        if not text or text.isspace():
            raise NoText("empty", "The row has no text.")
        return text


class Reading:
    """Rows that tell whether one is being read: then a batch waits for it."""

    def __init__(self, rows: Iterable[Callable[[], str]]) -> None:
        self._rows = iter(rows)
        self.busy = False

    def __iter__(self) -> Iterator[Callable[[], str]]:
        return self

    def __next__(self) -> Callable[[], str]:
        self.busy = True
        try:
            return next(self._rows)
        finally:
            self.busy = False


class Template:
    """A text with fields in braces; ``{{`` and ``}}`` are braces.

    Raises
    ------
    UsageError
        If it can't be read, or a field is more than a name.
    """

    def __init__(self, text: str) -> None:
        try:
            self._parts = [*Formatter().parse(text)]
        except (TypeError, ValueError) as error:
            raise UsageError(
                f"template={text!r} can't be read.", f"{error}.", "Write {{ for a brace."
            ) from None
        self.names = [name for _, name, _, _ in self._parts if name is not None]
        for _, name, spec, conversion in self._parts:
            if conversion not in (None, *"rsa"):
                raise UsageError(
                    f"template={text!r} has the conversion {conversion!r}.",
                    "There are !r, !s and !a.",
                    "Leave it out, or write {{ for a brace.",
                )
            if name == "" or "{" in (spec or ""):
                raise UsageError(
                    f"template={text!r} has a field without a plain name.",
                    "A field is the name of a column or key.",
                    f"For rows that are plain texts it is {{{ROW}}}.",
                )

    def filled(self, record: Mapping[Any, Any]) -> str:
        """The text of one row. Names are keys as they stand: ``{a.b}`` is the key ``"a.b"``."""
        pieces: list[str] = []
        for literal, name, spec, conversion in self._parts:
            pieces.append(literal)
            if name is not None:
                pieces.append(self._field(record, name, spec or "", conversion))
        return "".join(pieces)

    def _field(self, record: Mapping[Any, Any], name: str, spec: str, conversion: str | None) -> str:
        if name not in record:
            raise NoText(
                "template", f"The row has no {name!r}; it has {', '.join(map(str, record)) or 'nothing'}."
            )
        value = "" if _is_missing(record[name]) else record[name]
        try:
            return format(
                Formatter().convert_field(value, conversion) if conversion else value,
                spec if value != "" else "",
            )
        except (TypeError, ValueError) as error:
            raise NoText("template", f"{name!r} can't be written as {spec!r}: {error}") from None


def _records(frame: Any) -> Iterator[tuple[Any, ...]]:
    if hasattr(frame, "iter_rows"):  # polars
        return frame.iter_rows()
    return frame.itertuples(index=False, name=None)


def _plain(record: Any) -> str:
    if isinstance(record, str):
        return record
    if isinstance(record, Mapping | list | tuple):
        return json.dumps(record, ensure_ascii=False, default=str)
    return "" if _is_missing(record) else str(record)


def _is_missing(value: Any) -> bool:
    """None, NaN and pandas' NA and NaT: nothing is written where nothing is."""
    if value is None:
        return True
    if isinstance(value, Real):
        return value != value  # NaN alone differs from itself
    return type(value).__name__ in ("NAType", "NaTType")
