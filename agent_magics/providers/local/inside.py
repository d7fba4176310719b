"""What engines inside this process have in common: blocking generation on a thread, one reply at a time."""

from __future__ import annotations

import asyncio
from abc import ABC, abstractmethod
from collections.abc import AsyncGenerator, Mapping, Sequence
from contextlib import aclosing
from typing import Any, ClassVar

from agent_magics.providers.flatten import without_tools
from agent_magics.providers.local.file import ModelFile
from agent_magics.providers.settings import Settings
from agent_magics.providers.threads import Tell, from_thread
from agent_magics.talk import JSON, Message, ProviderEvent, ToolSpec


class Inside(ABC):
    """A model file in this process, loaded with the first request.

    Attributes
    ----------
    planner, guided, description
        As of the :class:`~agent_magics.providers.local.file.ModelFile`; tools go through the JSON planner.
    """

    name: ClassVar[str]
    planner = "json"
    holds = "grammar"

    def __init__(self, file: ModelFile, given: Settings, *, window: int = 0) -> None:
        self.model = file.path.stem
        self.window = window or file.header.window
        self.guided = file.guided
        self.description = file.description
        self._file = file
        self._settings = given
        self._engine: Any = None
        self._turn = asyncio.Lock()

    def __repr__(self) -> str:
        return f"{type(self).__name__}({str(self._file.path)!r})"

    async def fetch(
        self,
        messages: Sequence[Message],
        tools: Sequence[ToolSpec],
        *,
        schema: Mapping[str, JSON] | None = None,
    ) -> AsyncGenerator[ProviderEvent]:
        asked = without_tools(messages)

        def work(tell: Tell[ProviderEvent]) -> None:
            if self._engine is None:
                self._engine = self._load()
            self._generate(asked, schema, tell)

        async with self._turn, aclosing(from_thread(work)) as events:
            async for event in events:
                yield event

    async def aclose(self) -> None:
        """Let the model go; the next request loads it again."""
        self._engine, self._turn = None, asyncio.Lock()

    @abstractmethod
    def _load(self) -> Any:
        """The engine with the model in it. May block."""

    @abstractmethod
    def _generate(
        self, messages: Sequence[Message], schema: Mapping[str, JSON] | None, tell: Tell[ProviderEvent]
    ) -> None:
        """Tell a whole reply, unless ``tell`` says to stop. May block."""
