"""Facts: told to remember, told to forget, asked about.

What is known stands in the system prompt (*The user lives in Hamburg*) or was said earlier in the
conversation (*I live in Hamburg*). A question about it is answered with the sentence that shares its words,
said to *you*. Facts are text that somebody wrote: they are quoted, and nothing in them is done.
"""

from __future__ import annotations

import re
from collections.abc import Iterator

from agent_magics.providers.demo import reporting
from agent_magics.providers.demo.case import Call, Case, Move, Say
from agent_magics.providers.demo.evidence import sentences
from agent_magics.providers.demo.reading import Fact
from agent_magics.providers.demo.words import STOP, stem, word_set, words

REMEMBER, FORGET = "remember", "forget"
_SAYS_NOTHING = STOP - word_set("like want have use")

_REMEMBER = re.compile(
    r"^(?:please\s+)?(?:remember|note|keep in mind|don't forget)\s*(?:that\b|:)?\s+(?P<fact>\S.*)$",
    re.IGNORECASE | re.DOTALL,
)
_FORGET = re.compile(
    r"^(?:please\s+)?forget\s+(?:about\s+)?(?:that\s+)?(?P<what>\S.*)$", re.IGNORECASE | re.DOTALL
)
_NUMBERED = re.compile(
    r"^(?:the\s+)?(?:fact\s+)?(?:number\s+|no\.?\s*|#|\[)?(?P<id>\d+|(?=[a-f]*\d)[0-9a-f]{6})\]?$",
    re.IGNORECASE,
)
_ASKS = re.compile(
    r"^(?:so\s+|and\s+)?(?:where|who|when|what|which|how|do|am|is|are|did|have|can you tell me)\b"
    r".*\b(?:i|me|my|mine|we|our)\b",
    re.IGNORECASE,
)
_ASKS_ALL = re.compile(
    r"\bwhat (?:do|did) you (?:know|remember)\b|\bwhat have you (?:remembered|noted)\b", re.IGNORECASE
)
_TOLD = re.compile(
    r"^(?:(?:by the way|btw|hi|hello)[,!.\s]+)?(?:i|my|we|our)\s+(?!want\b|need\b|wonder\b|would\b)\S+",
    re.IGNORECASE,
)
_TO_USER = (
    (r"\bI am\b|\bI'm\b|\bI’m\b", "the user is"),
    (r"\bI have\b|\bI've\b|\bI’ve\b", "the user has"),
    (r"\bI (?P<aux>was|will|can|would|should|could|may|must|had|did)\b", r"the user \g<aux>"),
    (r"\bI do(?:n't| not)\b", "the user does not"),
    (r"\bI (?P<verb>[a-z]+(?:s|sh|ch|x|z|o))\b", r"the user \g<verb>es"),
    (r"\bI (?P<verb>[a-z]+[^aeiou\W])y\b", r"the user \g<verb>ies"),
    (r"\bI (?P<verb>[a-z]+)\b", r"the user \g<verb>s"),
    (r"\bI\b", "the user"),
    (r"\bmy\b", "the user's"),
    (r"\b(?:me|myself)\b", "the user"),
    (r"\bmine\b", "the user's"),
)
_TO_YOU = (
    (r"\bthe user(?:'s|’s)\b|\bmy\b", "your"),
    (r"\bthe user is\b|\bI am\b|\bI'm\b|\bI’m\b", "you are"),
    (r"\bthe user has\b|\bI have\b", "you have"),
    (r"\bthe user was\b|\bI was\b", "you were"),
    (r"\bthe user does\b", "you do"),
    (r"\bthe user (?P<aux>will|can|would|should|could|may|must|had|did)\b", r"you \g<aux>"),
    (r"\bthe user (?P<verb>\w+?)ies\b", r"you \g<verb>y"),
    (r"\bthe user (?P<verb>\w+(?:s|sh|ch|x|z|o))es\b", r"you \g<verb>"),
    (r"\bthe user (?P<verb>\w+[^s\W])s\b", r"you \g<verb>"),
    (r"\bthe user\b|\bI\b|\bme\b", "you"),
)


def mind_facts(case: Case) -> Move | None:
    """Remember, forget, or answer from what is known."""
    text = case.passage.whole.strip()
    if len(text) > 1_000:
        return None
    return _remember(case, text) or _forget(case, text) or _recall(case, text)


def as_fact(said: str) -> str:
    """What the user said, as a sentence that stands for itself.

    >>> as_fact("I live in Hamburg and my cat is called Mia")
    "The user lives in Hamburg and the user's cat is called Mia."
    """
    return _sentence(_rewritten(said, _TO_USER))


def as_answer(fact: str) -> str:
    """A fact, said to the user.

    >>> as_answer("The user lives in Hamburg")
    'You live in Hamburg.'
    """
    return _sentence(_rewritten(fact, _TO_YOU))


def _remember(case: Case, text: str) -> Move | None:
    match = _REMEMBER.match(text)
    if match is None:
        return None
    fact = as_fact(match["fact"])
    done = case.situation.done(REMEMBER)
    if done:
        told = (
            f"Remembered: {reporting.escaped(fact)}"
            if done.outcome.ok
            else reporting.failed(REMEMBER, done.outcome)
        )
        return Say(text=told)
    if case.situation.tool(REMEMBER) is None:
        text = (
            "I have no tool to remember things, so I know it only as long as this conversation is sent to me:"
        )
        return Say(text=f"{text} “{reporting.escaped(fact)}”")
    return Call(
        name=REMEMBER, arguments={"fact": fact}, because=("Something to remember: I write it as a fact.",)
    )


def _forget(case: Case, text: str) -> Move | None:
    match = _FORGET.match(text)
    if match is None:
        return None
    done = case.situation.done(FORGET)
    if done:
        return Say(text="Forgotten." if done.outcome.ok else reporting.failed(FORGET, done.outcome))
    what = match["what"].strip().rstrip("?!. ")
    numbered = _NUMBERED.match(what)
    fact = (
        numbered["id"]
        if numbered
        else next((fact.id for fact in _about(what, case.situation.facts) if fact.id), "")
    )
    tool = case.situation.tool(FORGET)
    if tool is None or not fact:
        why = "I have no tool to forget facts" if tool is None else "I know no fact like that"
        return Say(text=f"{why}.{_list(case.situation.facts)}")
    parameter = next(iter(tool.required or tuple(tool.properties)), "id")
    wanted = tool.properties.get(parameter, {}).get("type")
    return Call(
        name=FORGET, arguments={parameter: fact if wanted == "string" or not fact.isdecimal() else int(fact)}
    )


def _recall(case: Case, text: str) -> Move | None:
    facts = [*case.situation.facts, *_said_before(case)]
    if _ASKS_ALL.search(text):
        return Say(text=_list(facts).strip() or "Nothing was remembered so far.")
    if not _ASKS.search(text):
        return None
    found = _about(text, facts)
    if not found:
        return None
    return Say(text=as_answer(found[0].text), because=(f"Somebody told me: “{found[0].text}”",))


def _about(question: str, facts: list[Fact] | tuple[Fact, ...]) -> list[Fact]:
    """The facts that share the telling words of the question, the closest first; the latest of equals."""
    asked = {stem(word) for word in words(question) if word not in _SAYS_NOTHING}
    if not asked:
        return []
    shared = [
        (len(asked & {stem(word) for word in words(fact.text)}), place, fact)
        for place, fact in enumerate(facts)
    ]
    fitting = [each for each in shared if each[0] * 2 >= len(asked) and each[0]]
    return [fact for _, _, fact in sorted(fitting, key=lambda each: each[:2], reverse=True)]


def _said_before(case: Case) -> Iterator[Fact]:
    """What the user told of themselves in earlier prompts."""
    for exchange in case.situation.past:
        for sentence in sentences(exchange.prompt[:2_000]):
            told = _REMEMBER.match(sentence)
            said = told["fact"] if told else sentence
            if told or (_TOLD.match(said) and not sentence.endswith("?")):
                yield Fact(text=as_fact(said))


def _list(facts: list[Fact] | tuple[Fact, ...]) -> str:
    if not facts:
        return ""
    rows = "\n".join(
        f"- {f'[{fact.id}] ' if fact.id else ''}{reporting.escaped(fact.text)}" for fact in facts
    )
    return f" This is what I was told:\n\n{rows}"


def _rewritten(text: str, rules: tuple[tuple[str, str], ...]) -> str:
    for pattern, instead in rules:
        flags = 0 if pattern.startswith(r"\bI") else re.IGNORECASE
        text = re.sub(pattern, instead, text, flags=flags)
    return text


def _sentence(text: str) -> str:
    text = " ".join(text.split())
    text = text[:1].upper() + text[1:]
    return text if text.endswith((".", "!", "?", "…")) else f"{text}."
