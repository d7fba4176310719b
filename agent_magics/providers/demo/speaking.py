"""Saying it: a text in small pieces, at a pace that people can follow, and what it cost."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Sequence

from agent_magics.providers.parts import plain
from agent_magics.talk import Message, ToolSpec, Usage

PACE = 0.006
"""Seconds between two pieces."""

PIECES = 400
"""A long text comes in bigger pieces rather than in more, so that nobody waits for minutes."""

_WORD = re.compile(r"\s*\S{1,40}\s*")


def pieces(text: str) -> Iterator[str]:
    """The text in pieces of about a word, at most :data:`PIECES`; joined they are the text again."""
    found = _WORD.findall(text) or ([text] if text else [])
    size = -(-len(found) // PIECES)
    for start in range(0, len(found), max(size, 1)):
        yield "".join(found[start : start + size])


def tokens(text: str) -> int:
    """About four characters make a token: an estimate, and no more."""
    return (len(text) + 3) // 4


def usage(messages: Sequence[Message], tools: Sequence[ToolSpec], thinking: str, said: str) -> Usage:
    """What the exchange would have cost, by :func:`tokens`."""
    sent = sum(len(plain(message.get("content"))) for message in messages)
    sent += sum(
        len(json.dumps(message["tool_calls"], default=str))
        for message in messages
        if message.get("tool_calls")
    )
    sent += len(json.dumps(list(tools), default=str)) if tools else 0
    reasoning = tokens(thinking)
    return Usage(input=(sent + 3) // 4, output=reasoning + tokens(said), reasoning=reasoning)
