"""Markdown from anywhere, made safe for every renderer that may meet it in a saved notebook.

A ``text/markdown`` output is rendered by front ends with rules of their own, and some let raw HTML
through. So nothing may depend on what a renderer thinks is code: outside of what every renderer agrees to
be code, each ``<`` becomes an entity, each backtick that has no partner on its line too, images become
plain links, links lead to http, https or mailto, and macros that could do more than draw are broken.

Fences at the left margin are written anew, longer than any run inside them. Fences elsewhere keep their
place, and a ``<`` in them shows as ``&lt;``: unlovely, but never a tag.
"""

from __future__ import annotations

import re

from agent_magics.ui.markdown import HARMFUL_MACROS, blocks
from agent_magics.ui.text import prose, unturned

_CODE = re.compile(r"(?<!`)(`+)(?!`)(.+?)(?<!`)\1(?!`)")
_ESCAPE = re.compile(r"\\([<`])")
_ADDRESS = re.compile(r"\](?=\((?!\s*<?(?:https?://|mailto:))|:)", re.IGNORECASE)
_RUN = re.compile(r"`+")
_INFO = re.compile(r"[A-Za-z0-9_+#.-]{1,32}")


def portable(text: str) -> str:
    """Markdown that renders as text, code, tables, lists and harmless links, and as nothing else."""
    text = unturned(prose(text))
    lines = text.split("\n")
    fences = {
        token.map[0]: token
        for token in blocks(text)
        if token.type == "fence" and token.level == 0 and token.map
    }
    out: list[str] = []
    at = 0
    while at < len(lines):
        fence = fences.get(at)
        if fence is None or fence.map is None:
            out.append(_line(lines[at]))
            at += 1
        else:
            out += _fence(fence.content, fence.info, after_text=bool(out and out[-1].strip()))
            at = fence.map[1]
            out += [""] if at < len(lines) and lines[at].strip() else []
    return "\n".join(out).strip("\n")


def _fence(content: str, info: str, *, after_text: bool) -> list[str]:
    longest = max((len(run) for run in _RUN.findall(content)), default=0)
    mark = "`" * max(3, longest + 1)
    language = _INFO.match(info.strip())
    opening = mark + (language[0] if language else "")
    return [*[""] * after_text, opening, *content.removesuffix("\n").split("\n"), mark]


def _line(line: str) -> str:
    """One line outside of top-level fences."""
    out: list[str] = []
    at = 0
    line = _ESCAPE.sub(lambda match: "&lt;" if match[1] == "<" else "&#96;", line)
    for match in _CODE.finditer(line):
        out.append(_plain(line[at : match.start()]))
        # A table splits its cells at pipes inside code too, and would tear the span apart.
        out.append(_plain(match[0]) if "|" in match[0] else match[0])
        at = match.end()
    return "".join([*out, _plain(line[at:])])


def _plain(text: str) -> str:
    text = text.replace("<", "&lt;").replace("`", "&#96;").replace("![", "[")
    text = _ADDRESS.sub("&#93;", text)
    return HARMFUL_MACROS.sub(lambda match: "\\ " + match[0][1:], text)
