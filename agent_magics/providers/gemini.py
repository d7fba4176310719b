"""``gemini``: Google's models, with a key of Google AI."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from agent_magics.providers.gemini_content import ContentReply, encode
from agent_magics.providers.remote import Remote
from agent_magics.providers.settings import Settings, Vendor, settings
from agent_magics.talk import JSON, Message, ToolSpec

VENDOR = Vendor(
    name="gemini",
    url="https://generativelanguage.googleapis.com",
    keys=("GEMINI_API_KEY", "GOOGLE_API_KEY"),
    urls=("GOOGLE_GEMINI_BASE_URL",),
    endings=("/v1beta/models", "/v1beta"),
    models=("gemini-3.8-flash", "gemini-3.6-flash", "gemini-3.5-flash"),
    window=1_000_000,
)


def gemini(model: str | None = None, **options: Any) -> Gemini:
    """A model of Google's."""
    return Gemini(settings(VENDOR, model, options))


class Gemini(Remote):
    """A model behind ``streamGenerateContent``."""

    def __init__(self, settings: Settings) -> None:
        super().__init__(settings, name="gemini", window=VENDOR.window)

    def _url(self) -> str:
        return f"{self._settings.base_url}/v1beta/models/{self.model}:streamGenerateContent?alt=sse"

    def _headers(self) -> dict[str, str]:
        # In a header and not in the address: addresses end up in logs.
        return {"x-goog-api-key": self._settings.key.value} if self._settings.key else {}

    def _body(
        self, messages: Sequence[Message], tools: Sequence[ToolSpec], schema: Mapping[str, JSON] | None
    ) -> dict[str, JSON]:
        return encode(self._settings, messages, tools, schema)

    def _reply(self) -> ContentReply:
        return ContentReply(model=self.model)
