"""``openai``: OpenAI itself, and every server that speaks one of its protocols."""

from __future__ import annotations

from typing import Any

from agent_magics.errors import UsageError
from agent_magics.providers.openai_chat import OFFICIAL, OpenAIChat
from agent_magics.providers.openai_responses import OpenAIResponses
from agent_magics.providers.settings import Vendor, settings

VENDOR = Vendor(
    name="openai",
    url="https://api.openai.com/v1",
    keys=("OPENAI_API_KEY",),
    urls=("OPENAI_BASE_URL",),
    endings=("/chat/completions", "/responses"),
    models=("gpt-6.1-terra", "gpt-6.2-sol", "gpt-6.2-astra", "gpt-6-luna"),
    window=128_000,
)
_PROTOCOLS = {"responses": OpenAIResponses, "chat": OpenAIChat}


def openai(model: str | None = None, *, api: str = "", **options: Any) -> OpenAIResponses | OpenAIChat:
    """A model of OpenAI's, or of any compatible server at ``base_url``.

    Parameters
    ----------
    api : {"responses", "chat"}
        The protocol. By default Responses for OpenAI itself, and Chat Completions for any other address,
        since that is what everybody has.
    """
    given = settings(VENDOR, model, options)
    official = OFFICIAL in given.base_url
    protocol = _PROTOCOLS.get(api or ("responses" if official else "chat"))
    if protocol is None:
        raise UsageError(
            f"There is no api {api!r}.", "It is 'responses' or 'chat'.", "Leave it out to let us choose."
        )
    return protocol(given, window=VENDOR.window if official else 0)
