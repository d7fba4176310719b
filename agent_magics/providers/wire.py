"""The wire: requests out, bytes in. The one module that knows the HTTP library, and it imports it late.

Theory of operation
-------------------
A :class:`Wire` belongs to one provider. For each event loop that it is used on it keeps its own clients,
since a client's sockets belong to the loop that opened them.

The clients are *shards* of two connections. httpx 0.28 looks through its whole pool for every request, and
asks the system about each connection in it: one client with 100 connections burns 30 s of processor time on
2,000 rows, ten clients with ten 2.0 s, fifty with two 1.2 s (measured; measure again when httpx moves). A
request goes to the first shard with room, so a lone conversation stays on one warm connection and a thousand
rows spread by themselves.

There is a limit for connecting (10 s) and for silence (``timeout``), and none for the whole: a stream that
goes on is healthy. Proxies and ``SSL_CERT_FILE`` come from the environment; redirects are not followed, so
a key never travels to a host that nobody named.
"""

from __future__ import annotations

import asyncio
import functools
import logging
import os
from collections.abc import AsyncGenerator, AsyncIterable, Callable, Generator, Mapping
from contextlib import asynccontextmanager, contextmanager
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any
from weakref import WeakKeyDictionary

from agent_magics.errors import ConfigError, ProviderError
from agent_magics.providers import failures
from agent_magics.providers.keys import mask, mask_log

if TYPE_CHECKING:
    import ssl

    import httpx

CONNECT = 10.0
SILENCE = 300.0
"""Seconds without a byte after which a stream counts as dead; a large model may think that long."""

_PER_SHARD = 2
_LONGEST_ERROR = 64 * 1024


@dataclass(frozen=True, kw_only=True, slots=True)
class Request:
    """One request. Headers may hold a key, and the body the user's words: neither is in the ``repr``.

    A body too large to be held is a function that begins to read it; its length then stands in the headers.
    """

    vendor: str
    url: str
    headers: Mapping[str, str] = field(default_factory=dict[str, str], repr=False)
    body: bytes | Callable[[], AsyncIterable[bytes]] = field(default=b"", repr=False)
    method: str = "POST"


@dataclass(slots=True)
class _Shard:
    client: httpx.AsyncClient
    secure: bool
    busy: int = 0


class Wire:
    """A provider's connections.

    Parameters
    ----------
    timeout : float, optional
        Seconds of silence after which a stream is given up.
    direct : bool
        Whether to ignore proxies: for a server of our own on this machine.
    """

    def __init__(self, *, timeout: float | None = None, direct: bool = False) -> None:
        self._silence = timeout or SILENCE
        self._direct = direct
        self._shards: WeakKeyDictionary[asyncio.AbstractEventLoop, list[_Shard]] = WeakKeyDictionary()

    def __reduce__(self) -> tuple[Any, ...]:
        """A provider may be sent to another process; its connections stay here."""
        return functools.partial(Wire, timeout=self._silence, direct=self._direct), ()

    async def stream(self, request: Request) -> AsyncGenerator[bytes]:
        """Send ``request`` and yield the answer's bytes as they arrive.

        Closing the generator closes the socket. Failures are
        :class:`~agent_magics.errors.ProviderError`; their ``retryable`` says whether to try again.
        """
        async with self._answer(request) as response:
            # Few servers compress a stream; where none does, raw bytes spare a layer.
            packed = "content-encoding" in response.headers
            async for chunk in response.aiter_bytes() if packed else response.aiter_raw():
                yield chunk

    async def read(self, request: Request) -> bytes:
        """The whole answer to ``request``, for those that are not streams."""
        async with self._answer(request) as response:
            return await response.aread()

    @asynccontextmanager
    async def _answer(self, request: Request) -> AsyncGenerator[httpx.Response]:
        import httpx

        shard = self._with_room(request.url)
        shard.busy += 1
        try:
            with _translated(request):
                # Not through `client.stream`: it takes addresses and headers apart again for each request.
                headers = {**_usual_headers(), **request.headers}
                body = request.body if isinstance(request.body, bytes) else request.body()
                outgoing = httpx.Request(request.method, _address(request.url), headers=headers, content=body)
                response = await shard.client.send(outgoing, stream=True)
                try:
                    if not response.is_success:
                        body = await _beginning(response)
                        raise failures.refused(request.vendor, response.status_code, response.headers, body)
                    yield response
                finally:
                    await response.aclose()
        finally:
            shard.busy -= 1

    async def aclose(self) -> None:
        """Close every connection of this loop. The wire may be used again; it then opens new ones."""
        here = asyncio.get_running_loop()
        for loop, shards in list(self._shards.items()):
            for shard in shards:
                if loop is here:
                    await shard.client.aclose()
                elif loop.is_running():
                    asyncio.run_coroutine_threadsafe(shard.client.aclose(), loop)
        self._shards.clear()

    def _with_room(self, url: str) -> _Shard:
        shards = self._shards.setdefault(asyncio.get_running_loop(), [])
        secure = url.startswith("https:")
        for shard in shards:
            if shard.busy < _PER_SHARD and shard.secure == secure:
                return shard
        shards.append(_Shard(self._client(secure), secure))
        return shards[-1]

    def _client(self, secure: bool) -> httpx.AsyncClient:
        import httpx

        _mask_logs()
        try:
            return httpx.AsyncClient(
                timeout=httpx.Timeout(self._silence, connect=CONNECT, pool=None),
                limits=httpx.Limits(max_connections=_PER_SHARD, max_keepalive_connections=_PER_SHARD),
                verify=_trust(secure, *_trust_settings()),
                trust_env=not self._direct,
            )
        except (OSError, ValueError) as error:  # a certificate file that is not one, a proxy that is no URL
            raise ConfigError(
                "The connection can't be set up.",
                mask(f"{type(error).__name__}: {error}"),
                "Check $SSL_CERT_FILE, $HTTPS_PROXY and $ALL_PROXY.",
            ) from None


@functools.cache
def _mask_logs() -> None:
    """The HTTP library logs addresses and the answers' headers, if somebody asks for that."""
    for name in ("httpx", "httpcore.connection", "httpcore.http11", "httpcore.proxy"):
        logging.getLogger(name).addFilter(mask_log)


def _trust_settings() -> tuple[str, str]:
    return os.environ.get("SSL_CERT_FILE", ""), os.environ.get("SSL_CERT_DIR", "")


@functools.cache
def _trust(secure: bool, file: str, folder: str) -> ssl.SSLContext:
    """One TLS context for the process and these settings: reading the certificates costs 20 ms."""
    import ssl

    if not secure:
        return ssl.SSLContext(ssl.PROTOCOL_TLS_CLIENT)  # never used; it trusts nobody, and costs nothing
    if file or folder:
        return ssl.create_default_context(cafile=file or None, capath=folder or None)
    import certifi

    return ssl.create_default_context(cafile=certifi.where())


@functools.cache
def _usual_headers() -> Mapping[str, str]:
    from agent_magics import __version__

    agent = f"agent-magics/{__version__}"
    return {"accept": "*/*", "accept-encoding": "identity", "user-agent": agent, "connection": "keep-alive"}


@functools.lru_cache(maxsize=64)
def _address(url: str) -> httpx.URL:
    import httpx

    return httpx.URL(url)


async def _beginning(response: httpx.Response) -> bytes:
    body = b""
    async for chunk in response.aiter_bytes():
        body += chunk
        if len(body) > _LONGEST_ERROR:
            break
    return body


@contextmanager
def _translated(request: Request) -> Generator[None]:
    """The HTTP library's errors as ours, without their chain: it may quote a header, and so a key."""
    import httpx

    try:
        yield
    except ProviderError:
        raise
    except (httpx.ConnectError, httpx.ConnectTimeout, httpx.ProxyError) as error:
        raise failures.unreachable(request.vendor, mask(request.url), _why(error)) from None
    except (httpx.InvalidURL, httpx.UnsupportedProtocol, httpx.LocalProtocolError) as error:
        raise ConfigError(
            f"The request to {request.vendor} can't be sent.",
            mask(_why(error), *request.headers.values()),
            "Check `base_url` and the extra headers.",
        ) from None
    except httpx.TimeoutException as error:
        raise failures.dropped(request.vendor, f"Nothing came for too long ({_why(error)}).") from None
    except (httpx.TransportError, httpx.DecodingError) as error:
        raise failures.dropped(request.vendor, _why(error)) from None


def _why(error: Any) -> str:
    return f"{type(error).__name__}: {error}" if str(error) else type(error).__name__
