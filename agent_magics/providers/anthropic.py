"""``anthropic``: Claude, from Anthropic itself."""

from __future__ import annotations

import functools
from collections.abc import AsyncGenerator, Iterator, Mapping, Sequence
from contextlib import aclosing
from typing import Any

from agent_magics.providers.anthropic_messages import MessagesReply, encode, holds
from agent_magics.providers.exchange import exchange
from agent_magics.providers.loose import items, obj
from agent_magics.providers.remote import Remote
from agent_magics.providers.settings import Settings, Vendor, settings
from agent_magics.talk import JSON, Message, Opaque, ProviderEvent, Saying, Stop, Thinking, ToolSpec, Usage

VENDOR = Vendor(
    name="anthropic",
    url="https://api.anthropic.com",
    keys=("ANTHROPIC_API_KEY", "ANTHROPIC_AUTH_TOKEN"),
    urls=("ANTHROPIC_BASE_URL",),
    endings=("/v1/messages", "/v1"),
    models=("claude-sonnet-5-5", "claude-opus-5-5", "claude-haiku-5-5", "claude-fable-5-2"),
    window=200_000,
)
API_VERSION = "2023-06-01"
_PAUSES = 10


def anthropic(model: str | None = None, **options: Any) -> Anthropic:
    """Claude, at Anthropic or at a server that speaks its Messages."""
    return Anthropic(settings(VENDOR, model, options))


class Anthropic(Remote):
    """A model behind Anthropic's Messages."""

    tools_beside_schema = True

    def __init__(self, settings: Settings) -> None:
        super().__init__(settings, name="anthropic", window=VENDOR.window)

    def holds(self, schema: Mapping[str, JSON]) -> str:
        """How it can be held to ``schema``: see :mod:`agent_magics.extract.held`."""
        return holds(schema)

    async def fetch(
        self,
        messages: Sequence[Message],
        tools: Sequence[ToolSpec],
        *,
        schema: Mapping[str, JSON] | None = None,
    ) -> AsyncGenerator[ProviderEvent]:
        spent: Usage | None = None
        before: list[JSON] = []
        for _ in range(_PAUSES):
            said: Message = {"role": "assistant", "content": "", "opaque": [self._block(before)]}
            request = self._request(self._body([*messages, said] if before else messages, tools, schema))
            reply = functools.partial(self._reply, before)
            before = []
            async with aclosing(exchange(self._wire, request, self._frames, reply)) as events:
                async for event in events:
                    match event:
                        case Saying() | Thinking():
                            yield event
                        case Opaque():
                            before = items(obj(event.block).get("content"))
                        case Usage():
                            spent = spent + event if spent else event
                        case Stop():
                            for last in self._last(before, spent, event):
                                yield last
                            return
                        case _:
                            yield event

    def _last(self, content: list[JSON], spent: Usage | None, stop: Stop) -> Iterator[ProviderEvent]:
        if content:
            yield Opaque(**self._block(content))
        if spent:
            yield spent
        yield stop

    def _block(self, content: list[JSON]) -> dict[str, JSON]:
        return {"provider": self.name, "block": {"model": self.model, "content": content}}

    def _url(self) -> str:
        return f"{self._settings.base_url}/v1/messages"

    def _headers(self) -> dict[str, str]:
        headers = {"anthropic-version": API_VERSION}
        key = self._settings.key
        if key and "AUTH_TOKEN" in key.source:
            headers["authorization"] = f"Bearer {key.value}"
        elif key:
            headers["x-api-key"] = key.value
        return headers

    def _body(
        self, messages: Sequence[Message], tools: Sequence[ToolSpec], schema: Mapping[str, JSON] | None
    ) -> dict[str, JSON]:
        return encode(self._settings, messages, tools, schema)

    def _reply(self, before: Sequence[JSON] = ()) -> MessagesReply:
        return MessagesReply(vendor=self.name, model=self.model, before=before)
