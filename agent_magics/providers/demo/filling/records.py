"""A text cut into records: the rows of a table, the lines of a list, or its sentences."""

from __future__ import annotations

import csv
import re

from agent_magics.providers.demo.evidence import sentences
from agent_magics.providers.demo.words import words

_RULE = re.compile(r"^\s*\|?[\s:|-]+\|?\s*$")
_BULLET = re.compile(r"^\s*(?:[-*•]|\d{1,3}[.)])\s+")
_CLAUSE = re.compile(r",\s+(?:and\s+)?|\s+and\s+")
_ITEMS = re.compile(r"\s*(?:[,;\n]|\band\b|\bor\b|&)\s*")


def records(text: str, names: list[str]) -> list[str]:
    """The pieces of ``text`` that may each be one record with fields of these names.

    The rows of a table come with the names of their columns, so that each can be read by itself:
    ``name: Ann; age: 34``.
    """
    lines = [line for line in text.splitlines() if line.strip()]
    if rows := _table(lines, names):
        return rows
    if bullets := [_BULLET.sub("", line) for line in lines if _BULLET.match(line)]:
        return bullets
    if len(lines) > 1:
        return lines
    for cut in (re.split(r"\s*;\s*", text), sentences(text)):
        if len(cut) > 1:
            return [part for part in cut if part]
    return [text]


def clauses(text: str) -> list[str]:
    """The parts of a sentence that may tell of several: *Ann in 1990, Bob in 1992 and Carl in 1995*."""
    return [part for part in _CLAUSE.split(text) if part.strip()]


def listed(text: str) -> list[str]:
    """The items of a list in a line: *a, b and c*."""
    return [part.strip(" .\"'“”") for part in _ITEMS.split(text) if part.strip(" .\"'“”")]


def line_behind(text: str, label: str) -> str:
    """The rest of the line behind ``label:`` or *label are*."""
    told = r"[\s_-]+".join(map(re.escape, label.split()))
    match = re.search(
        rf"(?<!\w){told}\s*(?:[:=]|\bare\b|\binclude\b)\s*(?P<rest>[^\n.;]+)", text, re.IGNORECASE
    )
    return match["rest"] if match else ""


def _table(lines: list[str], names: list[str]) -> list[str]:
    """The rows under a header that names at least one of the fields."""
    for at, line in enumerate(lines[:50]):
        header = _cells(line)
        if len(header) > 1 and any(words(cell) == words(name) for cell in header for name in names):
            rows = [_cells(row) for row in lines[at + 1 :] if not _RULE.match(row)]
            return [
                "; ".join(f"{name}: {cell}" for name, cell in zip(header, row, strict=False) if cell)
                for row in rows
                if len(row) > 1
            ]
    return []


def _cells(line: str) -> list[str]:
    if "|" in line:
        return [cell.strip() for cell in line.strip().strip("|").split("|")]
    for separator in ("\t", ";", ","):
        if separator in line:
            rows = csv.reader([line[:10_000]], delimiter=separator, skipinitialspace=True)
            return [cell.strip() for row in rows for cell in row]
    return [line.strip()]
