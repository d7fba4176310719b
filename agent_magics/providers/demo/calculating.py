"""Sums that need no tool: an expression in figures, or the same in words.

The expression is read as Python's grammar reads it, and walked; nothing is evaluated as code. Whole numbers
stay exact, and what would grow without end is refused.

>>> work_out("What is 17 * (23 + 4)?").value
459
>>> work_out("what is 15 percent of 80").value
12
"""

from __future__ import annotations

import ast
import math
import re
from collections.abc import Callable
from dataclasses import dataclass

from agent_magics.providers.demo.figures import figure, is_exact, plain_digits, whole

_IN_WORDS = (
    (r"(?<=\d)\s*(?:%|percent|per cent)\s+of\s+", " / 100 * "),
    (r"\bthe\s+(?=square root|cube root|product|sum|difference)", ""),
    (r"\bsquare root of\s+(\d+(?:\.\d+)?)", r" \1 ** 0.5 "),
    (r"\b(\d+(?:\.\d+)?)\s+squared\b", r"\1 ** 2"),
    (r"\b(\d+(?:\.\d+)?)\s+cubed\b", r"\1 ** 3"),
    (r"\bdouble\s+(?=\d)", " 2 * "),
    (r"\bhalf of\s+(?=\d)", " 0.5 * "),
    (r"\bplus\b", "+"),
    (r"\bminus\b", "-"),
    (r"\b(?:times|multiplied by)\b|(?<=\d)\s*[×·x]\s*(?=\d)", "*"),
    (r"\b(?:divided by|over)\b|÷", "/"),
    (r"\b(?:to the power of|raised to)\b|\^", "**"),
    (r"\b(?:mod(?:ulo)?)\b", "%"),
)
_ASKING = re.compile(
    r"^(?:(?:hey|please|so|and|now|can you|could you|tell me|what(?:'s|’s| is| does)?|how much is|is|equals?|"
    r"calculate|compute|evaluate|work out|solve|the result of)\b[\s:,]*)+",
    re.IGNORECASE,
)
_EXPRESSION = re.compile(r"[\d\s.()+*/%-]+")
_ROUND = re.compile(
    r"^round\s+(?P<number>[-+\d.,]+)(?:\s+to\s+(?P<digits>\d+)\s+(?:decimals?|digits?|decimal places?))?$",
    re.IGNORECASE,
)
_OPERATORS: dict[type[ast.operator], Callable[[float, float], float]] = {
    ast.Add: lambda left, right: left + right,
    ast.Sub: lambda left, right: left - right,
    ast.Mult: lambda left, right: left * right,
    ast.Div: lambda left, right: left / right,
    ast.FloorDiv: lambda left, right: left // right,
    ast.Mod: lambda left, right: left % right,
}
LONGEST = 200
DIGITS = 300
"""Digits beyond which a power is refused."""


@dataclass(frozen=True, kw_only=True)
class Sum:
    """An expression and what it is worth; ``problem`` says why it is worth nothing."""

    expression: str
    value: int | float = 0
    problem: str = ""

    @property
    def told(self) -> str:
        if self.problem:
            return f"`{self.expression}` has no value: {self.problem}."
        return f"`{self.expression}` {'is' if is_exact(self.value) else 'is about'} **{figure(self.value)}**."


def work_out(text: str) -> Sum | None:
    """The sum that a prompt asks for, if it is nothing but a sum."""
    if len(text) > LONGEST:
        return None
    text = _ASKING.sub("", plain_digits(text).strip()).rstrip("?!.= ")
    if rounding := _ROUND.match(text):
        number = float(rounding["number"].replace(",", ""))
        digits = int(rounding["digits"] or 0)
        return Sum(expression=text, value=whole(round(number, min(digits, 12))))
    text = re.sub(r"(?<=\d),(?=\d{3}\b)", "", text)
    for pattern, instead in _IN_WORDS:
        text = re.sub(pattern, instead, text, flags=re.IGNORECASE)
    text = " ".join(text.split())
    if not _EXPRESSION.fullmatch(text) or not re.search(r"\d\s*(?:[+*/%-]|\))|\(", text):
        return None
    return _worth(text)


def _worth(text: str) -> Sum | None:
    try:
        tree = ast.parse(text, mode="eval")
    except (SyntaxError, ValueError, MemoryError, RecursionError):
        return None
    if not any(isinstance(node, ast.BinOp) for node in ast.walk(tree)):
        return None
    try:
        value = _walk(tree.body)
    except ZeroDivisionError:
        return Sum(expression=text, problem="nothing can be divided by zero")
    except (ValueError, OverflowError, TypeError) as error:
        return Sum(expression=text, problem=str(error))
    return Sum(expression=text, value=whole(value))


def _walk(node: ast.AST) -> int | float:
    match node:
        case ast.Constant(value=int() | float() as value) if not isinstance(value, bool):
            return value
        case ast.BinOp(left=left, op=ast.Pow(), right=right):
            return _power(_walk(left), _walk(right))
        case ast.BinOp(left=left, op=op, right=right) if type(op) in _OPERATORS:
            return _OPERATORS[type(op)](_walk(left), _walk(right))
        case ast.UnaryOp(op=ast.USub(), operand=operand):
            return -_walk(operand)
        case ast.UnaryOp(op=ast.UAdd(), operand=operand):
            return _walk(operand)
        case _:
            raise ValueError("it holds something else than numbers and + - * / % **")


def _power(base: float, exponent: float) -> int | float:
    if base and abs(exponent) * math.log10(abs(base) + 1) > DIGITS:
        raise ValueError(f"its power has over {DIGITS} digits")
    value = base**exponent
    if isinstance(value, complex):
        raise ValueError("its root is no real number")
    return value
