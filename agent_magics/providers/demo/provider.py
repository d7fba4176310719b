"""The provider: read the messages, decide, speak."""

from __future__ import annotations

import asyncio
import json
from collections.abc import AsyncGenerator, Mapping, Sequence
from typing import Any

from agent_magics.providers.demo.case import Call, Move, Say
from agent_magics.providers.demo.deciding import decide
from agent_magics.providers.demo.filling import fill_from
from agent_magics.providers.demo.reading import situation
from agent_magics.providers.demo.speaking import PACE, pieces, usage
from agent_magics.providers.demo.words import joined
from agent_magics.talk import JSON, Message, ProviderEvent, Saying, Stop, Thinking, ToolCall, ToolSpec

OPENING = "I go by rules; I am a demonstration and no language model."


def demo(model: str | None = None, **options: Any) -> DemoProvider:
    """The demonstration as a registry asks for it; see :class:`DemoProvider`."""
    return DemoProvider(model, **options)


class DemoProvider:
    """Rules that answer like a model, for trying things out and for teaching without a network.

    Parameters
    ----------
    model : str, optional
        A name to show; there is only one set of rules.
    pace : float
        Seconds between two pieces of text; 0 speaks at once.
    **options
        What a session hands to every provider, such as a key or an address: without meaning here.

    Examples
    --------
    >>> from agent_magics import Session
    >>> Session(provider="demo").ask("What is 6 * 7?").reply
    '`6 * 7` is **42**.'
    """

    name = "demo"
    window = 0
    summarises = False

    def __init__(self, model: str | None = None, *, pace: float = PACE, **options: Any) -> None:
        self.model = model or "rules"
        self.pace = pace

    async def fetch(
        self,
        messages: Sequence[Message],
        tools: Sequence[ToolSpec],
        *,
        schema: Mapping[str, JSON] | None = None,
    ) -> AsyncGenerator[ProviderEvent]:
        """Decide about the next move and speak it; with ``schema``, fill it from the prompt instead."""
        read = situation(messages, tools)
        move = decide(read) if schema is None else _filled(schema, messages)
        thinking = " ".join((OPENING, *move.because))
        for piece in pieces(thinking):
            yield Thinking(text=piece)
            await self._pause()
        said = move.text if isinstance(move, Say) else ""
        for piece in pieces(said):
            yield Saying(text=piece)
            await self._pause()
        if isinstance(move, Call):
            said = move.name + json.dumps(move.arguments, ensure_ascii=False)
            yield ToolCall(id=f"demo-{read.asked + 1}", name=move.name, arguments=move.arguments)
        yield usage(messages, tools, thinking, said)
        yield Stop(reason="tool_calls" if isinstance(move, Call) else "end")

    async def aclose(self) -> None:
        """Nothing to give back."""

    async def _pause(self) -> None:
        if self.pace > 0:
            await asyncio.sleep(self.pace)


def _filled(schema: Mapping[str, JSON], messages: Sequence[Message]) -> Move:
    filling = fill_from(schema, messages)
    because = ["A schema is asked for: I look in the text for what fits each of its fields."]
    if filling.unfounded:
        because.append(f"Nothing in the text speaks for {joined(list(filling.unfounded))}.")
    return Say(text=json.dumps(filling.value, ensure_ascii=False), because=tuple(because))
