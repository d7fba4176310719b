"""Addresses as vendors let people write them."""

from __future__ import annotations

import os
import re
from collections.abc import Sequence
from urllib.parse import urlsplit

from agent_magics.errors import UsageError

_WHO = re.compile(r"//[^/@]*@")
_OLLAMA_PORT = 11434


def ollama_host(value: str | None = None) -> tuple[str, int, bool]:
    """Host, port and whether it is HTTPS, from ``$OLLAMA_HOST`` or a value of its form.

    A bare host means Ollama's own port, a URL the port of its scheme. The address to listen on everywhere
    (``0.0.0.0``) is called at loopback.

    >>> ollama_host("myhost"), ollama_host("http://myhost"), ollama_host("0.0.0.0:9000")
    (('myhost', 11434, False), ('myhost', 80, False), ('127.0.0.1', 9000, False))
    """
    given = (os.environ.get("OLLAMA_HOST", "") if value is None else value).strip().strip("\"'")
    scheme, _, rest = given.rpartition("://")
    usual = {"http": 80, "https": 443}.get(scheme.lower(), _OLLAMA_PORT)
    parts = urlsplit(f"//{rest}")
    try:
        port = parts.port or usual
    except ValueError:  # not a port: Ollama itself falls back to its own
        port = usual
    host = parts.hostname or "127.0.0.1"
    return ("127.0.0.1" if host == "0.0.0.0" else host), port, scheme.lower() == "https"  # noqa: S104 (compared)


def ollama_url(value: str | None = None) -> str:
    """The base URL of Ollama's API.

    >>> ollama_url("myhost")
    'http://myhost:11434'
    """
    host, port, secure = ollama_host(value)
    shown = f"[{host}]" if ":" in host else host
    return f"{'https' if secure else 'http'}://{shown}:{port}"


def base_url(given: object, endings: Sequence[str] = ()) -> str:
    """An address that requests can go to.

    Parameters
    ----------
    given : object
        What a person wrote; a slash at its end says nothing.
    endings : sequence of str
        Paths that we add ourselves; the first that was copied along is taken off.

    Raises
    ------
    UsageError
        If it has no scheme, no host, or a port that there is not.

    Examples
    --------
    >>> base_url("http://localhost:8000/v1/chat/completions", ("/chat/completions",))
    'http://localhost:8000/v1'
    """
    address = str(given).strip().rstrip("/")
    try:
        parts = urlsplit(address)
        wrong = "" if parts.hostname and parts.port != 0 else "It names no host."
        if parts.scheme not in ("http", "https"):
            wrong = "It doesn't begin with http:// or https://."
    except ValueError as error:  # a port beyond the last one, a bracket without its other half
        wrong = f"{error}."
    if wrong:
        shown = _WHO.sub("//", address)
        raise UsageError(
            f"{shown!r} is no address.",
            wrong,
            "Write it like http://localhost:8000/v1 or https://example.org.",
        )
    for ending in endings:
        if address.endswith(ending):
            return address.removesuffix(ending).rstrip("/")
    return address
