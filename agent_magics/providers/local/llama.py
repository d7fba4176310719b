"""``llama``: a ``.gguf`` file through llama.cpp's server, spawned here or running elsewhere.

``llama`` alone takes the installed weights, ``llama:PATH`` a file, ``llama:URL`` (or ``base_url=``) a server
that runs already.
"""

from __future__ import annotations

import json
from collections.abc import AsyncGenerator, Mapping, Sequence
from contextlib import aclosing
from dataclasses import replace
from typing import Any

from agent_magics.errors import ConfigError, ProviderError
from agent_magics.providers.flatten import without_tools
from agent_magics.providers.local.file import LONGEST_REPLY, VENDOR, ModelFile
from agent_magics.providers.local.serving import ModelServer, borrow, give_back
from agent_magics.providers.loose import count, obj
from agent_magics.providers.openai_chat import OpenAIChat
from agent_magics.providers.schemas import bound_form
from agent_magics.providers.settings import Settings, settings
from agent_magics.talk import JSON, Message, ProviderEvent, ToolSpec


def llama(model: str | None = None, *, window: int = 0, **options: Any) -> Llama | LlamaServer:
    """A local model.

    Parameters
    ----------
    model : str, optional
        The path of a ``.gguf`` file, or the URL of a running server; the installed weights by default.
    window : int
        The context window in tokens; 0 takes what the model was trained for.
    """
    if model and model.startswith(("http://", "https://")):
        options, model = {**options, "base_url": model}, None
    if options.get("base_url"):
        given = settings(VENDOR, model, options, local=True)
        return LlamaServer(replace(given, max_tokens=given.max_tokens or LONGEST_REPLY))
    file = ModelFile.find(model)
    return Llama(file, file.settings(options), window=window)


REPEAT_PENALTY = 1.1
"""How much less likely a small model's own last words become while it talks freely. Without it SmolLM2 said
one sentence over and over, up to its limit, in 3 of 16 answers, with it in none (four prompts, four seeds). A
form that it fills in has to repeat what it was told, so there it is left alone."""


class Llama:
    """A ``.gguf`` file, served by a child process that starts with the first request.

    Attributes
    ----------
    planner, guided, description
        As of the :class:`~agent_magics.providers.local.file.ModelFile`.
    """

    name = "llama"
    holds = "grammar"

    def __init__(self, file: ModelFile, given: Settings, *, window: int = 0) -> None:
        self.model = file.path.stem
        self.window = window or file.header.window
        self.planner = file.planner
        self.guided = file.guided
        self.description = file.description
        self._path = file.path
        self._asked_window = window
        self._settings = given
        self._server: ModelServer | None = None
        self._chat: OpenAIChat | None = None
        self._talk: OpenAIChat | None = None

    def __repr__(self) -> str:
        return f"Llama({str(self._path)!r})"

    async def fetch(
        self,
        messages: Sequence[Message],
        tools: Sequence[ToolSpec],
        *,
        schema: Mapping[str, JSON] | None = None,
    ) -> AsyncGenerator[ProviderEvent]:
        chat = await self._served()
        if self.planner == "json":  # its template would drop tools and stumble over their results
            messages, tools = without_tools(messages), ()
        if self.guided and schema is None and not tools and self._talk:
            chat = self._talk
        async with aclosing(chat.fetch(messages, tools, schema=schema)) as events:
            async for event in events:
                yield event

    async def aclose(self) -> None:
        """Give the server back; it ends when nobody else uses it."""
        server, chats = self._server, (self._chat, self._talk)
        self._server = self._chat = self._talk = None
        for chat in filter(None, chats):
            await chat.aclose()
        if server:
            give_back(server)

    async def _served(self) -> OpenAIChat:
        if self._server and not self._server.alive:
            await self.aclose()
        if self._server is None:
            self._server = borrow(self._path, self._asked_window)
        server = self._server
        try:
            url = await server.where()
        except ConfigError:
            await self.aclose()
            raise
        if self._chat is None:
            here = replace(self._settings, model=self.model, base_url=f"{url}/v1", key=server.key)
            self._chat = OpenAIChat(here, name=self.name, direct=True, form=bound_form)
            freely = replace(here, extra={"repeat_penalty": REPEAT_PENALTY, **here.extra})
            self._talk = OpenAIChat(freely, name=self.name, direct=True)
        return self._chat


class LlamaServer:
    """A llama.cpp server that somebody else started; its window is known after the first request."""

    name = "llama"
    planner = "native"
    holds = "grammar"

    def __init__(self, given: Settings) -> None:
        base = given.base_url.removesuffix("/v1")
        self.model = given.model or base.partition("://")[2]
        self.window = 0
        self._base = base
        self._settings = replace(given, base_url=f"{base}/v1", model=self.model)
        self._chat = OpenAIChat(self._settings, name=self.name, form=bound_form)

    def __repr__(self) -> str:
        return f"LlamaServer({self._base!r})"

    async def fetch(
        self,
        messages: Sequence[Message],
        tools: Sequence[ToolSpec],
        *,
        schema: Mapping[str, JSON] | None = None,
    ) -> AsyncGenerator[ProviderEvent]:
        if not self.window:
            self.window = await self._learn_window()
        async with aclosing(self._chat.fetch(messages, tools, schema=schema)) as events:
            async for event in events:
                yield event

    async def aclose(self) -> None:
        await self._chat.aclose()

    async def _learn_window(self) -> int:
        try:
            props = obj(json.loads(await self._chat.get(f"{self._base}/props")))
        except (ProviderError, ValueError):  # a server without that page: the window stays unknown
            return 0
        return count(obj(props.get("default_generation_settings")).get("n_ctx"))
