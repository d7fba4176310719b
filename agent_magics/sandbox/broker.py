"""HTTP GET for those who have no network of their own: generated tools, and the model's ``web_fetch``.

The broker runs in the host. It resolves a name once, checks every address, and connects to the address that
it checked (ssrfguard does that), so private networks and cloud metadata are out of reach however they are
spelled or resolved. Redirects are followed by hand, and each hop is judged as if it had been asked for. What
is read is the raw body, never decompressed, up to 2 MiB, and all of it together, the lookup included, takes
at most 10 seconds.

No proxy, no netrc, no cookies from elsewhere, nothing but GET.

A host that was granted can be told things: whatever a tool writes into a URL, that host reads.
"""

from __future__ import annotations

import asyncio
import codecs
import ipaddress
import queue
import socket
import ssl
import threading
import time
from collections.abc import Callable, Collection, Iterable
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, Any

from agent_magics.sandbox.outcome import SandboxError

if TYPE_CHECKING:
    from ssrfguard import Policy

SECONDS = 10.0
LARGEST = 2 << 20
MOST_HOPS = 5
AZURE_WIRE_SERVER = "168.63.129.16/32"  # a public address that every Azure machine's host answers at
REDIRECTS = frozenset({301, 302, 303, 307, 308})
HEADERS = {"accept": "*/*", "accept-encoding": "identity", "user-agent": "agent-magics"}

Lookup = Callable[..., Iterable[Any]]


class FetchError(SandboxError):
    """A page was not fetched."""


class HostNotGranted(FetchError):
    """A URL, or a redirect on the way, leads to a host that was not granted.

    Attributes
    ----------
    host : str
        Which one; ask for it, and fetch again.
    """

    def __init__(self, host: str) -> None:
        super().__init__(
            f"The host {host!r} was not granted.", "Hosts are granted one by one.", "Ask for it."
        )
        self.host = host


@dataclass(frozen=True, kw_only=True)
class Page:
    """What a server answered.

    Attributes
    ----------
    status : int
        The HTTP status; one of an error too.
    url : str
        Where the answer came from, after redirects.
    content_type : str
        The header as it came, or empty.
    charset : str
        What to decode the body with; known to Python.
    body : bytes
        At most 2 MiB.
    """

    status: int
    url: str
    content_type: str
    charset: str
    body: bytes

    @property
    def text(self) -> str:
        """The body as text; what is not text shows as replacement characters."""
        return self.body.decode(self.charset, "replace")


def public_internet() -> Policy:
    """Which addresses may be reached: ports 80 and 443 of the public internet, without cloud metadata."""
    from ssrfguard import DEFAULT_DENIED, AddressTable, Block, Policy, Reach

    azure = Block(
        network=ipaddress.ip_network(AZURE_WIRE_SERVER),
        name="Cloud metadata (Azure WireServer)",
        rfc="https://learn.microsoft.com/azure/virtual-network/what-is-ip-address-168-63-129-16",
        reach=Reach.DENIED,
    )
    return Policy(denied_networks=AddressTable((*DEFAULT_DENIED.blocks, azure)))


class Broker:
    """Fetches pages for others.

    Parameters
    ----------
    policy : ssrfguard.Policy, optional
        Which addresses may be reached; :func:`public_internet` unless a test says otherwise.
    lookup : callable, optional
        Stands in for :func:`socket.getaddrinfo`; what it answers is checked all the same.
    seconds, largest : number
        The limits on the whole fetch and on the body in bytes.

    Examples
    --------
    >>> Broker().get("https://example.org/", hosts={"example.org"}).status  # doctest: +SKIP
    200
    """

    def __init__(
        self,
        policy: Policy | None = None,
        *,
        lookup: Lookup = socket.getaddrinfo,
        seconds: float = SECONDS,
        largest: int = LARGEST,
    ) -> None:
        self._given_policy = policy
        self._lookup = lookup
        self._seconds = seconds
        self._largest = largest

    def get(self, url: str, *, hosts: Collection[str]) -> Page:
        """:meth:`fetch`, for a thread without an event loop."""
        return asyncio.run(self.fetch(url, hosts=hosts))

    async def fetch(self, url: str, *, hosts: Collection[str]) -> Page:
        """GET a page.

        Parameters
        ----------
        url : str
            ``http`` or ``https``, on their usual ports.
        hosts : collection of str
            The hosts that were granted, exactly.

        Raises
        ------
        HostNotGranted
            If the URL or a redirect leads to another host.
        FetchError
            If the page is out of reach, too slow, too large, or compressed.
        """
        import httpx
        from ssrfguard import SSRFGuardError

        try:
            async with asyncio.timeout(self._seconds):
                return await self._follow(url, frozenset(host.lower().rstrip(".") for host in hosts))
        except TimeoutError as error:
            raise FetchError(
                f"{url!r} took more than {self._seconds:g} s.", "", "Fetch something smaller."
            ) from error
        except SSRFGuardError as error:
            raise FetchError(f"{url!r} may not be fetched.", str(error), "Fetch a public address.") from error
        except (httpx.HTTPError, httpx.InvalidURL) as error:
            raise FetchError(f"{url!r} could not be fetched.", f"{type(error).__name__}: {error}") from error

    async def _follow(self, url: str, hosts: frozenset[str]) -> Page:
        import httpx
        from ssrfguard.httpx import AsyncClient

        resolver = _with_deadline(self._lookup, time.monotonic() + self._seconds)
        async with AsyncClient(
            policy=self._policy,
            resolver=resolver,
            verify=self._tls,
            trust_env=False,
            timeout=self._seconds,
            headers=HEADERS,
        ) as client:
            for _ in range(MOST_HOPS + 1):
                self._judge(url, hosts)
                async with client.stream("GET", url) as response:
                    if response.status_code not in REDIRECTS or "location" not in response.headers:
                        return await self._read(response)
                    url = str(httpx.URL(url).join(response.headers["location"]))
        raise FetchError(f"More than {MOST_HOPS} redirects.", f"The last led to {url!r}.")

    def _judge(self, url: str, hosts: frozenset[str]) -> None:
        target = self._policy.check_url(url)
        host = target.host.rstrip(".").lower()
        if not hosts & {host, target.host_as_written.rstrip(".").lower()}:
            raise HostNotGranted(host)

    async def _read(self, response: Any) -> Page:
        encoding = response.headers.get("content-encoding", "identity")
        if encoding.strip().lower() not in ("", "identity"):
            raise FetchError(
                f"{str(response.url)!r} came compressed ({encoding!r}).", "It was asked not to be."
            )
        body = bytearray()
        async for chunk in response.aiter_raw():
            body += chunk
            if len(body) > self._largest:
                raise FetchError(
                    f"{str(response.url)!r} is larger than {self._largest / (1 << 20):g} MB.",
                    "",
                    "Fetch something smaller.",
                )
        return Page(
            status=response.status_code,
            url=str(response.url),
            content_type=response.headers.get("content-type", ""),
            charset=_charset(response.charset_encoding),
            body=bytes(body),
        )

    @cached_property
    def _policy(self) -> Policy:
        return self._given_policy or public_internet()

    @cached_property
    def _tls(self) -> ssl.SSLContext:
        import httpx

        return httpx.create_ssl_context(trust_env=False)


def _charset(name: str | None) -> str:
    """A text encoding that Python knows; the server names it, so it is looked up with care."""
    try:
        info = codecs.lookup(name or "utf-8")
    except (LookupError, ValueError):
        return "utf-8"
    return info.name if getattr(info, "_is_text_encoding", True) else "utf-8"


def _with_deadline(lookup: Lookup, deadline: float) -> Lookup:
    """The lookup, given up at the deadline; ``getaddrinfo`` itself knows none."""

    def bounded(*arguments: Any, **options: Any) -> Iterable[Any]:
        answers: queue.SimpleQueue[list[Any] | OSError] = queue.SimpleQueue()

        def ask() -> None:
            try:
                answers.put(list(lookup(*arguments, **options)))
            except OSError as error:
                answers.put(error)

        threading.Thread(target=ask, name="sandbox-lookup", daemon=True).start()
        try:
            answer = answers.get(timeout=max(0.0, deadline - time.monotonic()))
        except queue.Empty:
            raise socket.gaierror(socket.EAI_AGAIN, "the name was not found in time") from None
        if isinstance(answer, OSError):
            raise answer
        return answer

    return bounded
