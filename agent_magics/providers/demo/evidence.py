"""What can be found in a text by form alone: addresses, files, names, labels, phrases.

Numbers, quantities and dates have files of their own; here is the rest of what fills the arguments of a tool
or the fields of a schema.
"""

from __future__ import annotations

import re
from collections.abc import Iterator

_EMAIL = re.compile(r"[\w.+-]{1,64}@(?:[\w-]{1,63}\.)+[^\W\d_]{2,24}")
_URL = re.compile(r"\b(?:(?:https?|ftp)://|www\.)[^\s<>\"'”“)\]]+", re.IGNORECASE)
_FILE = re.compile(
    r"(?<![\w/:@.-])(?:\.{0,2}/)?(?:[\w-]+/){0,20}[\w-]{1,100}(?:\.[\w-]{1,40}){0,3}\."
    r"(?:csv|tsv|txt|md|rst|json|jsonl|ya?ml|toml|xml|html?|py|ipynb|r|js|ts|c|h|cpp|rs|go|java|ex|exs|rb|sh|sql|log|ini|cfg|"
    r"pdf|docx?|xlsx?|pptx?|parquet|feather|png|jpe?g|gif|svg|webp|zip|tar|gz|db|sqlite)\b(?![\w@])",
    re.IGNORECASE,
)
_NAMES = re.compile(
    r"(?<![\w.])[^\W\d_a-z][\w'’-]*(?:\s+(?:(?:van|von|de|da|del|of|the)\s+)?[^\W\d_a-z][\w'’-]*){0,4}"
)
_PHRASE = re.compile(
    r"\b(?:in|of|for|at|to|from|about|on|named|called|with|by)\s+(?:the\s+|an?\s+)?"
    r"(?P<phrase>[^\s,;:?!.“”](?:[^,;:?!“”\n]*?[^\s,;:?!.“”])??)"
    r"(?=\s+(?:and|in|of|for|at|to|from|about|on|with|by|then|is|are|has|please)\b|\s*[,;:?!“”\n]|\.?\s*$|\.\s)",
    re.IGNORECASE,
)
_QUOTATION = r"\"([^\"]*)\"|“([^”]*)”|'([^'\n]*)'|`([^`\n]*)`"
_QUOTED = re.compile(r"\"([^\"]*)\"|“([^“”]*)”|«([^«»]*)»|(?<!\w)'([^'\n]*)'(?!\w)")
_SENTENCE = re.compile(r"(?<=[.!?…])\s+|\s*\n+\s*")


def emails(text: str) -> list[str]:
    """The e-mail addresses, in order."""
    return [match.group() for match in _EMAIL.finditer(text)] if "@" in text else []


def urls(text: str) -> list[str]:
    """The web addresses, in order, without the punctuation behind them."""
    return list(dict.fromkeys(match.group().rstrip(".,;:!?") for match in _URL.finditer(text)))


def files(text: str) -> list[str]:
    """The names of files with a known ending, in order."""
    return [match.group() for match in _FILE.finditer(text)]


def proper_names(text: str) -> list[str]:
    """Words with a capital that do not merely begin a sentence, joined where they stand together."""
    found: list[str] = []
    for match in _NAMES.finditer(text):
        before = text[: match.start()].rstrip()
        name = match.group()
        if not before or before[-1] in ".!?:“\n":
            name = name.partition(" ")[2]
        if name and name not in ("I", "I'm", "I’m"):
            found.append(name)
    return found


def phrases(text: str) -> list[str]:
    """What stands behind a preposition, up to the next one: *Hamburg* in *the weather in Hamburg*."""
    return [match["phrase"].strip() for match in _PHRASE.finditer(text)]


def sentences(text: str) -> list[str]:
    """The sentences, in order."""
    return [part.strip() for part in _SENTENCE.split(text) if part.strip()]


def quotations(text: str) -> list[str]:
    """What stands in quotation marks, in order."""
    return [next(filter(None, match.groups()), "") for match in _QUOTED.finditer(text)]


def labelled(text: str, label: str) -> str:
    """What follows ``label`` as its value, with a mark between (``label: value``) or without."""
    return next(all_labelled(text, label), "")


def all_labelled(text: str, label: str) -> Iterator[str]:
    """All that follows ``label`` as its value, what has a mark between first."""
    if marked := labelled_with_mark(text, label):
        yield marked
    for match in re.finditer(
        rf"(?<!\w){_spelled(label)}\s+(?:{_QUOTATION}|([^\s,;?!]+))", text, re.IGNORECASE
    ):
        yield next(filter(None, match.groups()), "").strip()


def labelled_with_mark(text: str, label: str) -> str:
    """What follows ``label`` behind a colon, an equals sign, *is* or *of*, up to the end of the item."""
    mark = r"\s*(?:[:=]|\bis\b|\bare\b|\bwas\b|\bof\b)\s*"
    end = r"(?=\.?\s*(?:[\n,;]|$)|\.\s)"
    match = re.search(
        rf"(?<!\w){_spelled(label)}{mark}(?:{_QUOTATION}|([^\n,;]+?)){end}", text, re.IGNORECASE
    )
    return next(filter(None, match.groups()), "").strip() if match else ""


def _spelled(label: str) -> str:
    return r"[\s_-]+".join(map(re.escape, label.split()))
