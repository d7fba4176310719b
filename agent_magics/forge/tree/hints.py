"""Type hints: text in them may be evaluated later, so it must be what a hint may be without quotes."""

from __future__ import annotations

import ast
from collections.abc import Iterator

from agent_magics.forge.tree.words import REACHING

_MAY_BE = (
    ast.Name, ast.Attribute, ast.Subscript, ast.Tuple, ast.List, ast.Constant, ast.BinOp, ast.BitOr, ast.Load,
    ast.Expression,
)  # fmt: skip


def beyond(node: ast.expr) -> Iterator[tuple[ast.expr, str]]:
    """Parts of a hint that are more than a hint, each with the reason."""
    match node:
        case ast.Constant(value=str(text)):
            if why := _in_text(text):
                yield node, why
        case ast.Subscript(value=ast.Name(id="Literal" | "Annotated") | ast.Attribute(attr="Literal")):
            return
        case ast.Subscript(slice=inner):
            yield from beyond(inner)
        case ast.Tuple(elts=parts) | ast.List(elts=parts):
            for part in parts:
                yield from beyond(part)
        case ast.BinOp(left=left, right=right):
            yield from beyond(left)
            yield from beyond(right)
        case _:
            return


def _in_text(text: str) -> str:
    try:
        tree = ast.parse(text, mode="eval")
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        return f"the type hint {text[:60]!r} is not one"
    wrong = any(not isinstance(each, _MAY_BE) or _reaches(each) for each in ast.walk(tree))
    return f"the type hint {text[:60]!r} is more than a hint" if wrong else ""


def _reaches(node: ast.AST) -> bool:
    match node:
        case ast.Attribute(attr=attr):
            return attr.startswith("_")
        case ast.Name(id=name):
            return name.startswith("__") or name in REACHING
        case _:
            return False
