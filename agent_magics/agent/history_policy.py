"""How much of the earlier turns the model is sent again.

``full`` sends whole turns, ``replies`` every prompt and its final reply, ``last:N`` the last N turns, each
reduced to its prompt and its reply. A pinned turn is sent whole under each of them.
"""

from __future__ import annotations

from dataclasses import dataclass

from agent_magics.errors import UsageError
from agent_magics.talk import Message, Turn
from agent_magics.talk.transcript import PARTIAL, prompt_message, turn_messages

LAST = 4
"""The N of ``last`` alone."""

REPLY = -1
"""The place of a reply in a turn that was reduced to it."""

_LONGEST = 100


@dataclass(frozen=True, kw_only=True)
class HistoryPolicy:
    """A policy by name, and for ``last`` how many turns.

    >>> str(HistoryPolicy.read("last"))
    'last:4'
    """

    name: str = "full"
    turns: int = 0

    @classmethod
    def read(cls, text: str) -> HistoryPolicy:
        """The policy that is written so.

        Raises
        ------
        UsageError
            If none is.
        """
        name, colon, number = text.strip().partition(":")
        if name in ("full", "replies") and not colon:
            return cls(name=name)
        if name == "last" and not colon:
            return cls(name=name, turns=LAST)
        if name == "last" and number.isascii() and number.isdecimal() and len(number) < 7 and int(number):
            return cls(name=name, turns=int(number))
        raise UsageError(
            f"There is no context policy {text!r}.",
            "There are full (whole turns), replies (prompts and replies) and last:N (the last N of these).",
            "For example `/context policy last:4`, or Session(context='replies').",
        )

    def __str__(self) -> str:
        return f"{self.name}:{self.turns}" if self.turns else self.name

    def sends(self, turn: Turn, *, behind: int, pinned: bool) -> bool:
        """Whether a turn is sent at all that has ``behind`` turns behind it."""
        return pinned or not self.turns or behind < self.turns

    def messages(self, turn: Turn, *, pinned: bool) -> list[tuple[int, Message]]:
        """A turn's messages, each with its place in the turn."""
        whole = pinned or self.name == "full"
        messages = turn_messages(turn) if whole else [prompt_message(turn.prompt, turn.images), _reply(turn)]
        if note := told_of(turn):
            messages[0] = _noted(messages[0], note)
        return list(enumerate(messages)) if whole else [(0, messages[0]), (REPLY, messages[1])]


def marks(turn: Turn) -> list[str]:
    """What a reader of the list of turns should know of one."""
    origin = " ".join(turn.origin.split())[:_LONGEST]
    return [*([origin] if origin else ()), *(["stale"] if turn.stale else ())]


def told_of(turn: Turn) -> str:
    """The same for the model, in a sentence; empty for most turns."""
    said = {"stale": "out of date, for a turn above it was run again since"}
    parts = [said.get(mark, mark) for mark in marks(turn)]
    return f"(This turn is {'; '.join(parts)}.)" if parts else ""


def _noted(message: Message, note: str) -> Message:
    content = message["content"]
    if isinstance(content, str):
        return {**message, "content": f"{note}\n{content}"}
    return {**message, "content": [*content[:-1], {**content[-1], "text": f"{note}\n{content[-1]['text']}"}]}


def _reply(turn: Turn) -> Message:
    text = turn.reply or f"(no answer: {turn.stop or 'running'})"
    broken = turn.reply and turn.steps and turn.steps[-1].stop in PARTIAL
    if broken:
        text += f"\n\n(This answer broke off here: {turn.steps[-1].stop}.)"
    return {"role": "assistant", "content": text}
