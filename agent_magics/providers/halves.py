"""Characters that a server cut in two.

JSON writes a character outside the basic plane as two escapes, a surrogate pair. Servers that count text in
UTF-16 units may put the halves into different events; alone, a half is no character, and nothing can print
or store it. https://www.rfc-editor.org/rfc/rfc8259#section-8.2
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from agent_magics.talk import ProviderEvent, Saying, Thinking


def whole(text: str) -> str:
    """``text`` with its pairs put together, and halves without a partner replaced.

    >>> whole("\\ud83d\\ude00"), whole("a\\ud83d")
    ('😀', 'a�')
    """
    if text.isascii():
        return text
    return text.encode("utf-16", "surrogatepass").decode("utf-16", "replace")


class Halves:
    """Holds back the first half at the end of one piece until the next piece brings the second."""

    def __init__(self) -> None:
        self._held: dict[type[Saying | Thinking], str] = {}

    def __bool__(self) -> bool:
        return bool(self._held)

    def mend(self, events: Iterable[ProviderEvent]) -> Iterator[ProviderEvent]:
        """``events``, with whole characters only."""
        for event in events:
            if not isinstance(event, Saying | Thinking):
                yield event
                continue
            text = self._held.pop(type(event), "") + event.text
            if "\ud800" <= text[-1:] <= "\udbff":
                self._held[type(event)] = text[-1]
                text = text[:-1]
            if text:
                yield type(event)(text=whole(text))
