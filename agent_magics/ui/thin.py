"""How much room a settled turn takes in a saved notebook, and how its HTML gets along with less.

A saved notebook grows by at most four times the turn's own text and ten kilobytes, as long as its text and
its data alone leave room for that. A long answer that would take more loses what only pleases, bit by bit:
the line breaks between tags, then the colours of code, then our own spacing of blocks, which every front end
has for itself. Not a word of it is lost. A short one is left alone: somebody is looking at it when it
settles, and nothing may jump.
"""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Mapping
from typing import Any

from agent_magics.talk import Turn

TIMES = 4
PLUS = 10_000
SHORT = 24_000
"""Characters of HTML up to which a turn keeps all of its dress."""

_LINE = 14
"""Bytes that each line of a text or of data takes for itself: a saved notebook has it indented and quoted."""

_COLOUR = re.compile(r'<span class="[a-z][a-z0-9]{0,2}">([^<]*)</span>')
_SPACING = re.compile(r'<(p|[uo]l|hr|h[1-6]|tr|t[dh]|blockquote)((?: start="\d+")?) style="[^"<>]*">')
_PRE = re.compile(r"(<pre[ >].*?</pre>)", re.DOTALL)


def room(turn: Turn) -> int:
    """Characters that a turn may take in a saved notebook."""
    texts = [turn.prompt, turn.error, *turn.notices]
    for step in turn.steps:
        texts += [step.text, step.thinking]
        for call in step.calls:
            texts += [call.name, json.dumps(dict(call.arguments), ensure_ascii=False, default=str)]
            texts += [call.result.text] if call.result else []
    if not turn.steps:
        texts.append(turn.reply)
    return TIMES * sum(map(len, texts)) + PLUS


def taken(value: str | Mapping[str, Any]) -> int:
    """Characters that one representation takes there, about."""
    written = json.dumps(value, ensure_ascii=False, indent=None if isinstance(value, str) else 1, default=str)
    lines = value.count("\n") if isinstance(value, str) else written.count("\n")
    return len(written) + _LINE * lines


def fitting(html: str, most: int) -> str:
    """The HTML with as much of its dress as fits into ``most`` characters."""
    for step in _STEPS:
        if taken(html) <= most:
            break
        html = step(html)
    return html


def _uncoloured(html: str) -> str:
    return _COLOUR.sub(r"\1", html)


def _unspaced(html: str) -> str:
    return _SPACING.sub(r"<\1\2>", html)


def _joined(html: str) -> str:
    return "".join(
        piece if at % 2 else piece.replace(">\n<", "><").replace("\n", " ")
        for at, piece in enumerate(_PRE.split(html))
    )


_STEPS: tuple[Callable[[str], str], ...] = (_joined, _uncoloured, _unspaced)
