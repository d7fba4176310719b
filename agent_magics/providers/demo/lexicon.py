"""The names of units, and units that somebody makes up in the prompt.

A lexicon reads *km/h*, *miles per hour*, *square feet*, *m²* or *°C* at a place in a text. What the table
lacks it composes: *furlongs per fortnight* is a length over a time, *square furlongs* an area. A definition
such as *a blorp is 3.7 metres* adds a unit of its own; so does one whose measure is unknown too (*a zib is 12
blorps*).

>>> lexicon = Lexicon.of("A blorp is 3.7 metres.")
>>> lexicon.find("blorps").origin
'1 blorp = 3.7 metres'
>>> [str(each) for each in lexicon.quantities("5 ft 11 in, 80 km/h and 2 square furlongs")]
['5.916666666666667 feet', '80 kilometres per hour', '2 square furlongs']
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from fractions import Fraction

from agent_magics.providers.demo.figures import Number, figure, literal, numbers, plain_digits
from agent_magics.providers.demo.units import UNITS, Unit, convert
from agent_magics.providers.demo.words import plural, singular

_PIECE = r"(?:°\s?)?[^\W\d_]+(?:[²³]|\^[23])?"
_PHRASE = re.compile(rf"\s*(?P<degrees>(?:degrees?|deg)\b\s*)?(?P<first>{_PIECE})")
_NEXT = re.compile(rf"(?P<join>\s*/\s*|[ \t-]){_PIECE}")
_DEFINITION = re.compile(
    r"""\b(?:an?|one|1|every|each)\s+(?P<name>[^\W\d_]{2,30})\s*
        (?:=|\bis\b|\bequals\b|\bmeans\b|\bmeasures\b|\bweighs\b|\blasts\b|\bholds\b|\bare\b|\bas\b)
        \s*(?:exactly\s+|equal\s+to\s+)?(?=[-+\d.½¼¾]|[a-z]+[\s-])""",
    re.VERBOSE | re.IGNORECASE,
)
_SQUARE = re.compile(r"^(?:square|sq)\s+(.+)$|^(.+?)(?:²|\^2|\s+squared)$")
_CUBIC = re.compile(r"^(?:cubic|cu)\s+(.+)$|^(.+?)(?:³|\^3|\s+cubed)$")
_RATE = re.compile(r"^(.+?)\s*(?:/|\bper\b|\ban?\b)\s*(.+)$")
_NOT_ALONE = frozenset({"in", "a", "as", "at", "to", "d", "us"})
"""Symbols that are words first: read as units only directly behind a number."""


@dataclass(frozen=True, kw_only=True, slots=True)
class Quantity:
    """A number with its unit, and where it stands."""

    value: float
    unit: Unit
    start: int
    end: int

    def __str__(self) -> str:
        return f"{literal(self.value)} {self.unit.name}"


class Lexicon:
    """Finds units by name.

    Parameters
    ----------
    invented : iterable of Unit
        Units beyond the table; their names win.
    """

    def __init__(self, invented: Iterable[Unit] = ()) -> None:
        self._exact: dict[str, Unit] = {}
        self._loose: dict[str, Unit] = {}
        self._found: dict[str, Unit | None] = {}
        for unit in (*UNITS.values(), *invented):
            self.add(unit)

    @classmethod
    def of(cls, *texts: str) -> Lexicon:
        """The table, and what these texts define, in order; the last definition of a name holds."""
        lexicon = cls()
        for text in texts:
            lexicon.learn(text)
        return lexicon

    def add(self, unit: Unit) -> None:
        """Take a unit in under all its names."""
        self._found.clear()
        for name in (unit.name, unit.one, *unit.aliases, unit.symbol, unit.symbol.replace("°", "")):
            self._exact[name] = unit
            if unit.origin or len(name) > 2:
                self._loose[name.casefold()] = unit
            else:
                self._loose.setdefault(name.casefold(), unit)

    def learn(self, text: str) -> list[tuple[int, int]]:
        """Take in the definitions of ``text``; where they stand."""
        found = _DEFINITION.finditer(plain_digits(text))
        places = [(match.start(), self._define(match["name"], text, match.end())) for match in found]
        return [(start, end) for start, end in places if end]

    def find(self, phrase: str) -> Unit | None:
        """The unit that ``phrase`` names as a whole."""
        if phrase not in self._found:
            self._found[phrase] = self._looked_up(phrase)
        return self._found[phrase]

    def _looked_up(self, phrase: str) -> Unit | None:
        phrase = re.sub(r"\s*°\s*", "", re.sub(r"^(?:degrees?|deg)\s+", "", " ".join(phrase.split())))
        known = self._exact.get(phrase) or self._loose.get(phrase.casefold().replace("-", " "))
        return known or self._composed(phrase)

    def read(self, text: str, at: int) -> tuple[Unit, int] | None:
        """The longest unit name that begins at ``at``, and where it ends."""
        first = _PHRASE.match(text, at)
        if first is None:
            return None
        ends = [first.end()]
        while len(ends) < 6 and (more := _NEXT.match(text, ends[-1])):
            ends.append(more.end())
        for end in reversed(ends):
            if unit := self.find(text[first.start("first") : end]):
                return unit, end
        return None

    def quantities(self, text: str) -> list[Quantity]:
        """The quantities of ``text``, in order; *5 ft 11 in* is one."""
        found: list[Quantity] = []
        for each in self._single(text):
            before = found[-1] if found else None
            if before and _continues(before, each, text):
                more = convert(each.value, each.unit, before.unit)
                found[-1] = Quantity(
                    value=before.value + more, unit=before.unit, start=before.start, end=each.end
                )
            else:
                found.append(each)
        return found

    def mentions(self, text: str) -> Iterator[tuple[Unit, int, int]]:
        """Every unit that is named as a word of its own, without a number, and where."""
        at = 0
        while word := re.compile(r"(?<![\w°])°?[^\W\d_]+").search(text, at):
            read = None if word.group().casefold() in _NOT_ALONE else self.read(text, word.start())
            if read:
                yield read[0], word.start(), read[1]
            at = read[1] if read else word.end()

    def _single(self, text: str) -> Iterator[Quantity]:
        for number in numbers(text):
            read = self.read(text, number.end)
            if read and not _is_preposition(text, number, read[1]):
                yield Quantity(value=number.value, unit=read[0], start=number.start, end=read[1])

    def _define(self, name: str, text: str, at: int) -> int:
        number = next(iter(numbers(text[at : at + 80])), None)
        if number is None or number.start > 1 or number.value <= 0:
            return 0
        read = self.read(text, at + number.end)
        word = re.compile(r"\s+([^\W\d_]{3,30})\b").match(text, at + number.end)
        if read is None and word is None:
            return 0
        base, end = read or (_primitive(word.group(1)), word.end())  # pyright: ignore[reportOptionalMemberAccess]
        if read is None:
            self.add(base)
        one = singular(name.casefold()) if name.casefold() in self._loose else name.casefold()
        origin = f"1 {one} = {figure(number.value)} {base.name if number.value != 1 else base.one}"
        factor = Fraction(str(number.value)) * base.factor
        self.add(_invented(one, base.kind, factor, origin))
        return end

    def _composed(self, phrase: str) -> Unit | None:
        if len(phrase) > 60:
            return None
        for pattern, power in ((_SQUARE, 2), (_CUBIC, 3)):
            if match := pattern.match(phrase):
                side = self.find(match[1] or match[2])
                return _power(side, power) if side and side.kind == "length" else None
        if match := _RATE.match(phrase):
            above, below = self.find(match[1]), self.find(match[2])
            return _rate(above, below) if above and below else None
        return None


def _power(side: Unit, power: int) -> Unit:
    word, sign, kind = ("square", "²", "area") if power == 2 else ("cubic", "³", "volume")
    return Unit(
        name=f"{word} {side.name}",
        one=f"{word} {side.one}",
        symbol=f"{side.symbol}{sign}",
        kind=kind,
        factor=side.factor**power,
        origin=side.origin,
    )


def _rate(above: Unit, below: Unit) -> Unit | None:
    if above.zero or below.zero or "temperature" in (above.kind, below.kind):
        return None
    kind = "speed" if (above.kind, below.kind) == ("length", "time") else f"{above.kind} per {below.kind}"
    return Unit(
        name=f"{above.name} per {below.one}",
        one=f"{above.one} per {below.one}",
        symbol=f"{above.symbol}/{below.symbol}",
        kind=kind,
        factor=above.factor / below.factor,
        origin="; ".join(filter(None, (above.origin, below.origin))),
    )


def _primitive(word: str) -> Unit:
    """A unit of a kind of its own: all that is known is its name."""
    one = singular(word.casefold())
    return _invented(one, one, Fraction(1), f"{one}: known by its name only")


def _invented(one: str, kind: str, factor: Fraction, origin: str) -> Unit:
    many = plural(one)
    return Unit(
        name=many, one=one, symbol=many, kind=kind, factor=factor, aliases=(f"{one}s",), origin=origin
    )


def _continues(before: Quantity, each: Quantity, text: str) -> bool:
    """Whether ``each`` goes on with ``before``, as 11 in after 5 ft does."""
    between = text[before.end : each.start].strip()
    return (
        between in ("", "and")
        and before.unit.kind == each.unit.kind != "temperature"
        and before.unit.factor > each.unit.factor
    )


def _is_preposition(text: str, number: Number, end: int) -> bool:
    """Whether the *in* of ``30 in kelvin`` is no inch; in ``5 in to cm`` it is."""
    following = re.match(r"\s*([^\W\d_]*)", text[end : end + 40])
    word = following.group(1) if following else ""
    return text[number.end : end].strip() in _NOT_ALONE and word not in (
        "",
        "to",
        "in",
        "into",
        "as",
        "and",
        "is",
    )
