"""The recipes for texts: which function of the book a question asks for, and on which text.

>>> from agent_magics.providers.demo.passage import Passage
>>> found = read(Passage.of('How many vowels are in "banana"?'))
>>> found.draft.name, found.arguments, found.tell(3, found.arguments)
('count_vowels', {'text': 'banana'}, 'There are **3** vowels in “banana”.')
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

from agent_magics.providers.demo.figures import figure, numbers
from agent_magics.providers.demo.passage import Passage
from agent_magics.providers.demo.recipes.book import counts, texts
from agent_magics.providers.demo.recipes.draft import Job, draft_of
from agent_magics.providers.demo.words import singular
from agent_magics.talk import JSON

Tell = Callable[[JSON, Mapping[str, JSON]], str]

_WEAK = re.compile(
    r"\b(?:in|of|from|does)\s+(?:(?:the\s+)?(?:(?:following|given)\s+)?"
    r"(?:word|text|sentence|string|phrase|name)s?\s+)?(?P<text>\S.*)$",
    re.IGNORECASE,
)
_NO_TEXT = re.compile(
    r"^(?:(?:this|that|it|them|these|those|an?|the|any|some|my|your|each|every|following|given|“”)\b\s*)*"
    r"(?:result|answer|text|sentence|string|phrase|word|message|prompt|input)?s?(?:\s+(?:have|contain|is|are))?$",
    re.IGNORECASE,
)
_NAMES_TEXT = re.compile(r"^(?:the|its|their|my|your|this|that)\s+\w+", re.IGNORECASE)


@dataclass(frozen=True, kw_only=True)
class TextRecipe:
    """One function of the book, the questions that ask for it, and how its result is told."""

    asks: re.Pattern[str]
    function: Callable[..., Any]
    tell: Tell


def read(passage: Passage) -> Job | None:
    """The job that the passage asks for; with a hole where it doesn't say which text is meant."""
    clean = passage.clean
    for recipe in RECIPES:
        if match := recipe.asks.search(clean):
            return _job(recipe, passage, match)
    return None


def _job(recipe: TextRecipe, passage: Passage, match: re.Match[str]) -> Job:
    arguments: dict[str, JSON] = {}
    quoted = [text for text in (*passage.quoted, passage.tail) if text]
    if recipe.function is counts.count_occurrences:
        said = match["part"]
        arguments["part"] = quoted.pop(0) if "“”" in said and quoted else said.strip()
    if recipe.function in (texts.common_words, texts.summarise_text) and (found := numbers(passage.clean)):
        arguments["most"] = int(found[0].value)
    text = quoted[0] if quoted else _weak_text(passage, match)
    if text:
        arguments["text"] = text
    return Job(
        draft=draft_of(recipe.function, _example(recipe.function, arguments)),
        work=recipe.function,
        tell=recipe.tell,
        arguments=arguments,
        hole="" if text else "text",
        question=passage.whole if len(passage.whole) <= 300 else passage.bare,
        vague=bool(text) and not quoted and bool(_NAMES_TEXT.match(text)),
    )


def _weak_text(passage: Passage, match: re.Match[str]) -> str:
    """A text without quotation marks: what stands behind *in* or *of*, or in the recipe's own group."""
    own = match.groupdict().get("text")
    weak = None if own else _WEAK.search(passage.clean, match.end())
    text = own or (weak["text"] if weak else "")
    text = re.sub(
        r"^(?:the\s+)?(?:word|text|sentence|phrase|string)\s+", "", text.strip(), flags=re.IGNORECASE
    )
    text = re.sub(r"\s+(?:have|contain)$", "", text)
    return "" if _NO_TEXT.match(text) else text


def _example(function: Callable[..., Any], arguments: dict[str, JSON]) -> dict[str, JSON]:
    """Arguments to try the tool with: the question's own where it has some, but short."""
    example: dict[str, JSON] = {"text": str(arguments.get("text") or "Was it a car or a cat I saw?")[:200]}
    if function is counts.count_occurrences:
        example["part"] = arguments["part"]
    return example


def _about(arguments: Mapping[str, JSON]) -> str:
    """The text in quotation marks, cut where it is long."""
    text = " ".join(str(arguments.get("text", "")).split())
    return f"“{text if len(text) <= 60 else text[:59].rstrip() + '…'}”"


def _number_of(noun: str) -> Tell:
    def tell(value: JSON, arguments: Mapping[str, JSON]) -> str:
        name = singular(noun) if value == 1 else noun
        return f"There {'is' if value == 1 else 'are'} **{figure(value)}** {name} in {_about(arguments)}."

    return tell


def _occurrences(value: JSON, arguments: Mapping[str, JSON]) -> str:
    times = "time" if value == 1 else "times"
    return f"“{arguments.get('part', '')}” occurs **{figure(value)}** {times} in {_about(arguments)}."


def _table(heading: str) -> Tell:
    def tell(value: JSON, arguments: Mapping[str, JSON]) -> str:
        rows = "".join(f"\n| {name} | {figure(count)} |" for name, count in dict(value).items())
        return f"In {_about(arguments)}:\n\n| {heading} | times |\n|---|---:|{rows}"

    return tell


def _longest(value: JSON, arguments: Mapping[str, JSON]) -> str:
    return f"The longest word in {_about(arguments)} is **{value}** ({len(str(value))} characters)."


def _palindrome(value: JSON, arguments: Mapping[str, JSON]) -> str:
    verdict = "Yes" if value else "No"
    return f"**{verdict}**, {_about(arguments)} reads {'the same' if value else 'differently'} backwards."


def _reversed(value: JSON, arguments: Mapping[str, JSON]) -> str:
    return f"Backwards, {_about(arguments)} reads “{value}”."


def _summary(value: JSON, _: Mapping[str, JSON]) -> str:
    return f"By the sentences whose words occur most: {value}"


def _asks(*forms: str) -> re.Pattern[str]:
    return re.compile("|".join(forms), re.IGNORECASE)


def _count(
    noun: str, function: Callable[..., Any], told: str, between: str = r"[^.?!“]{0,25}?"
) -> TextRecipe:
    how_many = r"\b(?:how many|number of|count(?:s|ing)?(?: of)?|amount of)\b"
    asks = _asks(rf"{how_many}{between}\b{noun}\b", rf"\b{noun}[ _](?:count|number)")
    return TextRecipe(asks=asks, function=function, tell=_number_of(told))


RECIPES: tuple[TextRecipe, ...] = (
    TextRecipe(
        asks=_asks(r"\bpalindrom\w*\b", r"\bis\s+(?P<text>.+?)\s+(?:an?\s+)?palindrom"),
        function=texts.is_palindrome,
        tell=_palindrome,
    ),
    TextRecipe(
        asks=_asks(
            r"\bsummar(?:y|i[sz]e)\b(?:.*\b(?:text|article|following|this|conversation)\b|[:“]|.*\bof\b)"
        ),
        function=texts.summarise_text,
        tell=_summary,
    ),
    TextRecipe(asks=_asks(r"\blongest[ _]words?\b"), function=texts.longest_word, tell=_longest),
    TextRecipe(
        asks=_asks(
            r"\b(?:letter|character)[ _](?:frequenc\w+|distribution)\b", r"\bfrequency of (?:the )?letters\b"
        ),
        function=texts.letter_frequency,
        tell=_table("letter"),
    ),
    TextRecipe(
        asks=_asks(r"\b(?:most )?(?:common(?:est)?|frequent)[ _]words?\b", r"\bword[ _]frequenc\w+\b"),
        function=texts.common_words,
        tell=_table("word"),
    ),
    TextRecipe(
        asks=_asks(
            r"\bhow (?:often|many times) (?:does|do|is|are)?\s*(?:the )?(?:letter |word |phrase )?"
            r"(?P<part>“”|\w+)",
        ),
        function=counts.count_occurrences,
        tell=_occurrences,
    ),
    _count(r"(?:unique|different|distinct)[ _]words?", counts.count_unique_words, "different words"),
    _count("words?", counts.count_words, "words"),
    _count("vowels?", counts.count_vowels, "vowels"),
    _count("consonants?", counts.count_consonants, "consonants"),
    _count("letters?", counts.count_letters, "letters"),
    _count("digits?", counts.count_digits, "digits"),
    _count("(?:characters?|chars?)", counts.count_characters, "characters"),
    _count("lines?", counts.count_lines, "lines"),
    _count("sentences?", counts.count_sentences, "sentences"),
    TextRecipe(
        asks=_asks(
            r"\breverse\s+(?:the )?(?P<text>.+)", r"\b(?P<backwards>backwards?)\b", r"\breverse[ _]text\b"
        ),
        function=texts.reverse_text,
        tell=_reversed,
    ),
)
"""The recipes, the more special before the more general."""
