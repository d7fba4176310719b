"""Numbers: found in a text as people write them, and written as people read them.

Digits of every script count (٣٠, ३०), as do ``1,234.5``, ``1.234,5``, ``2½``, ``3/4``, ``-1.5e3`` and
*thirty-two*. A single comma with three digits behind it separates thousands (``1,234``); any other single
comma is a decimal comma (``3,5``); in a list such as ``3,5,9`` commas separate items.

>>> [found.value for found in numbers("from −40 to 1,250.5, and thirty-two")]
[-40, 1250.5, 32]
>>> figure(1250.5), figure(2702.7027), figure(6.02e23)
('1,250.5', '2,702.7', '6.02 × 10²³')
"""

from __future__ import annotations

import math
import re
import unicodedata
from collections.abc import Iterator
from dataclasses import dataclass

_DIGITS = re.compile(
    r"""
    (?: (?<![\w.,)\]])[-+](?=\.?\d) )?                      # a sign, unless it stands between two things
    (?<![\w.])
    (?: \d{1,3}(?:,\d{3})+(?:\.\d+)?(?!,?\d)                # 1,234,567.8
      | \d{1,3}(?:\.\d{3})+,\d+(?![\d,.])                   # 1.234,56
      | (?<!\d,)\d+,\d+(?!\d*[ ]?,?\d)                       # 3,5
      | \d+[ ]?/[ ]?\d+(?![/\d])                            # 3/4
      | \d*[ ]?[¼-¾⅐-⅞]                                      # 2½
      | \d+\.\d+ | \d+ | \.\d+
    )
    (?:[eE][-+]?\d{1,3}(?!\w))?
    """,
    re.VERBOSE,
)
_ONES = """
    zero one two three four five six seven eight nine ten eleven twelve thirteen fourteen fifteen sixteen
    seventeen eighteen nineteen
"""
_TENS = "twenty thirty forty fifty sixty seventy eighty ninety"
_SPOKEN = {word: value for value, word in enumerate(_ONES.split())} | {
    word: 20 + 10 * place for place, word in enumerate(_TENS.split())
}
_SCALES = {"dozen": 12, "hundred": 100, "thousand": 1_000, "million": 10**6, "billion": 10**9}
_WORD = "|".join((*_SPOKEN, *_SCALES))
_WORDS = re.compile(rf"\b(?:(?:a|half a)\s)?(?:{_WORD})(?:[\s-]+(?:and\s+)?(?:{_WORD}))*\b", re.IGNORECASE)
_SUPER = str.maketrans("-0123456789", "⁻⁰¹²³⁴⁵⁶⁷⁸⁹")


EXACT = 60
"""Digits up to which whole numbers are shown whole."""


@dataclass(frozen=True, kw_only=True, slots=True)
class Number:
    """A number and where it stands."""

    value: int | float
    start: int
    end: int


def numbers(text: str) -> list[Number]:
    """The numbers in ``text``, in order."""
    text = plain_digits(text)
    found = [*_written(text), *_in_words(text)]
    return sorted(found, key=lambda number: number.start)


def figure(value: float) -> str:
    """A number for people: thousands apart, about six digits, powers of ten for the very large and small."""
    if isinstance(value, int) and abs(value) < 10**EXACT:
        return f"{value:,}"
    if not _is_finite(value):
        return str(value)
    if value == 0:
        return "0"
    if 1e-4 <= abs(value) < 1e15:
        power = math.floor(math.log10(abs(value)))
        digits = max(2, 5 - power)
        return f"{value:,.{digits}f}".rstrip("0").rstrip(".")
    mantissa, power = f"{_as_float(value):.5e}".split("e")
    return f"{mantissa.rstrip('0').rstrip('.')} × 10{str(int(power)).translate(_SUPER)}"


def is_exact(value: float) -> bool:
    """Whether :func:`figure` shows the number itself and not a rounded one."""
    if not _is_finite(value) or abs(value) >= 1e15:
        return isinstance(value, int) and abs(value) < 10**EXACT
    shown = figure(value).replace(",", "")
    return "×" not in shown and math.isclose(float(shown), value, rel_tol=1e-12, abs_tol=1e-300)


def literal(value: float) -> str:
    """A number as it may stand in a question or in code: 86.0 as ``86``."""
    return str(whole(value))


def whole(value: float) -> int | float:
    """A number without a fraction as an ``int``."""
    return int(value) if isinstance(value, float) and value.is_integer() and abs(value) < 1e15 else value


def plain_digits(text: str) -> str:
    """The text with every script's digits and minus signs as ASCII, at the same places."""
    if text.isascii():
        return text
    return re.sub(r"[^\x00-\x7f]", lambda found: _plain_digit(found.group()), text)


def _plain_digit(character: str) -> str:
    if unicodedata.category(character) == "Nd":
        return str(unicodedata.decimal(character))
    return {"−": "-", "–": "-", "٫": ".", "٬": ",", "\u00a0": " ", "\u202f": " "}.get(character, character)


def _written(text: str) -> Iterator[Number]:
    for match in _DIGITS.finditer(text):
        value = _value(match.group())
        if value is not None:
            yield Number(value=value, start=match.start(), end=match.end())


def _value(text: str) -> int | float | None:
    text = text.replace(" ", "")
    if len(text) > 300:
        return None
    if text[-1] in "¼½¾" or unicodedata.category(text[-1]) == "No":
        return float(text[:-1] or 0) + unicodedata.numeric(text[-1])
    if "/" in text:
        above, below = text.split("/")
        return int(above) / int(below) if int(below) else None
    text = re.sub(r",(?=\d{3}(?:[,.\D]|$))", "", text) if not re.search(r"\.\d+,", text) else text
    if "," in text:
        text = text.replace(".", "").replace(",", ".")
    value = float(text)
    if not math.isfinite(value):
        return None
    return int(text) if re.fullmatch(r"[-+]?\d+", text) else value


def _in_words(text: str) -> Iterator[Number]:
    """Numbers in English words; a lone *one* is rarely meant as a number."""
    for match in _WORDS.finditer(text):
        said = match.group().casefold()
        if said != "one":
            yield Number(value=_spoken(said), start=match.start(), end=match.end())


def _spoken(said: str) -> int | float:
    total, current = 0, 0
    for word in re.findall(r"[a-z]+", said):
        if word in _SPOKEN:
            current += _SPOKEN[word]
        elif word in ("dozen", "hundred"):
            current = max(current, 1) * _SCALES[word]
        elif word in _SCALES:
            total, current = total + max(current, 1) * _SCALES[word], 0
    value = total + current
    return whole(value / 2) if said.startswith("half a") else value


def _is_finite(value: float) -> bool:
    return isinstance(value, int) or math.isfinite(value)


def _as_float(value: float) -> float:
    try:
        return float(value)
    except OverflowError:
        return math.inf if value > 0 else -math.inf
