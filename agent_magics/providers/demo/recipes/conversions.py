"""The recipe for conversions: any unit into any other of its kind, with source that shows its steps.

>>> conversion = read("how many feet are in a mile?", Lexicon())
>>> str(conversion)
'1 miles to feet'
>>> job(conversion).draft.name
'miles_to_feet'
"""

from __future__ import annotations

import math
import re
from collections.abc import Mapping
from dataclasses import dataclass

from agent_magics.providers.demo.figures import figure, is_exact, literal
from agent_magics.providers.demo.lexicon import Lexicon
from agent_magics.providers.demo.recipes.converters import converter, origin, parameter
from agent_magics.providers.demo.recipes.draft import Job
from agent_magics.providers.demo.units import UNITS, Unit, convert
from agent_magics.providers.demo.words import singular
from agent_magics.talk import JSON

_TARGET = re.compile(
    r"\b(?:in|into|to|as|how\s+many|number\s+of|many)\s+(?=[°\w])|(?:→|->|=)\s*(?=[°\w])", re.IGNORECASE
)
_ONE = re.compile(r"\b(?:an?|one|each|every)\s+(?=\w)", re.IGNORECASE)
_ABSOLUTE = UNITS["kelvin"]


@dataclass(frozen=True, kw_only=True)
class Conversion:
    """A value to be converted; without a value it is the conversion itself that is asked for."""

    value: float | None
    source: Unit
    target: Unit

    def __str__(self) -> str:
        value = "" if self.value is None else f"{literal(self.value)} "
        return f"{value}{self.source.name} to {self.target.name}"


def read(text: str, lexicon: Lexicon) -> Conversion | None:
    """The conversion that ``text`` asks for, if its units are known and of one kind."""
    text = _without_definitions(text, lexicon)
    targets = _targets(text, lexicon)
    for quantity in lexicon.quantities(text):
        for unit, start in targets:
            apart = not quantity.start <= start < quantity.end
            if apart and unit.kind == quantity.unit.kind and unit.name != quantity.unit.name:
                return Conversion(value=quantity.value, source=quantity.unit, target=unit)
    return _without_value(text, targets, lexicon)


def obstacle(text: str, lexicon: Lexicon) -> str:
    """Why a text that looks like a conversion can't be one: an unknown unit, or two of different kinds."""
    text = _without_definitions(text, lexicon)
    quantities = lexicon.quantities(text)
    if not quantities:
        return ""
    source = quantities[0].unit
    for unit, _ in _targets(text, lexicon):
        if unit.kind != source.kind:
            return (
                f"{source.name} measure {source.kind}, {unit.name} measure {unit.kind}: "
                "no number turns one into the other."
            )
    if unknown := re.search(
        r"\b(?:how many|convert\b.{1,60}?\b(?:in)?to|\bin)\s+([^\W\d_]{3,30})\s*\??", text, re.IGNORECASE
    ):
        word = unknown.group(1)
        if lexicon.find(word) is None and not re.search(rf"\bin\s+{word}\s+\w", text):
            example = f"a {singular(word)} is 3.7 {source.name}"
            return f"I know no unit called “{word}”. Define it, for example: “{example}”."
    return ""


def job(conversion: Conversion) -> Job:
    """The job of one conversion."""
    source, target = conversion.source, conversion.target
    name = parameter(source)

    def work(**arguments: JSON) -> JSON:
        value = float(arguments[name])
        if not math.isfinite(value):
            raise ValueError(f"{name} must be a finite number, not {value!r}")
        if source.kind == "temperature" and convert(value, source, _ABSOLUTE) < 0:
            raise ValueError(f"{literal(value)} {source.symbol} is below absolute zero")
        return convert(value, source, target)

    def tell(value: JSON, arguments: Mapping[str, JSON]) -> str:
        said = _quantity(arguments.get(name, conversion.value), source)
        return f"{said} {'is' if is_exact(value) else 'is about'} **{_quantity(value, target)}**."

    return Job(
        draft=converter(source, target, _example(conversion)),
        work=work,
        tell=tell,
        arguments={} if conversion.value is None else {name: conversion.value},
        hole=name if conversion.value is None else "",
        question=f"convert {conversion}",
        conversion=(source.name, target.name),
        origin=origin(source, target),
    )


def _example(conversion: Conversion) -> float:
    """A value to try the converter with: the one that is asked for, unless it can't be."""
    value = 30 if conversion.value is None else conversion.value
    cold = conversion.source.kind == "temperature" and convert(value, conversion.source, _ABSOLUTE) < 0
    return 300 if cold else value


def _quantity(value: JSON, unit: Unit) -> str:
    """``86 °F``, ``2,702.7 blorps``, ``1 mile``."""
    if value is None:
        return unit.name
    name = unit.symbol if unit.kind == "temperature" else unit.one if value == 1 else unit.name
    return f"{figure(value)} {name}"


def _without_definitions(text: str, lexicon: Lexicon) -> str:
    for start, end in reversed(lexicon.learn(text)):
        text = text[:start] + " " * (end - start) + text[end:]
    return text


def _targets(text: str, lexicon: Lexicon) -> list[tuple[Unit, int]]:
    places = [match.end() for match in _TARGET.finditer(text)]
    return [(read[0], at) for at in places if (read := lexicon.read(text, at))]


def _without_value(text: str, targets: list[tuple[Unit, int]], lexicon: Lexicon) -> Conversion | None:
    """*How many feet are in a mile?* asks for one; *miles to feet* asks for the conversion itself."""
    for match in _ONE.finditer(text):
        if (read := lexicon.read(text, match.end())) and (target := _fitting(read[0], targets)):
            return Conversion(value=1, source=read[0], target=target)
    for unit, start, _ in lexicon.mentions(text):
        others = [(target, at) for target, at in targets if at != start]
        if target := _fitting(unit, others):
            return Conversion(value=None, source=unit, target=target)
    return None


def _fitting(source: Unit, targets: list[tuple[Unit, int]]) -> Unit | None:
    fitting = (unit for unit, _ in targets if unit.kind == source.kind and unit.name != source.name)
    return next(fitting, None)
