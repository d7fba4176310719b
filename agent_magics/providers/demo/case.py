"""One request as the rules see it, and the two things that they can do about it."""

from __future__ import annotations

import datetime as dt
from dataclasses import dataclass
from functools import cached_property

from agent_magics.providers.demo.dates import today_in
from agent_magics.providers.demo.lexicon import Lexicon
from agent_magics.providers.demo.passage import Passage
from agent_magics.providers.demo.reading import Situation
from agent_magics.talk import JSON

BELIEF = 4_000
"""Characters of one earlier text that are searched for definitions."""


@dataclass(frozen=True, kw_only=True)
class Say:
    """Answer: the exchange ends. ``because`` is the thinking, a line each."""

    text: str
    because: tuple[str, ...] = ()


@dataclass(frozen=True, kw_only=True)
class Call:
    """Call a tool, and be asked again with its result."""

    name: str
    arguments: dict[str, JSON]
    because: tuple[str, ...] = ()


Move = Say | Call


@dataclass(frozen=True, kw_only=True)
class Case:
    """A situation with its question.

    Parameters
    ----------
    situation : Situation
        What was sent.
    question : str
        The prompt as a question that stands for itself: *and now in Kelvin* has become *convert 30 celsius
        to kelvin*.
    """

    situation: Situation
    question: str

    @cached_property
    def passage(self) -> Passage:
        return Passage.of(self.question)

    @cached_property
    def lexicon(self) -> Lexicon:
        """The units, with all that the facts, the earlier prompts and this one define."""
        return lexicon_of(self.situation)

    @cached_property
    def today(self) -> dt.date | None:
        """What day it is, if the system prompt or somebody in the conversation said so."""
        prompts = [
            self.situation.now.prompt,
            *(exchange.prompt for exchange in reversed(self.situation.past)),
        ]
        told = (today_in(text[:BELIEF]) for text in (*prompts, self.situation.system))
        return next((day for day in told if day), None)

    @property
    def is_resolved(self) -> bool:
        """Whether the question was completed from the history."""
        return self.question != self.situation.now.prompt


def lexicon_of(situation: Situation) -> Lexicon:
    """The units that are known in a situation."""
    facts = [fact.text for fact in situation.facts]
    prompts = [exchange.prompt[:BELIEF] for exchange in situation.past]
    return Lexicon.of(*facts, *prompts, situation.now.prompt[:BELIEF])
