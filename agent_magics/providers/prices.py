"""What a call costs, and how much a model can read, as far as a list of prices knows.

The list is the package ``genai-prices`` (extra ``prices``), imported when the first price is asked for. A
price that is not in it stays unknown: it is ``None``, never 0.
"""

from __future__ import annotations

from importlib import import_module
from importlib.util import find_spec
from typing import Any

from agent_magics.talk import Usage

FREE = frozenset({"candle", "demo", "ggml", "llama", "llama2", "ollama", "replay", "stub", "workshop"})
"""Providers that run on a machine of the user's own: nobody sends a bill."""

_THEIR_NAMES = {"gemini": "google", "vertex": None}  # None: by the model's name alone


def cost(provider: str, model: str, usage: Usage) -> float | None:
    """The price of ``usage`` in US dollars, or ``None`` when it is unknown.

    >>> cost("demo", "rules", Usage(input=10, output=10))
    0.0
    >>> cost("somebody", "a-model-that-nobody-sells", Usage(input=10)) is None
    True
    """
    if provider in FREE:
        return 0.0
    entry = _entry(provider, model, usage)
    return None if entry is None else float(entry.total_price)


def window(provider: str, model: str) -> int:
    """The model's context window in tokens; 0 when it is unknown."""
    entry = None if provider in FREE else _entry(provider, model, Usage())
    return 0 if entry is None else entry.model.context_window or 0


def _entry(provider: str, model: str, usage: Usage) -> Any:
    if find_spec("genai_prices") is None:
        return None
    prices: Any = import_module("genai_prices")  # an extra
    counted = prices.Usage(
        input_tokens=usage.input, output_tokens=usage.output, cache_read_tokens=usage.cached
    )
    try:
        return prices.calc_price(counted, model_ref=model, provider_id=_THEIR_NAMES.get(provider, provider))
    except (LookupError, ValueError):  # neither the vendor nor the model need be known
        return None
