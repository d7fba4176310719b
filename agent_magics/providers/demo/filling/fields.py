"""What a text offers for one field of a schema, the surest first."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from functools import cache

from agent_magics.providers.demo import evidence
from agent_magics.providers.demo.candidates import is_said
from agent_magics.providers.demo.dates import dates
from agent_magics.providers.demo.figures import numbers, whole
from agent_magics.providers.demo.filling.names import people, places
from agent_magics.providers.demo.lexicon import Lexicon
from agent_magics.providers.demo.shape import Schema, kind
from agent_magics.providers.demo.units import Unit, convert
from agent_magics.providers.demo.words import STOP, stem, word_set, words
from agent_magics.providers.loose import items
from agent_magics.talk import JSON

_PHONE = re.compile(r"(?<![\w.-])\+?\(?\d[\d ()/-]{5,18}\d(?![\w-])")
_MONEY = re.compile(
    r"(?:[$€£¥₹]|\b(?:USD|EUR|GBP|CHF|JPY)\b)\s*$|^\s*(?:[$€£¥₹]|(?:USD|EUR|GBP|CHF|JPY|dollars?|euros?|pounds?|cents?)\b)",
    re.IGNORECASE,
)
_AGE = re.compile(r"\s*[- ]?\s*(?:years?[- ]olds?|yo\b|y/o\b|jahre)", re.IGNORECASE)
_AGED = re.compile(r"\b(?:aged?|age is|turned|turns)\s+$", re.IGNORECASE)
_NOT = re.compile(
    r"\b(?:not|no|never|without|isn't|isn’t|aren't|doesn't|don't|hasn't|cannot|can't|non|un)\b[\w\s]{0,20}$"
    r"|\b(?:in|un|non-?)$",
    re.IGNORECASE,
)
_PAIR = re.compile(r"(?P<key>[^\W\d][\w ]{0,40}?)\s*[:=]\s*(?P<value>[^\n,;]+)")
_YES, _NO = word_set("yes true on y ja enabled"), word_set("no false off n nein disabled none")

_PROSE = word_set(
    "description summary issue problem reason comment note notes text message details bug error finding"
)
_THINGS = word_set(
    "title product company organisation organization team project item subject brand model language event"
)
_PEOPLE = word_set(
    "name person author who customer user owner employee speaker sender recipient student patient contact"
)
_PLACES = word_set("city place town country location where region address residence home")
_DATES = word_set("date day birthday born birthdate due deadline when start end since until begin published")
_PRICES = word_set("price cost amount total fee salary budget sum value paid")


_UNMISTAKABLE = (evidence.emails, evidence.urls, evidence.files)
"""Forms that a text has or has not."""


@dataclass(frozen=True, kw_only=True)
class Find:
    """A value, and what it rests on: a piece of the text that is used only once."""

    value: JSON
    rests_on: str


def candidates(labels: tuple[str, ...], schema: Schema, text: str, *, sure: bool) -> Iterator[Find]:
    """What ``text`` offers for a field with these names; ``sure`` asks for what can hardly be for another."""
    if "const" in schema:
        return
    if choices := items(schema.get("enum")):
        yield from _choices(choices, labels, text, sure)
        return
    match kind(schema):
        case "string":
            yield from _texts(labels, schema, text, sure)
        case "integer" | "number":
            yield from _numbers(labels, schema, text, sure)
        case "boolean":
            yield from _truths(labels, text) if sure else iter(())
        case _:
            pass


def _choices(choices: list[JSON], labels: tuple[str, ...], text: str, sure: bool) -> Iterator[Find]:
    """The values of an enumeration that are said, under the label first, then anywhere."""
    labelled = [evidence.labelled(text, label) for label in labels]
    for choice in choices:
        said = str(choice).replace("_", " ")
        if any(is_said(said, label) for label in labelled):
            yield Find(value=choice, rests_on=f"choice {said}")
    if not sure:
        places = [(match.start(), choice) for choice in choices if (match := _said_at(str(choice), text))]
        yield from (
            Find(value=choice, rests_on=f"choice {choice}")
            for _, choice in sorted(places, key=lambda pair: pair[0])
        )


def _said_at(choice: str, text: str) -> re.Match[str] | None:
    spoken = r"[\s_-]+".join(map(re.escape, re.split(r"[\s_-]+", choice.strip())))
    return re.search(rf"(?<!\w){spoken}(?:s|ed|ly)?(?!\w)", text, re.IGNORECASE) if spoken else None


def _texts(labels: tuple[str, ...], schema: Schema, text: str, sure: bool) -> Iterator[Find]:
    said = set(words(" ".join(labels)))
    form = _form(said, schema)
    if sure:
        for label in labels:
            if value := evidence.labelled_with_mark(text, label):
                fitting = form(value)[:1] if form else []
                if fitting or form not in _UNMISTAKABLE:  # "the file is closed" names no file
                    yield from _finds(fitting or [value])
        if form and not (said & (_PEOPLE | _PLACES)):
            yield from _finds(form(text))
        if pattern := schema.get("pattern"):
            yield from _finds(_matching(str(pattern), text))
        return
    yield from _finds(form(text) if form else [])
    if form is None:
        yield from _finds(value for label in labels if (value := evidence.labelled(text, label)))
        yield from _finds(_loosely(said, text))


def _loosely(said: set[str], text: str) -> list[str]:
    """For a field of no special form: a sentence, a name, or a quotation, as its own name suggests."""
    if said & _PROSE:
        return _prose(text)
    if not said:
        return [*evidence.quotations(text), *people(text), *_prose(text)]
    return [*evidence.quotations(text), *(evidence.proper_names(text) if said & _THINGS else ())]


def _form(said: set[str], schema: Schema) -> Callable[[str], list[str]] | None:
    """The finder for the form that a field's format or name asks for."""
    form = str(schema.get("format", ""))
    if form == "email" or said & word_set("email mail"):
        return evidence.emails
    if form in ("uri", "url") or said & word_set("url link website homepage uri"):
        return evidence.urls
    if form == "date" or (not form and said & _DATES):
        return lambda text: [date.day.isoformat() for date in dates(text)]
    if form == "date-time":
        return lambda text: [f"{date.day.isoformat()}T00:00:00Z" for date in dates(text)]
    if said & word_set("file path filename"):
        return evidence.files
    if said & word_set("phone telephone mobile tel fax"):
        return lambda text: [match.group() for match in _PHONE.finditer(text)]
    if said & _PLACES:
        return places
    return people if said & _PEOPLE else None


def _prose(text: str) -> list[str]:
    """What is said, without the labels before it: behind the last colon of a line, else in a sentence."""
    behind = [line.rpartition(": ")[2].strip() for line in text.splitlines() if ": " in line]
    said = [part for part in behind if len(part.split()) > 1] or evidence.sentences(text)
    return sorted((part.strip(" -*•") for part in said), key=len, reverse=True)


def _numbers(labels: tuple[str, ...], schema: Schema, text: str, sure: bool) -> Iterator[Find]:
    said = set(words(" ".join((*labels, str(schema.get("description", ""))))))
    found = numbers(text)
    if sure:
        for label in labels:
            yield from _labelled_numbers(label, schema, text)
        yield from (find for unit in _units(labels, schema) for find in _in_unit(unit, schema, text))
        for number in found:
            before, behind = (
                text[max(0, number.start - 12) : number.start],
                text[number.end : number.end + 16],
            )
            age = "age" in said and (_AGE.match(behind) or _AGED.search(before))
            money = said & _PRICES and (_MONEY.search(before) or _MONEY.search(behind))
            noun = re.match(r"\s+([^\W\d_]+)", behind)
            counted = noun and any(
                stem(noun.group(1)) == stem(word) for label in labels for word in words(label)
            )
            if age or money or counted:
                yield from _number(number.value, number.start, schema)
        return
    spoken_for = [(date.start, date.end) for date in dates(text)]
    for number in found:
        if not any(start <= number.start < end for start, end in spoken_for):
            yield from _number(number.value, number.start, schema)


def _labelled_numbers(label: str, schema: Schema, text: str) -> Iterator[Find]:
    told = r"[\s_-]+".join(map(re.escape, label.split()))
    before = re.compile(
        rf"(?<!\w){told}\s*(?:=|:|\bis\b|\bof\b|\bwas\b|#|no\.)?\s*[$€£¥]?\s*$", re.IGNORECASE
    )
    for number in numbers(text):
        if before.search(text, max(0, number.start - 60), number.start):
            yield from _number(number.value, number.start, schema)


def _units(labels: tuple[str, ...], schema: Schema) -> list[Unit]:
    """The unit that a field's name or description ends in: ``weight_kg``, *height in metres*."""
    told = [label.split()[-1] for label in labels if len(label.split()) > 1]
    told += re.findall(r"\bin ([\w/°²³ ]{1,30})", str(schema.get("description", "")))
    return [unit for phrase in told if (unit := _units_known().find(phrase.strip()))]


@cache
def _units_known() -> Lexicon:
    return Lexicon()


def _in_unit(unit: Unit, schema: Schema, text: str) -> Iterator[Find]:
    for quantity in _units_known().quantities(text):
        if quantity.unit.kind == unit.kind:
            same = quantity.unit.name == unit.name
            value = quantity.value if same else round(convert(quantity.value, quantity.unit, unit), 6)
            yield from _number(value, quantity.start, schema)


def _number(value: float, at: int, schema: Schema) -> Iterator[Find]:
    value = whole(value)
    if kind(schema) == "number" or isinstance(value, int):
        yield Find(value=value, rests_on=f"number {at}")


def _truths(labels: tuple[str, ...], text: str) -> Iterator[Find]:
    """Whether the field is said of the subject: *is active*, *not active*, ``active: yes``."""
    for label in labels:
        told = evidence.labelled_with_mark(text, label).casefold()
        if told in _YES or told in _NO:
            yield Find(value=told in _YES, rests_on=f"truth {label}")
            return
        telling = [word for word in words(label) if word not in STOP] or words(label)
        stems = {stem(word) for word in telling}
        for match in re.finditer(r"[^\W\d_]+", text):
            if stem(match.group()) in stems:
                denied = _NOT.search(text, max(0, match.start() - 30), match.start())
                yield Find(value=denied is None, rests_on=f"truth {label}")
                return


def free_pairs(text: str, schema: Schema) -> dict[str, JSON]:
    """``key: value`` pairs for an object whose keys are free."""
    pairs: dict[str, JSON] = {}
    for match in _PAIR.finditer(text):
        if find := next(candidates((), schema, match["value"], sure=False), None):
            pairs[match["key"].strip()] = find.value
    return pairs


def _matching(pattern: str, text: str) -> list[str]:
    try:
        found = re.finditer(pattern.removeprefix("^").removesuffix("$"), text[:2_000])
        return [match.group() for match in found if match.group()]
    except re.error:
        return []


def _finds(values: Iterable[str]) -> Iterator[Find]:
    return (Find(value=value, rests_on=f"text {value}") for value in values)
