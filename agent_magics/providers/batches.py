"""Which providers have a batch API."""

from __future__ import annotations

from typing import Any

from agent_magics.errors import UsageError
from agent_magics.ports import Batches
from agent_magics.providers.anthropic import Anthropic
from agent_magics.providers.openai_chat import OpenAIChat
from agent_magics.providers.openai_responses import OpenAIResponses


def batches_of(provider: Any) -> Batches:
    """The batch API behind ``provider``.

    Raises
    ------
    UsageError
        If it has none.
    """
    match provider:
        case Anthropic():
            from agent_magics.providers.anthropic_batches import AnthropicBatches

            return AnthropicBatches(provider)
        case OpenAIResponses() | OpenAIChat() if provider.name == "openai":
            from agent_magics.providers.openai_batches import OpenAIBatches

            return OpenAIBatches(provider)
        case _:
            raise UsageError(
                f"{provider.name!r} has no batch API.",
                "anthropic and openai have one.",
                'Ask one of these, or row by row: mode="live".',
            )
