"""Names of people and of places, by their capitals and by the words around them.

>>> people("Extract the data: Ann Lee met Bob in Bonn."), places("Ann Lee met Bob in Bonn.")
(['Ann Lee', 'Bob'], ['Bonn'])
"""

from __future__ import annotations

import re

from agent_magics.providers.demo.words import STOP, word_set

_NAME = r"[^\W\d_a-z][\w'’-]*"
_PERSON = re.compile(
    rf"(?:\b(?:my name is|name is|named|called|i am|i'm|this is|by|mr\.?|mrs\.?|ms\.?|dr\.?)\s+)?"
    rf"(?P<name>(?-i:{_NAME}(?:\s+(?:van|von|de|da|del|der|den|le|la)\s+|\s+|\s+[A-Z]\.\s+){_NAME}(?:\s+{_NAME})?|{_NAME}))",
    re.IGNORECASE,
)
_PLACE = re.compile(
    rf"\b(?:in|from|at|near|to|of|city|town)\s+(?:the\s+)?(?P<place>{_NAME}(?:[\s-]{_NAME})*)"
)
_NO_NAME = word_set(
    """
    january february march april may june july august september october november december
    monday tuesday wednesday thursday friday saturday sunday
    extract find list give order please bug bugs name age email date the
    """
)


def people(text: str) -> list[str]:
    """Names of people: words with capitals that are no beginning of a request, no month and no place."""
    elsewhere = set(places(text))
    found: list[str] = []
    for match in _PERSON.finditer(text):
        name = match["name"]
        first = name.split()[0].casefold()
        if first in STOP | _NO_NAME or name in elsewhere or name.isupper():
            continue
        found.append(name)
    return list(dict.fromkeys(found))


def places(text: str) -> list[str]:
    """Names behind *in*, *from*, *at* and the like."""
    return [match["place"] for match in _PLACE.finditer(text)]
