"""What goes along when a session changes its provider, and what stays behind.

Options belong to the provider that they were given for. An address, a key or a header that was meant for one
vendor is never sent to another; how hard to think and how long a reply may be hold for all.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping
from typing import Any

PORTABLE = frozenset({"effort", "max_tokens", "planner", "temperature", "timeout"})
"""Options that mean the same to every provider."""


def carried(options: Mapping[str, Any], names: Collection[str], spec: str) -> dict[str, Any]:
    """The options that go along to ``spec`` from the provider known by ``names``.

    >>> carried({"api_key": "k", "model": "m", "effort": "low"}, {"anthropic"}, "openai")
    {'effort': 'low'}
    >>> carried({"api_key": "k", "model": "m"}, {"openai"}, "openai:other")
    {'api_key': 'k'}
    """
    name, _, model = spec.partition(":")
    if name.strip() not in names:
        return {key: value for key, value in options.items() if key in PORTABLE}
    return {key: value for key, value in options.items() if key != "model" or not model.strip()}
