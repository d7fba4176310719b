"""``auto``: which provider to take when nobody said.

The first of: the configured model, a key of Anthropic, OpenAI or Google, an Ollama that answers on this
machine, installed local weights, ``demo``. It looks only when it is asked; the probe of Ollama is the one
thing that touches the network, and it waits for no longer than a blink.
"""

from __future__ import annotations

import json
import os
from collections.abc import Collection, Iterator
from dataclasses import dataclass
from http.client import HTTPConnection, HTTPException
from importlib.util import find_spec

from agent_magics.providers import keys
from agent_magics.providers.addresses import ollama_host
from agent_magics.providers.loose import items, obj, text

CONFIGURED = "AGENT_MAGICS_MODEL"

_KEYS = {
    "anthropic": ("ANTHROPIC_API_KEY",),
    "openai": ("OPENAI_API_KEY",),
    "gemini": ("GEMINI_API_KEY", "GOOGLE_API_KEY"),
}
_BLINK = 0.15


@dataclass(frozen=True, kw_only=True, slots=True)
class Choice:
    """What to build, and why, in one sentence."""

    spec: str
    why: str


def choose(names: Collection[str]) -> Choice:
    """The choice for ``auto`` among the providers that there are."""
    for look in (_configured, _keyed, _ollama, _weights):
        for choice in look():
            if choice.spec.partition(":")[0] in names or look is _configured:
                return choice
    return Choice(
        spec="demo", why="demo answers by rules: no model is configured, no key is set, none runs here."
    )


def _configured() -> Iterator[Choice]:
    if (spec := os.environ.get(CONFIGURED, "").strip()) and spec != "auto":
        yield Choice(spec=spec, why=f"{spec}, because ${CONFIGURED} says so.")


def _keyed() -> Iterator[Choice]:
    for name, variables in _KEYS.items():
        if key := keys.find(variables):
            yield Choice(spec=name, why=f"{name}, because its key was found ({key.source}).")


def _ollama() -> Iterator[Choice]:
    for model in ollama_models():
        yield Choice(spec=f"ollama:{model}", why=f"ollama:{model}, because Ollama answers on this machine.")


def _weights() -> Iterator[Choice]:
    from agent_magics.providers.local import weights

    if (path := weights.installed()) and find_spec("xllamacpp"):
        yield Choice(spec="llama", why=f"llama, because local weights are installed ({path.name}).")


def ollama_models() -> list[str]:
    """The models of an Ollama on this machine, the last used first; none when there is no Ollama."""
    host, port, secure = ollama_host()
    if secure or host not in ("127.0.0.1", "localhost", "::1"):
        return []  # another machine is never called unasked
    connection = HTTPConnection(host, port, timeout=_BLINK)
    try:
        connection.request("GET", "/api/tags")
        found = items(obj(json.loads(connection.getresponse().read())).get("models"))
    except (OSError, HTTPException, ValueError):
        return []
    finally:
        connection.close()
    return [name for model in found if (name := text(obj(model).get("name")))]
