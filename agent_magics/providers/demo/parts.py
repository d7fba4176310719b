"""A question cut into its requests: *convert 30 celsius to fahrenheit, then round it* holds two.

A cut is made where an *and* or a *then* is followed by something that can begin a request: a verb that a
tool or the rules know, a word that points back at a result, or a further unit to convert to. *3 and 4* is one
thing.

>>> cut("convert 30 celsius to fahrenheit and kelvin, then round it", Lexicon(), ())
['convert 30 celsius to fahrenheit', 'kelvin', 'round it']
"""

from __future__ import annotations

import re
from collections.abc import Sequence

from agent_magics.providers.demo.candidates import BACK
from agent_magics.providers.demo.following import Past, complete
from agent_magics.providers.demo.lexicon import Lexicon
from agent_magics.providers.demo.passage import Passage
from agent_magics.providers.demo.reading import Tool
from agent_magics.providers.demo.words import STOP, meaning, word_set, words

OWN_VERBS = word_set("round double triple halve square negate")
"""What the rules can do to a result by themselves."""

_RECIPE_VERBS = word_set("convert count reverse summarise")

_THEN = re.compile(
    r"\s*(?:[,;.]\s*)?\b(?:and\s+then|then|and\s+also|and\s+finally|and\s+after\s+that|and)\s+(?=\S)|\s*;\s+",
    re.IGNORECASE,
)
_INTO = re.compile(r"^(?:in|into|to|as)\s+", re.IGNORECASE)


def requests(question: str, lexicon: Lexicon, tools: Sequence[Tool]) -> list[str]:
    """The requests of a question, each as a text that stands for itself."""
    passage = Passage.of(question)
    if passage.tail:
        return [question]
    parts = _cut_behind_quotes(question) if "“”" in passage.bare else cut(passage.clean, lexicon, tools)
    whole: list[str] = []
    for part in parts:
        follow_up = f"in {part}" if lexicon.find(part) else part
        whole.append(complete(follow_up, Past(question=whole[-1]), lexicon) if whole else part)
    return whole


def cut(text: str, lexicon: Lexicon, tools: Sequence[Tool]) -> list[str]:
    """The parts of a text without quotations."""
    verbs = {meaning(word) for tool in tools for word in words(tool.name)}
    parts: list[str] = []
    start = 0
    for match in _THEN.finditer(text):
        rest = _THEN.split(text[match.end() :], maxsplit=1)[0]
        first = next(iter(words(rest)), "")
        verb = (
            meaning(first) in verbs
            or first in OWN_VERBS | _RECIPE_VERBS
            or "then" in match.group().casefold()
        )
        if BACK.search(rest) or (verb and first not in STOP) or lexicon.find(_INTO.sub("", rest)):
            parts.append(text[start : match.start()])
            start = match.end()
    return [*parts, text[start:]]


def _cut_behind_quotes(text: str) -> list[str]:
    """Only an *and* behind the last quotation cuts, and only if it points back."""
    last = max(text.rfind(mark) for mark in "\"'”`»")
    match = _THEN.search(text, last + 1)
    if match is None or not BACK.search(text, match.end()):
        return [text]
    return [text[: match.start()], text[match.end() :]]
