"""What all providers over HTTP have in common: the way from messages to events.

A vendor's file says four things (where to, with which headers, what body, how to read the answer); here they
are put on the wire.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import AsyncGenerator, AsyncIterable, Callable, Mapping, Sequence
from contextlib import aclosing
from typing import Any

from agent_magics.providers.exchange import Reply, exchange, once
from agent_magics.providers.loose import dumps, items, obj
from agent_magics.providers.settings import Settings
from agent_magics.providers.sse import SSE, FramesFactory
from agent_magics.providers.wire import Request, Wire
from agent_magics.talk import JSON, Message, ProviderEvent, ToolSpec


class Remote(ABC):
    """A model behind an address.

    Parameters
    ----------
    settings : Settings
        The model, the address, the key.
    name : str
        The name that errors and records use.
    window : int
        The context window in tokens; 0 when unknown.
    direct : bool
        Whether to ignore proxies: for a server of our own on this machine.
    """

    _frames: FramesFactory = SSE

    def __init__(self, settings: Settings, *, name: str, window: int = 0, direct: bool = False) -> None:
        self.name = name
        self.model = settings.model
        self.window = window
        self._settings = settings
        self._wire = Wire(timeout=settings.timeout, direct=direct)

    def __repr__(self) -> str:
        return f"{type(self).__name__}({self.name}:{self.model} at {self._settings.base_url})"

    async def fetch(
        self,
        messages: Sequence[Message],
        tools: Sequence[ToolSpec],
        *,
        schema: Mapping[str, JSON] | None = None,
    ) -> AsyncGenerator[ProviderEvent]:
        request = self._request(self._body(messages, tools, schema))
        async with aclosing(exchange(self._wire, request, self._frames, self._reply)) as events:
            async for event in events:
                yield event

    async def once(
        self,
        messages: Sequence[Message],
        tools: Sequence[ToolSpec],
        *,
        schema: Mapping[str, JSON] | None = None,
    ) -> list[ProviderEvent]:
        """The whole answer of one request, which is not sent again: see :class:`~agent_magics.ports.Once`."""
        request = self._request(self._body(messages, tools, schema))
        return await once(self._wire, request, self._frames, self._reply)

    @property
    def address(self) -> str:
        """Where it is: the base URL."""
        return self._settings.base_url

    async def get(self, url: str) -> bytes:
        """What the server has at ``url``; for what it tells about itself."""
        return await self._wire.read(
            Request(vendor=self.name, url=url, headers=self._headers(), method="GET")
        )

    def unstreamed(
        self, messages: Sequence[Message], tools: Sequence[ToolSpec], schema: Mapping[str, JSON] | None
    ) -> dict[str, JSON]:
        """The body of a request whose answer comes in one piece."""
        body = {**self._body(messages, tools, schema), **self._settings.extra}
        return {name: value for name, value in body.items() if name not in ("stream", "stream_options")}

    def reply(self) -> Reply:
        """A fresh decoder for one answer."""
        return self._reply()

    def request(
        self,
        method: str,
        url: str,
        body: bytes | Callable[[], AsyncIterable[bytes]] = b"",
        headers: Mapping[str, str] | None = None,
    ) -> Request:
        """A request to another address of the same vendor; to be sent with :attr:`wire`."""
        sent = {**self._headers(), **self._settings.headers, **(headers or {})}
        return Request(vendor=self.name, url=url, headers=sent, method=method, body=body)

    @property
    def wire(self) -> Wire:
        return self._wire

    async def aclose(self) -> None:
        await self._wire.aclose()

    def _request(self, body: Mapping[str, JSON]) -> Request:
        usual = {"content-type": "application/json", "accept": "text/event-stream"}
        return Request(
            vendor=self.name,
            url=self._url(),
            headers={**usual, **self._headers(), **self._settings.headers},
            body=dumps({**body, **self._settings.extra}).encode("utf-8", "replace"),
        )

    @abstractmethod
    def _url(self) -> str:
        """Where a request goes."""

    @abstractmethod
    def _headers(self) -> dict[str, str]:
        """The key, and what the vendor wants besides."""

    @abstractmethod
    def _body(
        self, messages: Sequence[Message], tools: Sequence[ToolSpec], schema: Mapping[str, JSON] | None
    ) -> dict[str, JSON]:
        """The request in the vendor's form."""

    @abstractmethod
    def _reply(self) -> Reply:
        """A fresh decoder for one answer."""


def private_block(message: Message, provider: str, model: str) -> dict[str, Any]:
    """The block that this provider and model left in ``message``, to be replayed; empty when there is none.

    Blocks of other providers, and of another model of the same one, are dropped: a vendor refuses what it
    did not sign.
    """
    for entry in map(obj, items(message.get("opaque"))):
        block = obj(entry.get("block"))
        if entry.get("provider") == provider and block.get("model") == model:
            return block
    return {}
