"""Text from elsewhere, made fit to show: nothing in it hides, and nothing in it acts.

What a model, a tool or a file says is shown in two ways. Prose is cleaned (:func:`prose`): terminal codes
and control characters go. What a person decides about is laid bare (:func:`visible`): nothing is removed,
and every character that a screen would not show, or would show somewhere else, is spelled out.
"""

from __future__ import annotations

import re
from functools import lru_cache
from html import escape as _escape_html
from typing import Any, cast

_ANSI = re.compile(
    r"(?:\x1b\[|\x9b)[0-?]*[ -/]*[@-~]"  # colours, cursor moves
    r"|\x1b\][^\x07\x1b]*(?:\x07|\x1b\\)"  # titles, links
    r"|\x1b[@-Z\\^_]"
)
_ARRIVING = re.compile(r"(?:\x1b(?:\[[0-?]*[ -/]*|\][^\x07\x1b]*\x1b?)?|\x9b[0-?]*[ -/]*|\r)\Z")
_CONTROL = {code: None for code in (*range(0x20), *range(0x7F, 0xA0)) if chr(code) not in "\t\n"}
_LONE = re.compile(r"[\ud800-\udfff]")

_TURNING = "\u202a\u202b\u202c\u202d\u202e\u2066\u2067\u2068\u2069"
_BLANK = "\u034f\u115f\u1160\u17b4\u17b5\u2800\u3164\uffa0"
"""Letters and marks that look like nothing, though Unicode counts them as printable."""

_SUSPECT = re.compile(r"[^\t\n -~]")
_TURNED = {ord(mark): f"⟨U+{ord(mark):04X}⟩" for mark in _TURNING}


def prose(text: str) -> str:
    """Text for reading: no terminal codes, no control characters, one kind of line end."""
    if "\r" in text:
        text = text.replace("\r\n", "\n").replace("\r", "\n")
    return _LONE.sub("\ufffd", _ANSI.sub("", text).translate(_CONTROL))


def arriving(text: str) -> tuple[str, str]:
    """A text that goes on, for reading, and what of its end can't be judged yet (half a terminal code)."""
    half = _ARRIVING.search(text)
    at = half.start() if half else len(text)
    return prose(text[:at]), text[at:]


def visible(text: str) -> str:
    """Text to decide about: what would not be seen, or would reorder the line, is spelled out.

    >>> visible("pay\\u202etxt.exe")
    'pay⟨U+202E⟩txt.exe'
    """
    return _SUSPECT.sub(_spelled, text.replace("\r\n", "\n"))


def unturned(text: str) -> str:
    """Code for reading: marks that reorder a line are spelled out, the rest stays as it is."""
    return text.translate(_TURNED)


def escape(text: str) -> str:
    """Text as HTML that no typesetter takes for mathematics.

    Front ends typeset whatever stands between dollars or after a backslash in an output; a mark that is alone
    in its element is left alone.
    """
    escaped = _escape_html(text)
    if "$" in escaped or "\\" in escaped:
        escaped = escaped.replace("\\", "<span>\\</span>").replace("$", "<span>$</span>")
    return escaped


def escape_code(text: str) -> str:
    """Text as HTML for inside ``<code>``, where typesetters don't look."""
    return _escape_html(text)


def marked(text: str) -> str:
    """One of our own messages as HTML: what stands between backticks is code, and all of it is escaped."""
    pieces = visible(text).split("`")
    if len(pieces) % 2 == 0:
        pieces = ["`".join(pieces)]
    shown = (f"<code>{escape(piece)}</code>" if at % 2 else escape(piece) for at, piece in enumerate(pieces))
    return "".join(shown).replace("\n", "<br>")


def one_line(text: str, most: int = 0) -> str:
    """The text on one line, and at most ``most`` characters of it."""
    line = " ".join((text[: 4 * most + 64] if most else text).split())
    return line if not most or len(line) <= most else line[: most - 1].rstrip() + "…"


def encodable(value: Any) -> Any:
    """A JSON value without halves of surrogate pairs, which no message can carry."""
    if isinstance(value, str):
        return _LONE.sub("\ufffd", value)
    if isinstance(value, dict):
        items = cast("dict[str, Any]", value).items()
        return {encodable(key): encodable(item) for key, item in items}
    if isinstance(value, list):
        return [encodable(item) for item in cast("list[Any]", value)]
    return value


def _spelled(match: re.Match[str]) -> str:
    return _seen(match[0])


@lru_cache(2048)
def _seen(char: str) -> str:
    varies = "\ufe00" <= char <= "\ufe0f" or "\U000e0100" <= char <= "\U000e01ef"
    if char.isprintable() and char not in _BLANK and not varies:
        return char
    return f"⟨U+{ord(char):04X}⟩"
