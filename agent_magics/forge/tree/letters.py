"""Characters: what a reader sees must be what Python reads.

Refused are control and format characters (bidirectional marks, zero widths, NUL, form feed, lone carriage
returns), line ends that Python doesn't count as such, letters outside of ASCII in names, an encoding cookie.
See Boucher and Anderson, *Trojan Source* (2021), and PEP 672.
"""

from __future__ import annotations

import io
import re
import tokenize
import unicodedata

_ASCII_CONTROLS = re.compile(r"[\x00-\x08\x0b-\x1f\x7f]")
_COOKIE = re.compile(r"\A(?:[^\n]*\n)?[ \t\f]*#[^\n]*coding[:=]")
_HIDDEN = frozenset({"Cc", "Cf", "Cn", "Co", "Cs", "Zl", "Zp"})
_VARIATIONS = re.compile("[\ufe00-\ufe0f\U000e0100-\U000e01ef\u115f\u1160\u3164\uffa0\u2800]")
_NAMED = re.compile(r"[rRbBuU]*[fF]")


def misread(source: str) -> list[str]:
    """Why this text may read otherwise than it is, each with its line; empty if it does not."""
    found = [_control(source, match) for match in _ASCII_CONTROLS.finditer(source)][:3]
    if _COOKIE.match(source):
        found.append("Line 1: leave out the encoding cookie; the source is UTF-8.")
    if not source.isascii():
        found += _hidden(source) or _names(source)
    return found


def _control(source: str, match: re.Match[str]) -> str:
    return (
        f"Line {_line(source, match.start())}: the control character U+{ord(match[0]):04X} is not allowed; "
        "end lines with \\n, and write such characters as escapes in text."
    )


def _hidden(source: str) -> list[str]:
    found: list[str] = []
    for place, char in enumerate(source):
        if char in "\n\t" or char.isascii():
            continue
        if unicodedata.category(char) in _HIDDEN or _VARIATIONS.match(char):
            text = f"the invisible character U+{ord(char):04X} is not allowed; write it as an escape in text"
            found.append(f"Line {_line(source, place)}: {text}.")
            if len(found) == 3:
                break
    return found


def _names(source: str) -> list[str]:
    """Names, and the expressions inside f-strings, are plain ASCII: no letter looks like another."""
    found: list[str] = []
    try:
        for token in tokenize.generate_tokens(io.StringIO(source).readline):
            if token.type == tokenize.STRING and not _NAMED.match(token.string):
                continue
            if token.type in (tokenize.NAME, tokenize.OP, tokenize.ERRORTOKEN) and not token.string.isascii():
                found.append(
                    f"Line {token.start[0]}: names are written in ASCII letters, not as {token.string!r}."
                )
            elif token.type != tokenize.COMMENT and _reads_as_ascii(token.string):
                found.append(f"Line {token.start[0]}: a letter in an f-string stands for another one.")
    except (tokenize.TokenError, SyntaxError):
        return found  # the parser will say what is wrong
    return found[:3]


def _reads_as_ascii(text: str) -> bool:
    return not text.isascii() and any(
        not char.isascii() and f"a{char}".isidentifier() and unicodedata.normalize("NFKC", char).isascii()
        for char in text
    )


def _line(source: str, place: int) -> int:
    return source.count("\n", 0, place) + 1
