"""The source of a converter: any unit into any other of its kind, in steps that can be followed.

A length goes through metres, a mass through kilograms; temperatures are converted at once, since rounding in
between would show. Made-up units come with their definition as a comment.

>>> from agent_magics.providers.demo.lexicon import Lexicon
>>> lexicon = Lexicon.of("a blorp is 3.7 metres")
>>> draft = converter(lexicon.find("km"), lexicon.find("blorp"), example=10)
>>> draft.name, draft.description
('kilometres_to_blorps', 'Convert kilometres to blorps (1 blorp = 3.7 metres).')
"""

from __future__ import annotations

import builtins
import keyword
from fractions import Fraction

from agent_magics.providers.demo.recipes.draft import Draft
from agent_magics.providers.demo.units import UNITS, Unit, line
from agent_magics.providers.demo.words import identifier


def converter(source: Unit, target: Unit, example: float) -> Draft:
    """The tool that converts from ``source`` to ``target``."""
    name, takes = tool_name(source, target), parameter(source)
    what = f"The {source.kind}" if " per " not in source.kind else "The amount"
    told = origin(source, target)
    summary = f"Convert {source.name} to {target.name}" + (f" ({told})." if told else ".")
    return Draft(
        name=name,
        description=summary,
        parameters={
            "type": "object",
            "properties": {takes: {"type": "number", "description": f"{what} in {source.name}"}},
            "required": [takes],
            "additionalProperties": False,
        },
        source=_SOURCE.format(
            name=name,
            takes=takes,
            summary=summary,
            what=f"{what} in {source.name}.",
            returns=f"The same in {target.name}.",
            guard=_guard(source, takes),
            also=" or it is below absolute zero" if source.kind == "temperature" else "",
            body=_body(source, target, takes),
        ),
        example={takes: example},
    )


def origin(*units: Unit) -> str:
    """The definitions of the made-up ones among ``units``."""
    return "; ".join(dict.fromkeys(unit.origin for unit in units if unit.origin))


def tool_name(source: Unit, target: Unit) -> str:
    """``miles_to_feet``; at most 50 characters."""
    return f"{identifier(source.name)}_to_{identifier(target.name)}"[:50].rstrip("_")


def parameter(unit: Unit) -> str:
    """The name of the parameter that takes a value of ``unit``."""
    name = identifier(unit.name)[:40].rstrip("_")
    return _free(name)


_SOURCE = '''\
import math


def {name}({takes}: float) -> float:
    """{summary}

    Parameters
    ----------
    {takes} : float
        {what}

    Returns
    -------
    float
        {returns}

    Raises
    ------
    ValueError
        If the value is not finite{also}.
    """
    if not math.isfinite({takes}):
        raise ValueError(f"{takes} must be a finite number, not {{{takes}!r}}")
{guard}{body}'''


def _guard(unit: Unit, name: str) -> str:
    if unit.kind != "temperature":
        return ""
    lowest = -unit.zero / unit.factor
    return (
        f"    if {name} < {_number(lowest)}:\n"
        f'        raise ValueError(f"{{{name}!r}} {unit.symbol} is below absolute zero")\n'
    )


def _body(source: Unit, target: Unit, name: str) -> str:
    """The lines that compute: over the base unit for what is a product, directly for temperatures."""
    ratio, shift = line(source, target)
    if shift:
        inner = shift / ratio
        if _is_short(shift):
            return f"    return {_times(name, ratio)} {_signed(shift)}\n"
        return f"    return {_times(f'({name} {_signed(inner)})', ratio)}\n"
    base = _base(source)
    if base in (source.name, target.name) or " per " in source.kind:
        return f"{_comment(source, target)}    return {_times(name, ratio)}\n"
    middle = _free(identifier(base))
    return (
        f"{_comment(source)}    {middle} = {_times(name, source.factor)}\n"
        f"{_comment(target)}    return {_times(middle, 1 / target.factor)}\n"
    )


def _free(name: str) -> str:
    """``name``, unless Python has taken it."""
    return f"{name}_value" if keyword.iskeyword(name) or hasattr(builtins, name) else name


def _comment(*units: Unit) -> str:
    return "".join(f"    # {unit.origin}\n" for unit in units if unit.origin)


def _base(unit: Unit) -> str:
    return next(
        (each.name for each in UNITS.values() if each.kind == unit.kind and each.factor == 1), unit.name
    )


def _times(name: str, ratio: Fraction) -> str:
    if ratio == 1:
        return name
    if _is_short(ratio) and ratio.numerator > 1:
        return f"{name} * {_number(ratio)}"
    if _is_short(1 / ratio):
        return f"{name} / {_number(1 / ratio)}"
    if max(ratio.numerator, ratio.denominator) < 10**12:
        return f"{name} * {ratio.numerator} / {ratio.denominator}"
    return f"{name} * {float(ratio)!r}"


def _signed(number: Fraction) -> str:
    return f"- {_number(-number)}" if number < 0 else f"+ {_number(number)}"


def _number(number: Fraction) -> str:
    return str(number.numerator) if number.denominator == 1 else repr(float(number))


def _is_short(number: Fraction) -> bool:
    """Whether the number is a decimal that people would write."""
    return Fraction(_number(number)) == number and len(_number(number)) <= 16
