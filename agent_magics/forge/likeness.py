"""Tools that do nearly the same: named to the model before it writes another one."""

from __future__ import annotations

import ast
import difflib
import re
from collections.abc import Iterable

from agent_magics.forge.draft import Draft

SAME = 0.82
"""From this likeness on, of 1, a tool is named as a near-duplicate."""

_FILLERS = frozenset(
    {"a", "an", "the", "of", "to", "in", "for", "and", "or", "from", "tool", "function", "given"}
)


def alike(draft: Draft, others: Iterable[Draft]) -> list[Draft]:
    """Tools that do nearly what ``draft`` does, the nearest first; never those of its own name."""
    scored = [(_likeness(draft, other), other) for other in others if other.name != draft.name]
    near = [(score, other) for score, other in scored if score >= SAME]
    return [other for _, other in sorted(near, key=lambda pair: -pair[0])][:3]


def _likeness(one: Draft, other: Draft) -> float:
    """1 for the same code under another name; else how alike names and descriptions are."""
    if one.source and _shape(one) == _shape(other):
        return 1.0
    if set(_properties(one)) != set(_properties(other)) and one.parameters and other.parameters:
        return 0.0  # what takes other arguments does something else
    mine, theirs = _words(one), _words(other)
    if not mine or not theirs:
        return 0.0
    shared = len(mine & theirs) / min(len(mine), len(theirs))
    order = difflib.SequenceMatcher(None, one.name, other.name).ratio()
    # Two conversions share every word but the unit: a word that only one has counts against them.
    apart = len(mine ^ theirs) / len(mine | theirs)
    return 0.5 * shared + 0.5 * order - 0.3 * apart


def _properties(draft: Draft) -> list[str]:
    return list(draft.parameters.get("properties", {}))


def _words(draft: Draft) -> set[str]:
    text = f"{draft.name} {draft.description}".lower()
    return {word.rstrip("s") for word in re.findall(r"[a-z]{2,}", text)} - _FILLERS


def _shape(draft: Draft) -> str:
    """The code without names of its own, docstrings and layout."""
    try:
        tree = ast.parse(draft.source)
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        return draft.source
    for node in ast.walk(tree):
        if isinstance(node, ast.FunctionDef):
            if node.name == draft.name:
                node.name = "tool"
            if ast.get_docstring(node) is not None:
                node.body = node.body[1:] or [ast.Pass()]
    return ast.dump(tree)
