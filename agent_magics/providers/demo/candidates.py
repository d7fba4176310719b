"""What a text offers for one parameter, from the surest evidence to the weakest.

Sure is what the text itself labels with the parameter's name (``width=30``, *page Berlin*, *2 digits*) or
what carries its unit (30 °C for ``celsius``). Then come forms that fit its name or description (files,
addresses, dates, units, variables), quotations, and phrases behind a preposition.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass, field

from agent_magics.providers.demo import evidence
from agent_magics.providers.demo.dates import dates
from agent_magics.providers.demo.figures import numbers, whole
from agent_magics.providers.demo.lexicon import Lexicon
from agent_magics.providers.demo.passage import Passage
from agent_magics.providers.demo.shape import Schema, kind
from agent_magics.providers.demo.words import STOP, meaning, singular, words
from agent_magics.talk import JSON

SOURCES = frozenset({"from", "source", "src", "old"})
TARGETS = frozenset({"to", "target", "into", "new", "dest", "destination"})
BACK = re.compile(r"\b(?:it|its|that|this|them|the (?:result|answer|value|outcome|output))\b", re.IGNORECASE)
"""Words that point at an earlier result."""

_VARIABLE = re.compile(r"\b(?:notebook )?variable\b|\bdata ?frame\b", re.IGNORECASE)
_FIGURES = re.compile(r"[\d\s.,%+-]+")
_PATH = re.compile(r"[\w./ -]{1,200}")
READ = 4_000
"""Characters of a prompt that are searched for labels and addresses."""

Candidate = tuple[str, JSON]
"""What a value rests on, and the value; of numbers the place, since two may be equal."""


@dataclass
class Supply:
    """What a text offers and has not been used yet.

    Parameters
    ----------
    said : str
        The words by which the tool was told; they are no arguments.
    """

    passage: Passage
    lexicon: Lexicon
    said: str = ""
    used: set[str] = field(default_factory=set[str])

    def take(self, candidate: Candidate) -> bool:
        """Use a piece of evidence; false if it is used up."""
        key = candidate[0] if candidate[0].startswith("number") else f"{candidate[0]} {candidate[1]!r}"
        fresh = key not in self.used
        self.used.add(key)
        return fresh


def surely(name: str, schema: Schema, supply: Supply) -> Iterator[Candidate]:
    """What the text labels with the parameter's name, or gives in its unit."""
    match kind(schema):
        case "number" | "integer":
            yield from _labelled_numbers(name, schema, supply)
        case "boolean":
            yield from _switches(name, supply.passage.bare)
        case "string":
            for label in evidence.all_labelled(supply.passage.whole[:READ], name.replace("_", " ")):
                if label and label.casefold() not in STOP and not is_said(label, supply.said):
                    yield "text", label
        case _:
            pass


def perhaps(name: str, schema: Schema, items: Schema, supply: Supply) -> Iterator[Candidate]:
    """What fits the parameter by its form or its place; ``items`` is the schema of a list's items."""
    match kind(schema):
        case "number" | "integer":
            found = numbers(supply.passage.open)
            yield from _of_kind([(number.start, number.value) for number in found], schema)
        case "string":
            yield from _texts(name, schema, supply)
        case "array":
            yield from _lists(name, items, supply)
        case _:
            pass


def is_said(text: str, where: str, *, bent: bool = False) -> bool:
    """Whether ``text`` stands in ``where`` as whole words; ``bent`` admits *softly* for *soft*."""
    spoken = re.escape(text.replace("_", " ")) + (r"(?:ly|s|ed)?" if bent else "")
    return bool(text) and bool(re.search(rf"(?<!\w){spoken}(?!\w)", where.replace("_", " "), re.IGNORECASE))


def _labelled_numbers(name: str, schema: Schema, supply: Supply) -> Iterator[Candidate]:
    text = supply.passage.open
    told = r"[ _]".join(map(re.escape, singular(name).split("_")))
    before = re.compile(rf"\b{told}s?\s*(?:=|:|is|of|to)?\s*$", re.IGNORECASE)
    behind = re.compile(rf"\s*{told}s?\b", re.IGNORECASE)
    labelled = [
        (number.start, number.value)
        for number in numbers(text)
        if before.search(text[max(0, number.start - 40) : number.start]) or behind.match(text, number.end)
    ]
    asked = {meaning(word) for word in words(f"{name} {schema.get('description', '')}")}
    own = supply.lexicon.find(name.replace("_", " "))
    in_unit = [
        (quantity.start, quantity.value)
        for quantity in supply.lexicon.quantities(text)
        if meaning(quantity.unit.name.split()[-1]) in asked or (own and own.name == quantity.unit.name)
    ]
    yield from _of_kind([*labelled, *in_unit], schema)


def _switches(name: str, text: str) -> Iterator[Candidate]:
    """*with NAME*, *without NAME*, ``NAME=true``."""
    told = r"[\s_-]+".join(map(re.escape, name.split("_")))
    set_to = re.search(rf"\b{told}\s*(?:=|:|is)\s*(?P<said>true|yes|on|false|no|off)\b", text, re.IGNORECASE)
    if set_to:
        yield name, set_to["said"].casefold() in ("true", "yes", "on")
    elif re.search(rf"\b(?:without|no|not|don't|never)\s+(?:\w+\s+)?{told}", text, re.IGNORECASE):
        yield name, False
    elif re.search(rf"\b{told}(?:ly)?\b", text, re.IGNORECASE):
        yield name, True


def _texts(name: str, schema: Schema, supply: Supply) -> Iterator[Candidate]:
    passage = supply.passage
    about = f"{name} {schema.get('description', '')}".casefold()
    if _VARIABLE.search(about):
        yield from (("text", named) for named in _variables(passage))
        return
    yield from (("text", text) for text in _by_form(set(words(name)), about, schema, supply))
    yield from (("text", text) for text in (*passage.quoted, *passage.named, passage.tail) if text)
    loose = [*evidence.phrases(passage.clean), *evidence.proper_names(passage.clean)]
    yield from (("text", text) for text in loose if not (BACK.fullmatch(text) or _FIGURES.fullmatch(text)))


def _by_form(parts: set[str], about: str, schema: Schema, supply: Supply) -> Iterator[str]:
    """Texts of the form that the parameter's name or description speaks of."""
    passage = supply.passage
    text = passage.whole[:READ]
    if parts & {"path", "file", "filename"} or "file" in about:
        yield from evidence.files(text)
        yield from filter(_PATH.fullmatch, passage.quoted)
    if "url" in about or schema.get("format") == "uri":
        yield from evidence.urls(text)
    if "mail" in about:
        yield from evidence.emails(text)
    if "date" in about or parts & {"day", "start", "end"}:
        yield from (date.day.isoformat() for date in dates(passage.open))
    if "unit" in about or parts & (SOURCES | TARGETS):
        yield from _units(parts, supply)


def _units(parts: set[str], supply: Supply) -> list[str]:
    """The unit that is converted for a parameter such as ``from_unit``, the other for ``to_unit``."""
    text = supply.passage.open
    quantities = supply.lexicon.quantities(text)
    inside = [range(quantity.start, quantity.end) for quantity in quantities]
    named = [
        unit.name
        for unit, start, _ in supply.lexicon.mentions(text)
        if not any(start in span for span in inside)
    ]
    sources = [quantity.unit.name for quantity in quantities] or named[:1]
    targets = named if quantities else named[1:]
    if parts & TARGETS:
        return targets
    return sources if parts & SOURCES else [*sources, *targets]


def _variables(passage: Passage) -> list[str]:
    identifiers = [text for text in evidence.phrases(passage.clean) if text.isidentifier()]
    quoted = [text for text in passage.quoted if text.isidentifier()]
    return [*passage.named, *quoted, *reversed(identifiers)]


def _lists(name: str, items: Schema, supply: Supply) -> Iterator[Candidate]:
    passage = supply.passage
    if kind(items) in ("number", "integer"):
        found = _of_kind([(number.start, number.value) for number in numbers(passage.open)], items)
        if values := [value for place, value in found if place not in supply.used]:
            yield name, values
        return
    parts = [part for part in re.split(r"\s*(?:[,;\n]|\band\b)\s*", passage.tail) if part]
    if texts := list(passage.quoted) or parts:
        yield name, texts


def _of_kind(found: list[tuple[int, int | float]], schema: Schema) -> list[Candidate]:
    """Numbers with their places, as candidates for ``schema``: only whole ones for an integer."""
    if kind(schema) == "integer":
        found = [(place, value) for place, value in found if whole(value) == int(value)]
    return [(f"number {place}", whole(value)) for place, value in found]
