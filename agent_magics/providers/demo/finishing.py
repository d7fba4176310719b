"""Last touches that the rules do to a result by themselves, where no tool does them: rounding, doubling.

>>> finish("round it to 1 digit").work(88.628)
88.6
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from agent_magics.providers.demo.figures import numbers
from agent_magics.providers.demo.words import words

_TOUCHES: dict[str, tuple[str, Callable[[float], float]]] = {
    "double": ("Doubled", lambda value: value * 2),
    "triple": ("Tripled", lambda value: value * 3),
    "halve": ("Halved", lambda value: value / 2),
    "square": ("Squared", lambda value: value * value),
    "negate": ("Negated", lambda value: -value),
}


@dataclass(frozen=True, kw_only=True)
class Finish:
    """A touch: what the result is called then, and how it comes about."""

    name: str
    work: Callable[[float], float]


def finish(request: str) -> Finish | None:
    """The touch that a request asks for, if it is one."""
    for word in words(request):
        if word == "round":
            return Finish(name="Rounded", work=_rounding(request))
        if word in _TOUCHES:
            name, work = _TOUCHES[word]
            return Finish(name=name, work=work)
    return None


def _rounding(request: str) -> Callable[[float], float]:
    digits = next((int(number.value) for number in numbers(request) if 0 <= number.value <= 12), 0)
    return lambda value: round(value, digits) if digits else round(value)
