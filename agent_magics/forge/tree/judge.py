"""The whole check of one source, in this process. It takes as long as it takes: see :mod:`..checking`."""

from __future__ import annotations

import ast
import warnings
from collections.abc import Iterable, Mapping
from typing import Any

from agent_magics.forge.tree import bindings, letters, measure, signature
from agent_magics.forge.tree.verdict import Verdict, verdict
from agent_magics.forge.tree.walk import Walk


def judge(
    source: str, name: str, schema: Mapping[str, Any] | None = None, capabilities: Iterable[str] = ()
) -> Verdict:
    """Whether ``source`` may become the tool ``name``; see :func:`agent_magics.forge.check`."""
    if reasons := _unreadable(source):
        return verdict(reasons)
    tree = _parse(source)
    if isinstance(tree, str):
        return verdict([tree])
    try:
        reasons = Walk(bindings.read(tree), capabilities).go() + signature.unfit(tree, name)
    except bindings.TooDeep:
        return verdict(
            [f"The source is nested more than {bindings.DEEPEST} levels deep; use names and functions."]
        )
    function = signature.function_of(tree, name)
    if not reasons and schema is not None and function is not None:
        reasons = signature.mismatches(function, schema)
    return verdict(reasons)


def compiled(source: str) -> Verdict:
    """Whether Python's compiler takes the source; nothing of it is run."""
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            compile(source, "<tool>", "exec", dont_inherit=True)
    except SyntaxError as error:
        return verdict([_syntax(error)])
    except (ValueError, RecursionError, MemoryError, OverflowError) as error:
        return verdict([f"The source does not compile: {error or type(error).__name__}."])
    return Verdict(ok=True)


def _unreadable(source: str) -> list[str]:
    return (
        measure.beyond(source)
        if len(source) > measure.LONGEST
        else letters.misread(source) or measure.beyond(source)
    )


def _parse(source: str) -> ast.Module | str:
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # an escape that will be an error one day
            return ast.parse(source)
    except SyntaxError as error:
        return _syntax(error)
    except RecursionError:
        return "The source is nested too deep to be parsed; use names and functions."
    except (ValueError, MemoryError, OverflowError) as error:
        return f"The source can't be parsed: {error or type(error).__name__}."


def _syntax(error: SyntaxError) -> str:
    shown = f": {error.text.strip()[:80]!r}" if error.text and error.text.strip() else ""
    return f"Line {error.lineno or 1}: {error.msg}{shown}."
