"""The slot of a session that holds its provider: who answers, and what happens when that is changed.

The provider is built when it is first wanted, unless it was named. One that is replaced is closed once no
turn needs it any more.
"""

from __future__ import annotations

import logging
from collections.abc import Mapping
from concurrent.futures import Future
from typing import Any

from agent_magics.agent.background import background
from agent_magics.agent.line import Line
from agent_magics.agent.switch import carried
from agent_magics.ports import Provider, Providers

log = logging.getLogger("agent_magics")


class Slot:
    """Holds the provider of one session.

    Parameters
    ----------
    providers : Providers
        Where names are looked up.
    provider : str or object
        ``"name"``, ``"name:model"``, an object with ``fetch``, or ``"auto"``, which is looked up when the
        first turn needs it.
    options : mapping
        Keywords for its factory.
    line : Line
        The session's turns: a provider is closed between them.

    Attributes
    ----------
    spec : str
        What names the provider: ``auto``, ``name`` or ``name:model``.
    """

    def __init__(
        self, providers: Providers, provider: str | Any, options: Mapping[str, Any], line: Line
    ) -> None:
        self.providers = providers
        self.spec = provider if isinstance(provider, str) else ""
        self._line = line
        self._options = dict(options)
        self._source = provider
        self._provider: Provider | None = None
        if provider != "auto":
            self.use(provider)

    @property
    def provider(self) -> Provider:
        """Who answers."""
        if self._provider is None:
            self._provider = self.providers.build(self.spec, **self._options)
        return self._provider

    @property
    def why(self) -> str:
        """One sentence: why this one."""
        return self.providers.why(self.spec)

    def use(self, provider: str | Any, **options: Any) -> Provider:
        """Put another one in; if it can't be built, the one that is here stays."""
        options = options or self._carried(provider)
        built = self.providers.build(provider, **options)
        left, self._provider, self._source = self._provider, built, provider
        self.spec = provider if isinstance(provider, str) else f"{built.name}:{built.model}"
        self._options = options
        if left is not None and left is not built:
            background.submit(self._let_go(left))
        return built

    def build(self, spec: str = "", **options: Any) -> Provider:
        """One for single turns: this one with other options, or another. Whoever asks for it closes it."""
        wanted = spec or self._source
        return self.providers.build(wanted, **self._carried(wanted) | options)

    async def rest(self) -> None:
        """Have the provider give back what it holds for now; the next turn opens it again."""
        if self._provider is not None:
            await self._provider.aclose()

    def close(self) -> Future[None] | None:
        """Have the provider give back what it holds, when no turn runs; the future says when it has."""
        return background.submit(self._let_go(self._provider)) if self._provider is not None else None

    def __str__(self) -> str:
        return f"{self._provider.name}:{self._provider.model}" if self._provider else self.spec

    def _carried(self, provider: str | Any) -> dict[str, Any]:
        if self._provider is None or provider == self._source or not isinstance(provider, str):
            return self._options
        return carried(self._options, {self._provider.name, self.spec.partition(":")[0]}, provider)

    async def _let_go(self, provider: Provider) -> None:
        try:
            await self._line.when_free(provider.aclose)
        except Exception:
            log.exception("%s could not be closed", provider.name)
