"""What a tool may be called."""

from __future__ import annotations

import builtins
import keyword
import re
from collections.abc import Collection

PATTERN = "^[a-z][a-z0-9_]{2,49}$"
_NAME = re.compile(PATTERN.removesuffix("$") + r"\Z")


def problem(name: str, taken: Collection[str] = ()) -> str:
    """Why a tool can't have this name; empty if it can.

    Parameters
    ----------
    taken : collection of str
        Names and aliases of tools that are not to be replaced.

    Examples
    --------
    >>> problem("roman_to_int")
    ''
    >>> problem("list")
    "The name 'list' is a Python builtin; choose another name."
    """
    if not _NAME.match(name):
        return (
            f"The name {name[:60]!r} can't be used: 3 to 50 lower-case letters, digits and underscores, "
            f"beginning with a letter."
        )
    if keyword.iskeyword(name) or keyword.issoftkeyword(name):
        return f"The name {name!r} is a Python keyword; choose another name."
    if hasattr(builtins, name):
        return f"The name {name!r} is a Python builtin; choose another name."
    if name in taken:
        return f"The name {name!r} is taken by another tool; choose another name."
    return ""
