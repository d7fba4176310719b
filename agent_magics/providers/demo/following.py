"""Follow-ups: *and now in Kelvin*, *and for 40?*, *the same for cars*.

A follow-up is completed into a question that stands for itself, by changing one thing in the question
before it. So no other rule needs to know of the history, and the thinking can say how the prompt was read.
What was asked before is itself completed in the same way, from the first exchange on; where a prompt tells
nothing, the calls and the replies of its exchange are read.

>>> past = Past(question="convert 30 celsius to fahrenheit")
>>> complete("and now in Kelvin?", past, Lexicon())
'convert 30 celsius to kelvin'
>>> complete("and for 40?", past, Lexicon())
'convert 40 celsius to fahrenheit'
"""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import dataclass

from agent_magics.providers.demo import evidence
from agent_magics.providers.demo.case import lexicon_of
from agent_magics.providers.demo.figures import literal, numbers
from agent_magics.providers.demo.lexicon import Lexicon, Quantity
from agent_magics.providers.demo.passage import Passage
from agent_magics.providers.demo.reading import Done, Exchange, Situation
from agent_magics.providers.demo.recipes import conversions
from agent_magics.providers.demo.units import Unit

_LEAD = re.compile(
    r"^(?:(?:and|but|ok(?:ay)?|now|then|so|also|please|again|what\s+about|how\s+about|what\s+is\s+(?:it|that)|"
    r"what's\s+(?:it|that)|(?:do\s+)?the\s+same(?:\s+thing)?|same|the)\b[\s,]*)+",
    re.IGNORECASE,
)
_INTO = re.compile(r"\b(?:in|into|to|as)\s+", re.IGNORECASE)
_FOR = re.compile(r"^(?:for|of|with|from|in|on)\s+", re.IGNORECASE)
_STATISTIC = re.compile(
    r"\b(?:mean|average|median|std|standard deviation|sum|total|"
    r"min(?:imum)?|max(?:imum)?|smallest|largest|count)\b",
    re.IGNORECASE,
)
_GROUP = re.compile(
    r"\b(?:by|per|for each|for every|grouped by)\s+[\w ]*?\w+(?=\s+(?:in|of|from)\b|\s*\??$)", re.IGNORECASE
)
_LAST_NAME = re.compile(
    r"(?P<before>.*\b(?:in|of|from|for|on|at)\s+(?:the\s+)?)(?P<name>[\w.-]+)(?P<after>\W*)$", re.DOTALL
)
_SUPPLIED = re.compile(r"^\w+\s*=\s*\S")
REACH = 1_000
"""Characters of an earlier prompt or reply that a follow-up may refer to."""

LONGEST = 80
"""Characters of a prompt that may still be a follow-up."""


@dataclass(frozen=True, kw_only=True)
class Past:
    """What a follow-up may follow: the last question that stands for itself, its calls and its reply."""

    question: str = ""
    done: tuple[Done, ...] = ()
    reply: str = ""


def question_of(situation: Situation) -> str:
    """The running prompt as a question that stands for itself."""
    return complete(situation.now.prompt, past_of(situation), lexicon_of(situation))


def past_of(situation: Situation) -> Past:
    """The earlier exchanges, each completed from those before it."""
    lexicon = lexicon_of(situation)
    past = Past()
    for exchange in situation.past:
        past = _after(past, exchange, lexicon)
    return past


def complete(prompt: str, past: Past, lexicon: Lexicon) -> str:
    """``prompt`` itself, or, if it is a follow-up, the question that it stands for."""
    text = prompt.strip()
    if len(text) > LONGEST or not (past.question or past.done or past.reply):
        return prompt
    if _SUPPLIED.match(text) and not past.done and past.question:
        return f"{past.question} {text}"
    rest = _LEAD.sub("", text).strip().rstrip("?!. ")
    is_led = rest != text.rstrip("?!. ")
    if not is_led and not _begins_as_follow_up(rest, lexicon):
        return prompt
    for rule in _RULES if is_led else _RULES[:2]:
        if completed := rule(rest, past, lexicon):
            return completed
    return prompt


def is_follow_up(prompt: str) -> bool:
    """Whether a prompt reads as one that needs an earlier one."""
    match = _LEAD.match(prompt.strip())
    return bool(match) and len(prompt) <= LONGEST and len(prompt.split()) <= 6


def _after(past: Past, exchange: Exchange, lexicon: Lexicon) -> Past:
    question = complete(exchange.prompt[:REACH], past, lexicon)
    return Past(question=question, done=exchange.done, reply=exchange.reply[:REACH])


def _begins_as_follow_up(rest: str, lexicon: Lexicon) -> bool:
    """*in kelvin*, *for 40*, *40 miles*: too short to be a question."""
    return len(rest.split()) <= 5 and bool(
        _INTO.match(rest) or _FOR.match(rest) or _only_amount(rest, lexicon)
    )


def _only_amount(rest: str, lexicon: Lexicon) -> bool:
    found = numbers(rest)
    if len(found) != 1 or found[0].start:
        return False
    read = lexicon.read(rest, found[0].end)
    return not rest[read[1] if read else found[0].end :].strip()


def _other_measure(rest: str, past: Past, lexicon: Lexicon) -> str:
    """Another value, another source or another target of the last conversion."""
    amount, unit, target, left = _read_measure(rest, lexicon)
    if left or (amount is None and target is None):
        return ""
    conversion = conversions.read(past.question, lexicon)
    known = _last_quantity(past, lexicon)
    if conversion is None and known is None:
        return ""
    source = unit or (conversion.source if conversion else None) or (known.unit if known else None)
    value = (
        amount if amount is not None else conversion.value if conversion else known.value if known else None
    )
    target = target or (conversion.target if conversion else None)
    if source is None or value is None or target is None or (target.name == source.name):
        return ""
    return f"convert {literal(value)} {source.name} to {target.name}"


def _read_measure(rest: str, lexicon: Lexicon) -> tuple[float | None, Unit | None, Unit | None, str]:
    """The number, its unit, the unit behind *in* or *to*, and what is left besides."""
    text = _FOR.sub("", rest) if numbers(rest) else rest
    amount = next((number for number in numbers(text) if not text[: number.start].strip()), None)
    whole = next((each for each in lexicon.quantities(text) if amount and each.start == amount.start), None)
    text = text[whole.end if whole else amount.end if amount else 0 :].strip()
    into = _INTO.match(text)
    target = lexicon.read(text, into.end()) if into else None
    left = text[target[1] :] if target else text
    value = whole.value if whole else amount.value if amount else None
    return value, whole.unit if whole else None, target[0] if target else None, left.strip()


def _last_quantity(past: Past, lexicon: Lexicon) -> Quantity | None:
    """The quantity that was spoken of last: in the question, in the calls, or in the reply."""
    if found := lexicon.quantities(past.question):
        return found[-1]
    for done in reversed(past.done):
        for name, value in done.arguments.items():
            unit = lexicon.find(name.replace("_", " "))
            if unit and isinstance(value, int | float) and not isinstance(value, bool):
                return Quantity(value=value, unit=unit, start=0, end=0)
    said = lexicon.quantities(past.reply.replace("*", ""))
    return said[0] if said else None


def _other_number(rest: str, past: Past, _: Lexicon) -> str:
    """Another number where the last question had one."""
    new, old = numbers(rest), numbers(past.question)
    if len(new) != 1 or not old or _FOR.sub("", rest)[: len(rest)].strip() != rest[new[0].start : new[0].end]:
        return ""
    return past.question[: old[0].start] + literal(new[0].value) + past.question[old[0].end :]


def _other_quotation(rest: str, past: Past, _: Lexicon) -> str:
    """Another quoted text where the last question had one."""
    new, old = Passage.of(rest), Passage.of(past.question)
    if not new.quoted or not old.quoted:
        return ""
    return _replaced_last(past.question, old.quoted[-1], new.quoted[-1])


def _other_statistic(rest: str, past: Past, _: Lexicon) -> str:
    """Another statistic, or another group, of the same column."""
    if _STATISTIC.fullmatch(rest) and _STATISTIC.search(past.question):
        return _STATISTIC.sub(rest, past.question, count=1)
    if _GROUP.fullmatch(rest) and _STATISTIC.search(past.question):
        if _GROUP.search(past.question):
            return _GROUP.sub(rest, past.question, count=1)
        frame = re.search(r"\s+(?:in|of|from)\s+\w+\W*$", past.question)
        at = frame.start() if frame else len(past.question)
        return f"{past.question[:at]} {rest}{past.question[at:]}"
    return ""


def _other_name(rest: str, past: Past, _: Lexicon) -> str:
    """Another thing: where the last call's argument stood in the question, or behind its last preposition."""
    name = _FOR.sub("", rest)
    if not name or len(name.split()) > 4 or (name == rest and not evidence.proper_names(f"x {rest}")):
        return ""
    texts = [value for done in past.done for value in done.arguments.values() if isinstance(value, str)]
    for text in sorted(filter(None, texts), key=len, reverse=True):
        if re.search(rf"(?<!\w){re.escape(text)}(?!\w)", past.question):
            return _replaced_last(past.question, text, name)
    match = _LAST_NAME.fullmatch(past.question)
    return f"{match['before']}{name}{match['after']}" if match else ""


def _replaced_last(text: str, old: str, new: str) -> str:
    head, found, tail = text.rpartition(old)
    return f"{head}{new}{tail}" if found else text


_RULES: tuple[Callable[[str, Past, Lexicon], str], ...] = (
    _other_measure,
    _other_number,  # the rest only behind a word such as *and*: "for whom the bell tolls" asks for nothing
    _other_quotation,
    _other_statistic,
    _other_name,
)
