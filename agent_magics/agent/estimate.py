"""How many tokens a request has, about.

Nobody can count another's tokens exactly without its tokenizer, and there are many. Four characters make one
here, until the vendor tells what a request really had; from then on its own measure is used.
"""

from __future__ import annotations

import json
from dataclasses import dataclass, replace

from agent_magics.talk import Message

CHARACTERS = 4.0
"""Of one token, while nothing better is known."""

PICTURE = 4_000
"""Characters that a picture counts for: about a thousand tokens at every vendor, whatever its file's size."""

_PLAUSIBLE = (1.0, 12.0)
"""Characters a token. Code, prose and most scripts lie between; a server that says something else counts
something else (only what was new to its cache, for instance), and is not believed."""


@dataclass(frozen=True, kw_only=True)
class Measure:
    """What is known of a model's tokens, and of the last request.

    Attributes
    ----------
    characters : float
        Of one token.
    guessed, told : int
        Tokens of the last request: estimated before it was sent, and as the vendor told them (0 if it did
        not).
    model : str
        The ``name:model`` that told.
    """

    characters: float = CHARACTERS
    guessed: int = 0
    told: int = 0
    model: str = ""

    def tokens(self, size: int) -> int:
        """About how many tokens ``size`` characters are."""
        return round(size / self.characters + 0.49)

    def size(self, tokens: float) -> int:
        """About how many characters ``tokens`` tokens are."""
        return int(tokens * self.characters)

    def learned(self, size: int, told: int, model: str) -> Measure:
        """The measure after a request of ``size`` characters that had ``told`` tokens."""
        fresh = self if model == self.model else Measure(model=model)
        after = replace(fresh, guessed=fresh.tokens(size), told=told)
        least, most = _PLAUSIBLE
        if told and least <= size / told <= most:
            return replace(after, characters=size / told)
        return after


def size_of(message: Message) -> int:
    """The characters of one message as they count: what it says, and the calls in it."""
    content = message["content"]
    if isinstance(content, str):
        size = len(content)
    else:
        size = sum(len(part["text"]) if part["type"] == "text" else PICTURE for part in content)
    for call in message.get("tool_calls", ()):
        size += len(call["name"]) + len(json.dumps(call["arguments"], ensure_ascii=False))
    for opaque in message.get("opaque", ()):
        size += len(json.dumps(opaque["block"], ensure_ascii=False))
    return size + 8  # its role, and whatever marks its beginning and its end
