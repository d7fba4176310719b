"""Size and depth, measured on the text before anything is parsed: the parser is a program too."""

from __future__ import annotations

import re

LONGEST = 60_000
MOST_LINES = 1_500
WIDEST = 500
DEEPEST = 40
MOST_OPERATORS = 200
"""Characters, lines, characters of a line, open brackets, and operators in a row without a line's end."""

_STRINGS = re.compile(
    r"""('''|\"\"\")(?:\\.|(?!\1).)*+(?:\1|\Z)|'(?:\\.|[^'\\\n])*+'?|"(?:\\.|[^"\\\n])*+"?|#[^\n]*""",
    re.DOTALL,
)
_OPERATORS = re.compile(r"[-+*/%~@&|^<>]|\bnot\b|\bawait\b|\blambda\b|\bif\b|\band\b|\bor\b|\.")
_DIGITS = re.compile(r"[0-9_]{400}|0[xXoObB][0-9a-fA-F_]{400}")


def beyond(source: str) -> list[str]:
    """Which bounds this source is beyond; empty if it is within all of them."""
    if len(source) > LONGEST:
        return [f"The source has {len(source):,} characters; a tool has at most {LONGEST:,}."]
    lines = source.split("\n")
    if len(lines) > MOST_LINES:
        return [f"The source has {len(lines):,} lines; a tool has at most {MOST_LINES:,}."]
    for number, line in enumerate(lines, 1):
        if len(line) > WIDEST:
            return [
                f"Line {number}: it has {len(line):,} characters; nobody reads beyond {WIDEST}. Break it."
            ]
    return _nested(source)


def _nested(source: str) -> list[str]:
    text = _STRINGS.sub(lambda match: "\n" * match[0].count("\n"), source)
    if match := _DIGITS.search(text):
        return [f"Line {_line(text, match)}: a number has hundreds of digits; compute it instead."]
    depth = 0
    for match in re.finditer(r"[\[({})\]]", text):
        depth += 1 if match[0] in "([{" else -1
        if depth > DEEPEST:
            return [f"Line {_line(text, match)}: brackets are nested more than {DEEPEST} deep; use names."]
    for number, line in enumerate(text.split("\n"), 1):
        if len(line) > MOST_OPERATORS and len(_OPERATORS.findall(line)) > MOST_OPERATORS:
            return [f"Line {number}: it has more than {MOST_OPERATORS} operators; use names."]
    return []


def _line(text: str, match: re.Match[str]) -> int:
    return text.count("\n", 0, match.start()) + 1
