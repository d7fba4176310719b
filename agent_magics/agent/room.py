"""Keeps the requests of one turn inside the model's window.

The loop appends to the list of messages as it always did. Before each request this counts what is new, and
nothing else, so that a round costs the same however long the history is; only when the window fills up is the
history looked at as a whole, and the list rewritten.

Where the window is unknown nothing is done by itself, until a request was too long: then it is known, nearly.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from agent_magics.agent.background import background
from agent_magics.agent.compact import Compaction, Entry, applied, capped, entry, lighter, middle, shortened
from agent_magics.agent.context import AIM, START, Context, tools_text
from agent_magics.agent.summary import can_summarise, summarise
from agent_magics.agent.waiting import waited
from agent_magics.errors import AgentMagicsError, SessionError
from agent_magics.masking import masked
from agent_magics.ports import Provider
from agent_magics.talk import Compacting, Event, Message, Noticed, ToolSpec, Turn, Usage
from agent_magics.tools.result import text_of

if TYPE_CHECKING:
    from agent_magics.agent.line import Line
    from agent_magics.agent.session import Session

LAST_RESORT = 0.9
"""The part of the window from which on recent results are capped, too: better that than no answer."""

AGAIN = 0.05
"""The part of the window that must have come in before it is tried again; also what the middle must have for
a summary to be worth its request."""


@dataclass(kw_only=True)
class Room:
    """The messages of one turn's requests, and how much room they take.

    Parameters
    ----------
    turns : sequence of Turn
        The history.
    running : str
        The id of the turn that runs; empty between turns.
    emit : callable
        Told of what was done.
    spend : callable
        Given the tokens of a summary.

    Attributes
    ----------
    messages : list of Message
        What is sent. The loop appends the running turn's to it.
    """

    context: Context
    provider: Provider
    turns: Sequence[Turn]
    emit: Callable[[Event], None]
    spend: Callable[[Usage], None]
    running: str = ""
    messages: list[Message] = field(default_factory=list[Message])
    _entries: list[Entry] = field(default_factory=list[Entry])
    _size: int = 0
    _seen: int = 0
    _place: int = 0
    _settled: int = 0
    _retried: bool = False
    _tools: tuple[Sequence[ToolSpec], int] = ((), 0)

    def begin(self, prompt: Message | None = None) -> list[Message]:
        """The history, and the prompt of the running turn."""
        self._entries = self.context.entries(self.turns)
        self._lay()
        if prompt is not None:
            self.messages.append(prompt)
        return self.messages

    async def make(self, specs: Sequence[ToolSpec]) -> None:
        """Before a request: make room if the window fills up."""
        self._follow(specs)
        window = self._characters(self.context.window(self.provider))
        if window and self.size > max(START * window, self._settled):
            await self._compact(aim=AIM * window, most=START * window, window=window)
            self._settled = self.size + int(AGAIN * window)

    async def overflowed(self, specs: Sequence[ToolSpec]) -> bool:
        """After a request that was too long for the model: whether another one is worth it, once a turn."""
        if self._retried:
            return False
        self._retried = True
        self.context.overflowed(self.provider, self.tokens)
        before, window = self.size, self._characters(self.context.window(self.provider))
        await self._compact(aim=AIM * window, most=START * window, window=window)
        return self.size < LAST_RESORT * before

    async def compact(self, specs: Sequence[ToolSpec]) -> str:
        """All that can be done, because a person asked for it; returns what it was, or nothing."""
        self._follow(specs)
        window = self._characters(self.context.window(self.provider)) or 2 * self.size
        return await self._compact(aim=0, most=0, window=window)

    def learn(self, usage: Usage) -> None:
        """The vendor told what the last request had."""
        if usage.input:
            name = f"{self.provider.name}:{self.provider.model}"
            self.context.measure = self.context.measure.learned(self.size, usage.input, name)

    @property
    def size(self) -> int:
        """Characters of the next request."""
        return self._size + len(self.messages[0]["content"]) + self._tools[1]

    @property
    def tokens(self) -> int:
        """About how many tokens those are."""
        return self.context.measure_for(self.provider).tokens(self.size)

    # -- inside ----------------------------------------------------------------------------------

    def _follow(self, specs: Sequence[ToolSpec]) -> None:
        """Take in what the loop has appended."""
        if specs != self._tools[0]:
            self._tools = (list(specs), len(tools_text(specs)))
        for message in self.messages[self._seen :]:
            # The prompt that is being answered is what everything else is for.
            taken = entry((self.running, self._place), message, pinned=self._place == 0)
            self._entries.append(taken)
            self._size += taken.size
            self._place += 1
        self._seen = len(self.messages)

    def _lay(self) -> None:
        """Write the list anew, as the compaction wants it."""
        shown = applied(self._entries, self._compaction)
        self.messages[:] = [
            {"role": "system", "content": self.context.system()},
            *(each.message for each in shown),
        ]
        self._size, self._seen = sum(each.size for each in shown), len(self.messages)

    @property
    def _compaction(self) -> Compaction:
        return self.context.compaction_of(self.turns, self.running)

    def _take(self, compaction: Compaction) -> None:
        self.context.compaction = compaction
        self._lay()

    def _characters(self, tokens: int) -> int:
        return self.context.measure_for(self.provider).size(tokens)

    async def _compact(self, *, aim: float, most: float, window: int) -> str:
        """The steps, until there is room; returns, and tells, what was done."""
        before, earlier = self.size, self._compaction
        fixed = self.size - self._size
        self._take(lighter(self._entries, earlier, int(aim) - fixed))
        failure = await self._sum_up(window) if self.size > most else ""
        if most and self.size > LAST_RESORT * window:
            keep = int(LAST_RESORT * window) - fixed
            self._take(shortened(self._entries, self._compaction, keep, capped, recent=True))
        said = self._told(before, earlier) if self.size < before else ""
        for text in (said, failure):
            if text:
                self.emit(Noticed(text=text, at=time.time()))
        return " ".join(text for text in (said, failure) if text)

    async def _sum_up(self, window: int) -> str:
        """Sum up the middle; what went wrong, if it did."""
        now = self._compaction
        taken = middle(self._entries, now)
        if sum(each.size for each in taken) < AGAIN * window:
            return ""
        if not can_summarise(self.provider):
            return f"{self.provider.name} is made of rules and can't sum up, so nothing was summed up."
        messages, size = [each.message for each in taken], window // 2
        self.emit(Compacting())
        try:
            text = await summarise(
                self.provider, messages, now.summary, size=size, emit=self.emit, spend=self.spend
            )
        except Exception as error:  # a cancellation is none, and goes through
            why = error.what if isinstance(error, AgentMagicsError) else text_of(error)
            return f"The summary failed, so nothing was summed up: {why}"
        summed, before = now.and_summed_up(taken, masked(text)), self.size
        self._take(summed)
        if self.size < before:
            return ""
        self._take(now)
        return "The summary was no shorter than what it summed up, and was not used."

    def _told(self, before: int, earlier: Compaction) -> str:
        """What was done, in a line."""
        now, tokens = self._compaction, self.context.measure_for(self.provider).tokens
        sizes = f"{thousands(tokens(before))} → {thousands(tokens(self.size))} tokens"
        return f"Compacted: about {sizes} ({now.done(since=earlier)})."


def thousands(tokens: int) -> str:
    """A number of tokens, briefly.

    >>> thousands(950), thousands(41_230)
    ('950', '41k')
    """
    return f"{tokens:,}" if tokens < 10_000 else f"{round(tokens / 1000):,}k"


def compact_now(session: Session, line: Line) -> str:
    """Compact a session's history between two turns, and wait for it; returns what was done, and what the
    summary cost."""
    if background.inside():
        raise SessionError(
            "A conversation can't be compacted from inside a turn.",
            "It waits for the turn to end, and the turn would wait for it.",
            "Do it between two turns; inside one it happens by itself.",
        )
    done: list[str] = []
    spent: list[Usage] = []
    room = Room(
        context=session.context,
        provider=session.provider,
        turns=[*session.conversation.turns],
        emit=lambda event: None,
        spend=spent.append,
    )
    room.begin()

    async def work() -> None:
        done.append(await room.compact(session.specs()))

    waited(line.when_free(work))
    if tokens := sum(usage.total for usage in spent):
        done.append(f"The summary took {tokens:,} tokens.")
    return " ".join(text for text in done if text)
