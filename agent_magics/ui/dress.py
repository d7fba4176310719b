"""The blocks of an answer, dressed: clean HTML in, the same HTML with our inline styles out.

Front ends differ in how they set paragraphs, lists, tables and headings, and a saved notebook meets many
of them. No block has a margin above it: margins that meet would collapse into one in a settled answer,
but not between the pieces of a live one, and the text would move when it settles.
"""

from __future__ import annotations

import re

from agent_magics.ui.look import DIM, LINE, PRE

_BELOW = "margin:0 0 1em"
_LIST = "padding-left:2em"
_BLOCKS = {
    "p": _BELOW,
    "ul": f"{_BELOW};{_LIST}",
    "ol": f"{_BELOW};{_LIST}",
    "hr": f"{_BELOW};border:none;border-top:1px solid {LINE}",
    "blockquote": f"{_BELOW};padding:0 0 0 12px;border-left:3px solid {LINE};{DIM}",
    "h1": "margin:0 0 8px;padding-top:4px;font-size:18px;font-weight:600;line-height:1.4",
    "h2": "margin:0 0 6px;padding-top:3px;font-size:16px;font-weight:600;line-height:1.4",
    "h3": "margin:0 0 4px;padding-top:2px;font-size:15px;font-weight:600;line-height:1.4",
    **dict.fromkeys(("h4", "h5", "h6"), "margin:0 0 4px;font-size:14px;font-weight:600;line-height:1.4"),
    # A wide table scrolls in its own place.
    "table": "display:block;overflow:auto;margin:0 0 12px;border-collapse:collapse;font-size:13px;"
    "overflow-wrap:normal",
    "tr": f"border-bottom:1px solid {LINE}",
    "th": "padding:2px 14px 2px 0;line-height:20px;font-weight:600",
    "td": "padding:2px 14px 2px 0;line-height:20px",
}
_INNER = {"p": "margin:0 0 0.5em", "ul": f"margin:0;{_LIST}", "ol": f"margin:0;{_LIST}"}
"""What differs inside a list."""

_PRE = PRE.replace("white-space:pre-wrap;overflow-wrap:anywhere;", "white-space:pre;").replace(
    "margin:0;", "margin:0 0 10px;"
)
"""A block of an answer scrolls sideways, as code in a notebook does; a tool's data wraps."""

# Typeset mathematics brings margins of its own, which must not meet the others.
_MATH = "overflow:auto hidden;margin:-8px 0 6px"

_TAG = re.compile(r"<(/?)(p|[uo]l|hr|blockquote|h[1-6]|table|t[rhd])((?: [a-z]+=\"[^\"<>]*\")*)>")
_ALIGN = re.compile(r"text-align:\s*(left|center|right)")


def dressed(html: str) -> str:
    """Clean HTML of an answer with our inline styles."""
    depth = 0

    def tag(match: re.Match[str]) -> str:
        nonlocal depth
        closing, name, attributes = match.groups()
        is_list = name in ("ul", "ol")
        if closing:
            depth -= is_list
            return match[0]
        style = _INNER.get(name, _BLOCKS[name]) if depth else _BLOCKS[name]
        depth += is_list
        if name in ("th", "td"):
            align = _ALIGN.search(attributes)
            return f'<{name} style="text-align:{align[1] if align else "left"};{style}">'
        return f'<{name}{attributes} style="{style}">'

    html = html.replace('<div class="math">', f'<div class="math" style="{_MATH}">')
    return framed(_TAG.sub(tag, html), _PRE)


def framed(html: str, style: str = PRE) -> str:
    """Blocks of code in ``html`` with their frame."""
    return html.replace(
        '<div class="highlight"><pre tabindex="0"><code>',
        '<div class="highlight" style="background:none;margin:0">'
        f'<pre tabindex="0" style="{style}"><code style="background:none;padding:0;font-size:inherit">',
    )
