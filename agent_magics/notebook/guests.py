"""Providers that single cells asked for, by ``--provider`` and its like."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from agent_magics.agent.background import background
from agent_magics.agent.session import Session
from agent_magics.ports import Provider
from agent_magics.providers.registry import registered, split

OPTIONS = ("provider", "model", "planner", "base-url", "effort", "max-tokens")
"""Options of a cell that ask for another provider, or for another setting of it."""


class Guests:
    """Builds them, and keeps them for the next cell that asks for the same: a local one takes long to start.

    One whose factory was registered anew, by a cell that was run again, is built anew.
    """

    def __init__(self) -> None:
        self._kept: dict[tuple[object, ...], tuple[object, Provider]] = {}

    def provider(self, session: Session, values: Mapping[str, Any]) -> Provider:
        """The provider for a cell with these options: the session's own, if none of them asks for another."""
        given = {name: values[name] for name in OPTIONS if name in values}
        if not given:
            return session.provider
        key = (session.spec, *given.items())
        factory = registered(split(given.get("provider") or session.spec)[0])
        if key not in self._kept or self._kept[key][0] is not factory:
            self._drop(key)
            spec = given.pop("provider", "")
            options = {name.replace("-", "_"): value for name, value in given.items()}
            self._kept[key] = factory, session.build(spec, **options)
        return self._kept[key][1]

    def generator(self, session: Session, values: Mapping[str, Any]) -> Provider | str:
        """Who writes missing tools in a cell with these options: ``demo``, a provider; empty for no wish."""
        wanted = values.get("generator", "")
        return wanted if wanted in ("", "demo") else self.provider(session, {"provider": wanted})

    async def rest(self) -> None:
        """Have them give back what they hold for now; each cell that asks for one opens it again."""
        for _, provider in tuple(self._kept.values()):
            await provider.aclose()

    def close(self) -> None:
        """Give all of them back."""
        for key in tuple(self._kept):
            self._drop(key)

    def _drop(self, key: tuple[object, ...]) -> None:
        if key in self._kept:
            background.submit(self._kept.pop(key)[1].aclose())
