"""What can be set for a provider, and where it comes from when nobody set it."""

from __future__ import annotations

import dataclasses
import os
import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, Literal

from agent_magics import masking
from agent_magics.errors import UsageError
from agent_magics.providers import keys
from agent_magics.providers.addresses import base_url
from agent_magics.providers.keys import Key
from agent_magics.talk import JSON

Effort = Literal["", "none", "minimal", "low", "medium", "high", "xhigh", "max"]
"""How hard a model that can reason should; each provider passes on what its vendor knows."""

_CARRIES_A_SECRET = re.compile("auth|key|token|secret|cookie", re.IGNORECASE)
"""Names of headers whose values nobody may see."""


@dataclass(frozen=True, kw_only=True, slots=True)
class Vendor:
    """One vendor's names: its variables, its address, the model when none is named.

    Attributes
    ----------
    keys : tuple of str
        The environment variables that may hold the key, in order.
    urls : tuple of str
        Those that may hold another address.
    endings : tuple of str
        Paths that we add to an address, the longest first; people copy them along.
    models : tuple of str
        Known models, for completion only: any name is accepted. The first is the default.
    window : int
        The context window that every current model has at least, in tokens; 0 when unknown.
    """

    name: str
    url: str
    keys: tuple[str, ...] = ()
    urls: tuple[str, ...] = ()
    endings: tuple[str, ...] = ()
    models: tuple[str, ...] = ()
    window: int = 0


@dataclass(frozen=True, kw_only=True, slots=True)
class Settings:
    """One provider's settings.

    Parameters
    ----------
    model : str
        The vendor's name for the model.
    base_url : str
        The address, without a slash at its end.
    key : Key, optional
        Missing only for servers that want none.
    headers : dict
        Extra headers; they win over ours.
    timeout : float, optional
        Seconds of silence after which a reply is given up.
    max_tokens : int, optional
        The longest reply.
    effort : str
        How hard to reason: see :data:`Effort`.
    temperature : float, optional
        Sent only when set; some models refuse it.
    extra : dict
        Further fields of each request's body, in the vendor's own words; they win over ours.
    """

    model: str
    base_url: str = ""
    key: Key | None = None
    headers: Mapping[str, str] = field(default_factory=dict[str, str], repr=False)
    timeout: float | None = None
    max_tokens: int | None = None
    effort: str = ""
    temperature: float | None = None
    extra: Mapping[str, JSON] = field(default_factory=dict[str, JSON], repr=False)

    def __post_init__(self) -> None:
        if self.max_tokens is not None and self.max_tokens < 1:
            raise UsageError(f"max_tokens must be at least 1, not {self.max_tokens!r}.")
        for name, value in self.headers.items():
            if not (f"{name}{value}".isascii() and f"{name}{value}".isprintable()):
                raise UsageError(
                    f"The header {name!r} can't be sent.",
                    "It has line breaks or characters that are not ASCII.",
                    "Check `headers`.",
                )
            if _CARRIES_A_SECRET.search(name):
                masking.hide(*value.split())


_PLAIN = {one.name for one in dataclasses.fields(Settings)} - {"model", "base_url", "key"}
OPTIONS = _PLAIN | {"base_url", "api_key"}
"""The options that every provider takes; those that mean nothing to it are left alone."""


def settings(
    vendor: Vendor, model: str | None, options: Mapping[str, Any], *, local: bool = False
) -> Settings:
    """The settings for ``vendor`` from options given in code, the environment, and what is usual.

    Parameters
    ----------
    local : bool
        Whether the server is on this machine and wants no key as a rule.

    Raises
    ------
    UsageError
        For an option that no provider knows, or an address that is none.
    MissingKey
        If the vendor's own address is used and there is no key for it.
    """
    if unknown := sorted(set(options) - OPTIONS):
        raise UsageError(
            f"{vendor.name} has no option {unknown[0]!r}.",
            f"It knows {', '.join(sorted(OPTIONS))}.",
            "Check the spelling.",
        )
    elsewhere = options.get("base_url") or _from_environment(vendor.urls)
    given: str | None = options.get("api_key")
    wanted = not (local or elsewhere)
    key = keys.require(vendor.name, vendor.keys, given) if wanted else keys.find(vendor.keys, given)
    address = elsewhere or vendor.url
    plain = {name: value for name, value in options.items() if name in _PLAIN and value is not None}
    return Settings(
        model=model or next(iter(vendor.models), ""),
        base_url=base_url(address, vendor.endings) if address else "",
        key=key,
        **plain,
    )


def _from_environment(names: tuple[str, ...]) -> str:
    return next((value for name in names if (value := os.environ.get(name, "").strip())), "")
