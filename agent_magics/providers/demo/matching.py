"""Which of the offered tools a text speaks of.

A tool is meant when the text names it, or says every telling word of its name (``word_count``: *how many
words*), or when nearly all that the text asks for stands in the tool's description. Words that mean the same
count as the same, and so do the spellings of a unit: °C says *celsius*. Where two tools are told by the same
words, the one that explains more of the text wins.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass

from agent_magics.providers.demo import evidence
from agent_magics.providers.demo.lexicon import Lexicon
from agent_magics.providers.demo.passage import Passage
from agent_magics.providers.demo.reading import Tool
from agent_magics.providers.demo.words import GENERIC, STOP, meaning, words

HANDLED = frozenset({"make_tool", "remember", "forget", "more", "run_python", "spawn_agent"})
"""Tools that have rules of their own, or that do whatever they are told: meant only when they are named."""

_WORD = re.compile(r"°?[^\W\d_]+(?:['’][^\W\d_]+)?")
_SIGNS = {"+": "add", "*": "multiply", "×": "multiply", "/": "divide", "÷": "divide"}
_SIGN = re.compile(r"(?<=[\d\s)])[+*×/÷](?=[\s\d(])")
_ASKS_WHAT = re.compile(r"\s*(?:what|which|how|show|print|look|tell)\b", re.IGNORECASE)
_COVERED = 0.75
CERTAIN = 10.0


@dataclass(frozen=True, kw_only=True)
class Mention:
    """A tool, and where the text speaks of it.

    ``weight`` orders mentions by how sure they are; ``tokens`` are the places of the words that told. A
    mention is ``certain`` if nothing else can be meant, as by a name with underscores or in backticks.
    """

    tool: Tool
    at: int
    end: int
    weight: float
    tokens: frozenset[int]

    @property
    def is_certain(self) -> bool:
        return self.weight >= CERTAIN


@dataclass(frozen=True, kw_only=True)
class _Said:
    """A text as places -> meanings."""

    text: str
    meanings: dict[int, frozenset[str]]
    telling: frozenset[int]

    def places(self, sense: str) -> list[int]:
        return [at for at, senses in self.meanings.items() if sense in senses]


def mentions(passage: Passage, tools: Sequence[Tool], lexicon: Lexicon) -> list[Mention]:
    """The tools that the passage speaks of, in the order of their places; no two share a word."""
    said = _said(passage, lexicon)
    found = [mention for tool in tools if (mention := _mention(tool, passage, said, lexicon))]
    chosen: list[Mention] = []
    for mention in sorted(found, key=lambda each: (-each.weight, each.at)):
        if not any(mention.tokens & other.tokens for other in chosen):
            chosen.append(mention)
    return sorted(chosen, key=lambda each: each.at)


def nearest(passage: Passage, tools: Sequence[Tool], lexicon: Lexicon) -> Tool | None:
    """The tool whose words the passage shares most, if it shares any."""
    said = _said(passage, lexicon)

    def shared(tool: Tool) -> int:
        senses = _senses(f"{tool.name} {tool.description}", lexicon)
        return sum(bool(said.places(sense)) for sense in senses)

    best = max((tool for tool in tools if tool.name not in HANDLED), key=shared, default=None)
    return best if best and shared(best) else None


def _mention(tool: Tool, passage: Passage, said: _Said, lexicon: Lexicon) -> Mention | None:
    if named := _named(tool, passage, said):
        return named
    if tool.name in HANDLED:
        return None
    return _by_name(tool, said, lexicon) or _by_description(tool, said, lexicon)


def _named(tool: Tool, passage: Passage, said: _Said) -> Mention | None:
    """The tool's own name stands in the text; a name that is a plain word counts less."""
    spelled = "[ _]".join(map(re.escape, tool.name.split("_")))
    match = re.search(rf"(?<![\w.]){spelled}(?!\w)", said.text, re.IGNORECASE)
    certain = "_" in tool.name or tool.name in passage.named
    if match is None or not (certain or tool.name not in HANDLED):
        return None
    inside = frozenset(at for at in said.meanings if match.start() <= at < match.end())
    return Mention(
        tool=tool,
        at=match.start(),
        end=match.end(),
        weight=CERTAIN if certain else 3.0,
        tokens=inside or frozenset({match.start()}),
    )


def _by_name(tool: Tool, said: _Said, lexicon: Lexicon) -> Mention | None:
    """Every telling word of the name is said."""
    parts = [word for word in words(tool.name) if word not in STOP]
    telling = [word for word in parts if word not in GENERIC] or parts
    places = [said.places(_sense(word, lexicon)) for word in telling]
    if not places or not all(places):
        return None
    tokens = frozenset(at[0] for at in places)
    return _at(tool, tokens, said, weight=1 + len(telling) + 0.1 * len(parts))


def _by_description(tool: Tool, said: _Said, lexicon: Lexicon) -> Mention | None:
    """Nearly all that the text asks for stands in the description."""
    senses = _senses(f"{tool.name} {tool.description} {' '.join(tool.properties)}", lexicon)
    tokens = frozenset(at for at in said.telling if said.meanings[at] & senses)
    distinct = {sense for at in tokens for sense in said.meanings[at]} & senses
    if len(distinct) < 2 or len(tokens) < _COVERED * len(said.telling):
        return None
    return _at(tool, tokens, said, weight=len(tokens) / len(said.telling))


def _at(tool: Tool, tokens: frozenset[int], said: _Said, weight: float) -> Mention:
    last = max(tokens)
    word = _WORD.match(said.text, last)
    return Mention(
        tool=tool, at=min(tokens), end=word.end() if word else last + 1, weight=weight, tokens=tokens
    )


def _said(passage: Passage, lexicon: Lexicon) -> _Said:
    text = passage.bare
    meanings: dict[int, frozenset[str]] = {}
    for match in _WORD.finditer(text.replace("_", " ")):
        word = match.group().casefold()
        if word not in STOP and len(meanings) < 2_000:
            meanings[match.start()] = frozenset({meaning(word)})
    for match in _SIGN.finditer(text):
        meanings[match.start()] = frozenset({meaning(_SIGNS[match.group()])})
    quantities = ((each.unit, each.start, each.end) for each in lexicon.quantities(text))
    for unit, start, end in (*lexicon.mentions(text), *quantities):
        inside = [at for at in meanings if start <= at < end] or [start]
        senses = _senses(unit.name, lexicon)
        meanings |= {at: meanings.get(at, frozenset[str]()) | senses for at in inside}
    opened = " open" if _ASKS_WHAT.match(text) else ""
    for sample in evidence.urls(text):
        meanings[text.find(sample)] = _senses(f"url web page site{opened}", lexicon)
    for sample in evidence.files(text):
        meanings[text.find(sample)] = _senses(f"file path{opened}", lexicon)
    return _Said(text=text, meanings=meanings, telling=frozenset(meanings))


def _senses(text: str, lexicon: Lexicon) -> frozenset[str]:
    return frozenset(_sense(word, lexicon) for word in words(text) if word not in STOP)


def _sense(word: str, lexicon: Lexicon) -> str:
    """The meaning of a word in a tool's name; a unit's symbol means the unit."""
    unit = lexicon.find(word) if len(word) <= 5 or word.endswith("s") else None
    return meaning(unit.name.split()[-1]) if unit else meaning(word)


def converts(tool: Tool, lexicon: Lexicon) -> tuple[str, str] | None:
    """From which unit to which a tool converts, as its name or its parameter says; else nothing.

    ``celsius_to_fahrenheit(x)``, ``to_fahrenheit(celsius)`` and ``fahrenheit_from_celsius(x)`` are all read.
    """
    name = re.sub(r"(?<=[a-z])_?2_?(?=[a-z])", "_to_", tool.name)
    name = re.sub(r"^(?:convert|conv|get|calculate|compute)_|_\d+$", "", name)
    before, to, after = name.partition("_to_")
    if not to and name.startswith("to_"):
        before, to, after = "", "_to_", name[3:]
    if not to and "_from_" in name:
        after, to, before = name.partition("_from_")
    parameters = (_unit(parameter, lexicon) for parameter in tool.properties)
    source = _unit(before, lexicon) or next(filter(None, parameters), "")
    target = _unit(after, lexicon)
    return (source, target) if to and source and target else None


def _unit(name: str, lexicon: Lexicon) -> str:
    unit = lexicon.find(name.replace("_", " ")) if name else None
    return unit.name if unit else ""
