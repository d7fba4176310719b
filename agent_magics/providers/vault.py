"""The vendors' keys as ``/key`` sees them: by the vendor's name, and never by their values."""

from __future__ import annotations

import difflib
import os
from importlib import import_module

from agent_magics import masking
from agent_magics.errors import UsageError
from agent_magics.providers import keys
from agent_magics.providers.settings import Vendor

VENDORS = ("anthropic", "openai", "gemini", "ollama")
"""Whom a key can be typed for; Google's Vertex takes none but the machine's own credentials."""


class Vault:
    """Where keys are kept; a :class:`~agent_magics.ports.Keys`."""

    def names(self) -> tuple[str, ...]:
        return VENDORS

    def variable(self, name: str) -> str:
        """The environment variable of a vendor's key.

        Raises
        ------
        UsageError
            If there is none of that name. It is not repeated: it may be the key.
        """
        return self._variables(name)[0]

    def where(self, name: str) -> str:
        """Where a vendor's key was found; empty if there is none."""
        key = keys.find(self._variables(name))
        return key.source if key else ""

    def keep(self, name: str, value: str) -> str:
        """Keep a key and say where."""
        return keys.keep(self.variable(name), value)

    def forget(self, name: str) -> str:
        """Forget a vendor's key, and say what there was and where another one still is."""
        forgotten = [each for each in self._variables(name) if keys.forget(each)]
        said = f"The key for {name} is forgotten." if forgotten else f"No key for {name} was typed or kept."
        left = self.where(name)
        return f"{said} One is still found: {left}." if left else said

    def overruled(self, name: str) -> str:
        """The environment's variable that will win over the keyring in the next process, if one is set."""
        return next((f"${each}" for each in self._variables(name) if os.environ.get(each, "").strip()), "")

    def _variables(self, name: str) -> tuple[str, ...]:
        if name in VENDORS:
            vendor: Vendor = import_module(f"agent_magics.providers.{name}").VENDOR
            return vendor.keys
        masking.hide_likely(name)
        near = difflib.get_close_matches(name, VENDORS, n=1)
        raise UsageError(
            "There is no vendor of that name whose key could be kept.",
            f"Did you mean {near[0]}?" if near else f"There are {', '.join(VENDORS)}.",
            "For example `/key anthropic`; the key itself is asked for, hidden.",
        )
