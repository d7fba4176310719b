"""The door that every event of a session goes through before anybody sees or keeps it: no key gets past.

A model may say a key in two pieces, so the end of a text that arrives is held back for as long as it might be
the beginning of one.
"""

from __future__ import annotations

from collections.abc import Callable

from agent_magics.masking import MaskedStream, masked
from agent_magics.talk import Event, ReplyReceived, Retrying, Saying, Thinking

IN_THE_PROMPT = (
    "The prompt held an API key. It was masked before it was stored or sent; the cell still has it."
)


class Secrecy:
    """Masks events and passes them on.

    Parameters
    ----------
    emit : callable
        Where they go.
    """

    def __init__(self, emit: Callable[[Event], None]) -> None:
        self._emit = emit
        self._arriving = MaskedStream()
        self._kind: type[Saying | Thinking] = Saying

    def __call__(self, event: Event) -> None:
        if isinstance(event, Saying | Thinking):
            self._piece(event)
            return
        if isinstance(event, ReplyReceived | Retrying):
            self._flush()
        self._emit(masked(event))

    def _piece(self, event: Saying | Thinking) -> None:
        if self._kind is not type(event):
            self._flush()
            self._kind = type(event)
        text = self._arriving.take(event.text)
        if text == event.text:
            self._emit(event)
        elif text:
            self._emit(self._kind(text=text))

    def _flush(self) -> None:
        """What was held back was no key after all."""
        if text := self._arriving.rest():
            self._emit(self._kind(text=text))
