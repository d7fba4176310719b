"""A provider that keeps a pace: what many rows ask, so that no row is lost to a refusal.

It stands before the real provider and is one itself, so whoever asks (also for repairs) need not know. A
request is sent through the provider's ``once`` where it has one: then nothing below tries again by itself,
and this is the only place that waits.

A refusal (429) is waited for and sent again until an answer comes, for 15 minutes at most. A dropped
connection or an overloaded vendor is tried five times in all. What would happen to every other row as well
(no key, no right, no credit) is kept in :attr:`Paced.fatal`: the run ends with it.
"""

from __future__ import annotations

import asyncio
import random
import time
from collections.abc import AsyncGenerator, Mapping, Sequence
from contextlib import aclosing
from typing import Any

from agent_magics.errors import AgentMagicsError, ConfigError, MissingKey, ProviderError, RateLimited
from agent_magics.extract.held import Hold, hold_of
from agent_magics.extract.limiter import Pace
from agent_magics.ports import Once, Provider
from agent_magics.talk import JSON, Message, ProviderEvent, ToolSpec, Usage

PATIENCE = 900.0
"""Seconds for which one row is sent again after its first refusal."""

TRIES = 5
"""Requests for one row in all, when connections drop or the vendor is overloaded."""

_FIRST_PAUSE, _LONGEST_PAUSE = 0.5, 8.0
_LETTERS_A_TOKEN = 4


class Paced:
    """``inner`` at ``pace``.

    Attributes
    ----------
    fatal : AgentMagicsError or None
        What ends the whole run, if it has happened.
    """

    def __init__(self, inner: Provider, pace: Pace, *, patience: float = PATIENCE) -> None:
        self.name, self.model, self.window = inner.name, inner.model, inner.window
        self.fatal: AgentMagicsError | None = None
        self._inner = inner
        self._once = inner if isinstance(inner, Once) else None
        self._pace = pace
        self._patience = patience
        self._usual = 0.0
        self._hold: Hold | None = None

    def holds(self, schema: Mapping[str, JSON]) -> Hold:
        """How ``inner`` can be held to the schema; all rows have the same one, so it is looked up once."""
        self._hold = self._hold or hold_of(self._inner, schema)
        return self._hold

    def __getattr__(self, name: str) -> Any:
        return getattr(self._inner, name)  # what a provider tells of itself besides, such as `guided`

    async def fetch(
        self,
        messages: Sequence[Message],
        tools: Sequence[ToolSpec],
        *,
        schema: Mapping[str, JSON] | None = None,
    ) -> AsyncGenerator[ProviderEvent]:
        for event in await self._until_answered(messages, tools, schema):
            yield event

    async def once(
        self,
        messages: Sequence[Message],
        tools: Sequence[ToolSpec],
        *,
        schema: Mapping[str, JSON] | None = None,
    ) -> Sequence[ProviderEvent]:
        """The same in one piece."""
        return await self._until_answered(messages, tools, schema)

    async def aclose(self) -> None:
        await self._inner.aclose()

    async def _until_answered(
        self, messages: Sequence[Message], tools: Sequence[ToolSpec], schema: Mapping[str, JSON] | None
    ) -> Sequence[ProviderEvent]:
        tokens = self._foreseen(messages)
        tries, refused_at = 1, 0.0
        while True:
            await self._pace.enter(tokens, again=bool(refused_at) or tries > 1)
            try:
                return await self._request(messages, tools, schema, tokens)
            except RateLimited as error:
                refused_at = refused_at or time.monotonic()
                wait = self._pace.refused(error.retry_after)
                if not self._worth_it(error, refused_at, wait):
                    self.fatal = error
                    raise
            except ProviderError as error:
                if not error.retryable or tries == TRIES:
                    self._judge(error)
                    raise
                self._pace.troubled()
                wait = error.retry_after or min(_LONGEST_PAUSE, _FIRST_PAUSE * 2 ** (tries - 1))
                tries += 1
            except ConfigError as error:
                self.fatal = error
                raise
            finally:
                self._pace.leave()
            await asyncio.sleep(wait * (1 + 0.1 * random.random()))  # noqa: S311 (spreads load)

    async def _request(
        self,
        messages: Sequence[Message],
        tools: Sequence[ToolSpec],
        schema: Mapping[str, JSON] | None,
        tokens: float,
    ) -> Sequence[ProviderEvent]:
        began = time.monotonic()
        if self._once is not None:
            events = await self._once.once(messages, tools, schema=schema)
        else:
            events = await _whole(self._inner, messages, tools, schema)
        used = sum(event.total for event in events if isinstance(event, Usage))
        self._pace.answered(time.monotonic() - began, used - tokens if used else 0.0)
        if used:
            written = max(0.0, used - tokens + self._usual)
            self._usual += 0.1 * (written - self._usual)
        return events

    def _foreseen(self, messages: Sequence[Message]) -> float:
        """About how many tokens a request will take: what it says, and what was usual beyond that."""
        return sum(len(str(one.get("content", ""))) for one in messages) / _LETTERS_A_TOKEN + self._usual

    def _worth_it(self, error: RateLimited, since: float, wait: float) -> bool:
        announced = error.retry_after is not None
        return (error.retryable or announced) and time.monotonic() + wait - since <= self._patience

    def _judge(self, error: ProviderError) -> None:
        if isinstance(error, MissingKey) or error.status in (401, 402, 403):
            self.fatal = error


async def _whole(
    provider: Provider,
    messages: Sequence[Message],
    tools: Sequence[ToolSpec],
    schema: Mapping[str, JSON] | None,
) -> list[ProviderEvent]:
    said: Any = provider.fetch(messages, tools, schema=schema)
    async with aclosing(said) as events:
        return [event async for event in events]
