"""A prompt, taken apart: the request in bare words, and what it quotes.

What stands in quotation marks, behind a colon or below the first line is material, not request: in *how many
words are in "stop and convert"?* nothing is to be converted. So the rules read ``bare``, where quotations are
blank, and take their material from ``quoted`` and ``tail``.

>>> passage = Passage.of('Count the letter e in "seventeen".')
>>> passage.bare, passage.quoted
('Count the letter e in “”.', ('seventeen',))
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from functools import cached_property

HEAD, FOOT = 2_000, 1_000
"""Characters at the beginning and at the end of a long prompt that are searched for a request."""

_FENCE = re.compile(r"```[^\n`]*\n(.*?)```", re.DOTALL)
_QUOTES = re.compile(
    r"""`([^`\n]+)`|"([^"]*)"|“([^“”]*)”|„([^„“”]*)[“”]|«([^«»]*)»|(?<![\w'])'([^'\n]*)'(?!\w)"""
)
_NAME = re.compile(r"[^\W\d]\w*(?:\.\w+)*")
_COLON = re.compile(r"(?<=[^\W\d])['\"’”)]?:\s+(?=\S)")
_POINTS_AT = re.compile(r"\b(this|that|these|those|following|below|above|it|the text)\b", re.IGNORECASE)


@dataclass(frozen=True, kw_only=True)
class Passage:
    """A text with its request and its material told apart.

    Parameters
    ----------
    whole : str
        The text as it came.
    bare : str
        The request: quotations are blank, names in backticks stay.
    quoted : tuple of str
        The quotations, in order.
    named : tuple of str
        The names in backticks, in order.
    tail : str
        The material behind a colon or apart from the paragraph that asks.
    """

    whole: str
    bare: str
    quoted: tuple[str, ...] = ()
    named: tuple[str, ...] = ()
    tail: str = ""

    @classmethod
    def of(cls, whole: str) -> Passage:
        """Take a text apart. Linear in its length."""
        blocks: list[str] = []
        request, tail = _split(_FENCE.sub(lambda found: _keep(found.group(1), blocks), whole))
        quoted: list[str] = []
        named: list[str] = []

        def blank(found: re.Match[str]) -> str:
            inside = found.group(found.lastindex or 0)
            if found.lastindex == 1 and _NAME.fullmatch(inside):
                named.append(inside)
                return inside
            return _keep(inside, quoted)

        bare = _QUOTES.sub(blank, request)
        if len(bare) > HEAD + FOOT:
            bare = f"{bare[:HEAD]} … {bare[-FOOT:]}"
        return cls(
            whole=whole, bare=bare, quoted=tuple(quoted + blocks), named=tuple(named), tail=_unquoted(tail)
        )

    @cached_property
    def material(self) -> str:
        """The text that the request is about, where it is marked as such; else nothing."""
        return next((text for text in self.quoted if text.strip()), "") or self.tail

    @cached_property
    def open(self) -> str:
        """The request with a short tail: for rules that read quantities and dates."""
        return f"{self.bare} {self.tail}" if self.tail and len(self.tail) <= 300 else self.bare

    @property
    def clean(self) -> str:
        """The request without the punctuation at its end."""
        return self.bare.strip().rstrip("?!. ")


def _keep(text: str, where: list[str]) -> str:
    where.append(text)
    return "“”"


def _split(text: str) -> tuple[str, str]:
    """The request and its tail."""
    colon = _COLON.search(text, 0, 400)
    if colon and text.count('"', 0, colon.start()) % 2 == 0:
        return text[: colon.start() + 1], text[colon.end() :].strip()
    return _by_paragraph(text.strip())


def _by_paragraph(text: str) -> tuple[str, str]:
    """A paragraph that asks and points at the rest is the request; the rest is the tail."""
    top, _, rest = (part.strip() for part in text.partition("\n"))
    if not rest:
        return text, ""
    if len(top) <= 400 and (top.endswith("?") or _POINTS_AT.search(top)):
        return top, rest
    above, _, bottom = text.rpartition("\n")
    if len(bottom) <= 400 and bottom.rstrip().endswith("?") and _POINTS_AT.search(bottom):
        return bottom, above.strip()
    return text, ""


def _unquoted(text: str) -> str:
    """``text`` without quotation marks that enclose the whole of it."""
    pair = text[:1] + text[-1:]
    return text[1:-1] if len(text) > 1 and pair in ('""', "''", "“”", "``", "«»") else text
