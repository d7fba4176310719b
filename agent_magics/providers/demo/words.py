"""Words: what the rules see of a text when they compare it with names and descriptions.

A word is cut to its stem by a few endings, so that *counts*, *counted* and *counting* are one. Words that
carry no meaning of their own are left out. Some words stand for each other: *how many* asks for a *count*.

>>> stems("Counting the vowels of a word")
['count', 'vowel', 'word']
"""

from __future__ import annotations

import re
import unicodedata
from functools import lru_cache

_WORD = re.compile(r"[^\W\d_]+(?:['’][^\W\d_]+)?|\d+")
_CAMEL = re.compile(r"(?<=[a-z0-9])(?=[A-Z])")
_ENDINGS = ("ing", "ed", "es", "s", "e")


def word_set(table: str) -> frozenset[str]:
    """The words of a table."""
    return frozenset(table.split())


STOP = word_set(
    """
    a about after all also am an and any are as at be been before by can could did do does for from give had
    has have he her here his how i if in into is it its just let like made make me my now of off on one or our
    out please she should so some such tell than that the their them then there these they this those to too
    up us use used user using want was we were what when where which who why will with would you your
    """
)
"""Words that say nothing about the subject."""

GENERIC = word_set(
    """
    get fetch do make compute calculate run find lookup look show tell give return take
    text string value number data result tool function list input output item thing
    """
)
"""Words in a tool's name that need not be said for the tool to be meant."""

_ALIKE = (
    "count many amount",
    "mean average avg",
    "multiply times product",
    "add plus sum total",
    "subtract minus difference",
    "divide quotient ratio",
    "uppercase upper capitals capitalise capitalize shout",
    "lowercase lower",
    "reverse backwards backward flip",
    "title heading headline",
    "load open read",
    "search find",
    "delete remove drop forget",
    "create new build",
    "convert translate turn",
    "max maximum highest largest biggest",
    "min minimum lowest smallest",
    "url link web site page",
    "letter character",
    "save store write",
)


def words(text: str) -> list[str]:
    """The words of ``text``, in lower case, with underscores and capitals inside names as borders."""
    return [match.group().casefold() for match in _WORD.finditer(_CAMEL.sub(" ", text.replace("_", " ")))]


@lru_cache(maxsize=4096)
def stem(word: str) -> str:
    """A word without its commonest endings; what is left need not be a word.

    >>> stem("lives") == stem("live") == stem("living")
    True
    """
    word = word.casefold().removesuffix("'s").removesuffix("’s")
    if len(word) > 4 and word.endswith("ies"):
        return word[:-3] + "y"
    for ending in _ENDINGS:
        if len(word) - len(ending) >= 3 and word.endswith(ending) and not word.endswith("ss"):
            word = word.removesuffix(ending)
    return word[:-1] if len(word) > 3 and word[-1] == word[-2] else word


def stems(text: str) -> list[str]:
    """The stems of the words that carry meaning, in order."""
    return [stem(word) for word in words(text) if word not in STOP]


_MEANING = {stem(word): group.split()[0] for group in _ALIKE for word in group.split()}


def meaning(word: str) -> str:
    """The stem under which words of one meaning meet.

    >>> meaning("average") == meaning("means")
    True
    """
    cut = stem(word)
    return _MEANING.get(cut, cut)


def singular(word: str) -> str:
    """One of what ``word`` names, by the commonest endings."""
    if len(word) > 4 and word.endswith(("xes", "ches", "shes", "sses")):
        return word[:-2]
    return word[:-1] if len(word) > 3 and word.endswith("s") and not word.endswith("ss") else word


def plural(word: str) -> str:
    """Several of what ``word`` names, by the commonest endings."""
    return f"{word}es" if word.endswith(("s", "x", "ch", "sh")) else f"{word}s"


def identifier(text: str, otherwise: str = "unit") -> str:
    """``text`` as part of a Python name: ASCII, lower case, underscores.

    >>> identifier("Blörp per hour")
    'blorp_per_hour'
    """
    plain = unicodedata.normalize("NFKD", text.casefold().replace("ß", "ss"))
    joined = re.sub(r"[^a-z0-9]+", "_", plain.encode("ascii", "ignore").decode()).strip("_")
    return joined if joined and not joined[0].isdigit() else f"{otherwise}_{joined}".strip("_")


def joined(names: list[str], last: str = "and") -> str:
    """A list as people write it.

    >>> joined(["a", "b", "c"])
    'a, b and c'
    """
    return (
        names[0] if len(names) == 1 else f" {last} ".join([", ".join(names[:-1]), names[-1]] if names else [])
    )
