"""Markdown that is still arriving: what of it is final, and how the rest is best shown.

:func:`cut` finds how far a text is settled, so that it can be rendered once and never touched again.
:func:`mend` closes what is half-open at the end, so that a reader sees bold words and not asterisks.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from agent_magics.ui.markdown import blocks

if TYPE_CHECKING:
    from markdown_it.token import Token

_MEND_AT_MOST = 2_000
_LONE_MARKER = re.compile(r"(?:^|(?<=\n))[ \t]*(?:#{1,6}|[-*+]|\d{1,9}[.)]|>)[ \t]*\Z")
_HALF_ADDRESS = re.compile(r"!?\[([^\[\]\n]*)\]\([^()\n]*\Z")
_HALF_LABEL = re.compile(r"!?\[([^\[\]\n]*)\Z")
_BACKTICKS = re.compile(r"`+")
_DELIMITER = re.compile(r"\\.|`+|\*\*?|__?|~~", re.DOTALL)
_TABLE_START = re.compile(r"(?:^|(?<=\n))[ \t]*\|[^\n]*(?:\n[ \t]*\|[^\n]*)?\Z")


def cut(text: str) -> int:
    """How many characters of ``text`` no later text can change: up to its last top-level block.

    The place is always a blank line between two blocks, so never inside a fence or a list. A line without its
    end doesn't count: ``2`` may become ``2. next``, which belongs to the list above.
    """
    whole = text[: text.rfind("\n") + 1]
    lines = whole.split("\n")
    for start in reversed(_top_level(blocks(whole))[1:]):
        if not lines[start - 1].strip(" \t"):
            return sum(len(line) + 1 for line in lines[:start])
    return 0


def mend(text: str) -> str:
    """``text`` with what is half-open at its end closed or held back; code blocks stay as they are."""
    leaf = _last_leaf(blocks(text))
    if leaf is None or leaf.type != "inline":
        return text
    start = max(_offset(text, leaf.map[0]) if leaf.map else 0, len(text) - _MEND_AT_MOST)
    return text[:start] + _mended(text[start:], in_table=leaf.level > 3 and leaf.map is not None)


def _top_level(tokens: list[Token]) -> list[int]:
    return [token.map[0] for token in tokens if token.level == 0 and token.nesting >= 0 and token.map]


def _last_leaf(tokens: list[Token]) -> Token | None:
    leaves = ("inline", "fence", "code_block", "math_block", "hr")
    return next((token for token in reversed(tokens) if token.type in leaves), None)


def _offset(text: str, line: int) -> int:
    at = 0
    for _ in range(line):
        at = text.find("\n", at) + 1
    return at


def _mended(tail: str, *, in_table: bool) -> str:
    if not in_table:
        tail = _TABLE_START.sub("", tail)
    tail = _LONE_MARKER.sub("", tail)
    tail = _HALF_ADDRESS.sub(r"\1", tail)
    tail = _HALF_LABEL.sub(r"\1", tail)
    tail = tail.rstrip().rstrip("*_~`").rstrip()
    return tail + "".join(reversed(_open_delimiters(tail)))


def _open_delimiters(text: str) -> list[str]:
    """The emphasis and code marks that are open at the end of ``text``, outermost first."""
    opened: list[str] = []
    at = 0
    while match := _DELIMITER.search(text, at):
        mark, at = match[0], match.end()
        if mark.startswith("\\"):
            continue
        if mark.startswith("`"):
            end = next((run.end() for run in _BACKTICKS.finditer(text, at) if run[0] == mark), None)
            if end is None:
                return [*opened, mark] if text[at:].strip() else opened
            at = end
            continue
        before, after = text[match.start() - 1 : match.start()], text[at : at + 1]
        if mark in opened and before.strip():
            del opened[opened.index(mark) :]
        elif after.strip() and not (mark.startswith("_") and before.isalnum()):
            opened.append(mark)
    return opened
