"""Which providers can work here: key, address, default model, and what to do about what is missing.

A vendor is only called when a key for it was found, and then for its list of models: that tells whether it
can be reached and whether it takes the key, and costs nothing. Nobody is waited for longer than a moment.
"""

from __future__ import annotations

import asyncio
import os
from collections.abc import Iterable
from dataclasses import dataclass
from importlib import import_module
from importlib.util import find_spec
from pathlib import Path

from agent_magics.errors import AgentMagicsError, MissingKey, ProviderError, Unreachable
from agent_magics.providers import keys
from agent_magics.providers.choose import ollama_models
from agent_magics.providers.local import weights
from agent_magics.providers.registry import Registry
from agent_magics.providers.remote import Remote
from agent_magics.providers.settings import Vendor

PATIENCE = 2.0
"""Seconds that a vendor has to answer."""

LISTS = {"anthropic": "/v1/models", "openai": "/models", "gemini": "/v1beta/models"}
"""Vendor -> where it lists its models."""

ENGINES = {"llama": "xllamacpp", "ggml": "xllamacpp", "candle": "mistralrs", "llama2": "gguf"}
_RULES = {"demo": "rules, no model; always works", "stub": "says back what it is told; always works"}
_NETWORK = "Check the address, the network and the proxy."
_GCLOUD = Path(".config/gcloud/application_default_credentials.json")


@dataclass(frozen=True, kw_only=True)
class Condition:
    """How it stands with one provider.

    Parameters
    ----------
    name : str
        The provider.
    found : str
        What there is; never a key.
    remedy : str
        What to do, where something is missing.
    ok : bool
        Whether it is as it should be; what is merely not set up is fine.
    """

    name: str
    found: str
    remedy: str = ""
    ok: bool = True


async def survey(names: Iterable[str] = ()) -> list[Condition]:
    """The condition of every provider, or of those named; all are looked at side by side."""
    return await asyncio.gather(*map(examine, names or Registry().names()))


async def examine(name: str) -> Condition:
    """The condition of one provider; a look that fails is a finding, too."""
    try:
        if name in LISTS:
            return await _vendor(name)
        return await asyncio.to_thread(_here, name)
    except AgentMagicsError as error:
        found = f"{error.what} {error.why}".strip()
        return Condition(name=name, found=found, remedy=error.remedy, ok=False)
    except Exception as error:
        return Condition(name=name, found=keys.mask(f"{type(error).__name__}: {error}"), ok=False)


async def _vendor(name: str) -> Condition:
    vendor: Vendor = import_module(f"agent_magics.providers.{name}").VENDOR
    model = vendor.models[0]
    key = await asyncio.to_thread(keys.find, vendor.keys)  # a keyring may take its time
    if key is None:
        remedy = f"Set ${' or $'.join(vendor.keys)}."
        return Condition(name=name, found=f"no key; default model {model}", remedy=remedy)
    answer, remedy = await _called(name)
    found = f"key found ({key.source}); {answer}; default model {model}"
    return Condition(name=name, found=found, remedy=remedy, ok=not remedy)


async def _called(name: str) -> tuple[str, str]:
    """What came of asking a vendor for its models, and what to do about it."""
    provider = Registry().build(name)
    if not isinstance(provider, Remote):
        return "registered anew, not called", ""
    try:
        async with asyncio.timeout(PATIENCE):
            await provider.get(f"{provider.address}{LISTS[name]}")
    except TimeoutError:
        return f"no answer from {provider.address} in {PATIENCE:g} s", _NETWORK
    except Unreachable:
        return f"not reachable at {provider.address}", _NETWORK
    except MissingKey as error:
        return "reachable, but it refuses the key", error.remedy
    except ProviderError as error:
        if error.status is None:
            raise
        return f"reachable (HTTP {error.status})", ""
    finally:
        await provider.aclose()
    return "reachable, and it takes the key", ""


def _here(name: str) -> Condition:
    match name:
        case "ollama":
            return _ollama()
        case "vertex":
            return _vertex()
        case _ if name in ENGINES:
            return _engine(name)
        case _:
            return Condition(name=name, found=_RULES.get(name, "registered by a package or a cell"))


def _ollama() -> Condition:
    if models := ollama_models():
        listed = ", ".join(models[:5])
        return Condition(
            name="ollama", found=f"reachable; {len(models)} models: {listed}; default {models[0]}"
        )
    return Condition(
        name="ollama", found="none answers on this machine", remedy="https://ollama.com, if you want it."
    )


def _vertex() -> Condition:
    model = import_module("agent_magics.providers.vertex").VENDOR.models[0]
    if find_spec("google") is None or find_spec("google.auth") is None:
        return Condition(
            name="vertex", found="not installed", remedy="pip install 'agent-magics[vertex]', if you want it."
        )
    named = os.environ.get("GOOGLE_APPLICATION_CREDENTIALS", "")
    file = Path(named) if named else Path.home() / _GCLOUD
    if not file.is_file():
        remedy = "`gcloud auth application-default login`, or set $GOOGLE_APPLICATION_CREDENTIALS."
        return Condition(name="vertex", found=f"no credentials; default model {model}", remedy=remedy)
    return Condition(name="vertex", found=f"credentials found ({file}); not called; default model {model}")


def _engine(name: str) -> Condition:
    path, engine = weights.installed(), find_spec(ENGINES[name]) is not None
    if engine and path:
        return Condition(name=name, found=f"ready; default model {path.name}")
    missing = " and ".join(
        what for what, there in ((f"engine {ENGINES[name]}", engine), ("weights", path)) if not there
    )
    extra = {"llama": "local", "ggml": "local"}.get(name, name)
    remedy = "agent-magics local install" if engine else f"pip install 'agent-magics[{extra}]'"
    return Condition(name=name, found=f"no {missing}", remedy=f"{remedy}, if you want it.")
