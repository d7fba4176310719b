"""The broker, against real servers: what it fetches, and what it refuses."""

from __future__ import annotations

import asyncio
import gzip
import socket
import threading
import time
from collections.abc import Iterator
from dataclasses import replace
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from ipaddress import ip_network
from typing import cast

import pytest

from agent_magics.sandbox import Broker, FetchError, HostNotGranted
from agent_magics.sandbox.broker import public_internet
from tests.patience import PROMPT

HERE = {"127.0.0.1"}


class Pages(BaseHTTPRequestHandler):
    """Answers by path."""

    seen: list[dict[str, str]] = []  # noqa: RUF012  the headers of each request

    def log_message(self, *_: object) -> None:
        """Say nothing."""

    def do_GET(self) -> None:
        self.seen.append({name.lower(): value for name, value in self.headers.items()})
        path = self.path.split("?")[0]
        port = cast("tuple[str, int]", self.server.server_address)[1]
        pages = {
            "/plain": ("héllo".encode("latin-1"), ("content-type", "text/plain; charset=latin-1")),
            "/odd": ("héllo".encode(), ("content-type", "text/plain; charset=hex")),
            "/limit": (b"x" * (2 << 20),),
            "/large": (b"x" * ((2 << 20) + 1),),
            "/packed": (gzip.compress(bytes(1000)), ("content-encoding", "gzip")),
        }
        redirects = {
            "/to-name": (f"http://localhost:{port}/plain",),
            "/to-file": ("file:///etc/passwd",),
            "/to-metadata": ("http://169.254.169.254/",),
            "/round": ("/round",),
            "/cookie": ("/plain", ("set-cookie", "a=b")),
        }
        if path in pages:
            self._answer(*pages[path])
        elif path in redirects:
            self._redirect(*redirects[path])
        elif path == "/drip":
            self._drip(b"HTTP/1.0 200 OK\r\n\r\n")
        elif path == "/drip-headers":
            self._drip(b"HTTP/1.0 200 OK\r\n", line=b"X-Y: 1\r\n")
        else:
            self.send_error(404)

    def _answer(self, body: bytes, *headers: tuple[str, str]) -> None:
        self.send_response(200)
        for name, value in headers:
            self.send_header(name, value)
        self.end_headers()
        self._write(body)

    def _redirect(self, url: str, *headers: tuple[str, str]) -> None:
        self.send_response(302)
        for name, value in (("location", url), *headers):
            self.send_header(name, value)
        self.end_headers()

    def _drip(self, head: bytes, line: bytes = b"x") -> None:
        """Never finish, and never be silent for long."""
        self._write(head)
        for _ in range(600):
            if not self._write(line) or self.server.over.wait(0.05):  # type: ignore[attr-defined]
                return

    def _write(self, data: bytes) -> bool:
        try:
            self.wfile.write(data)
            self.wfile.flush()
        except OSError:  # whoever asked has heard enough
            return False
        return True


@pytest.fixture(scope="module")
def server() -> Iterator[str]:
    pages = ThreadingHTTPServer(("127.0.0.1", 0), Pages)
    pages.over = threading.Event()  # type: ignore[attr-defined]
    thread = threading.Thread(target=pages.serve_forever, kwargs={"poll_interval": 0.05}, daemon=True)
    thread.start()
    yield f"http://127.0.0.1:{pages.server_address[1]}"
    pages.over.set()  # type: ignore[attr-defined]
    pages.shutdown()
    pages.server_close()
    thread.join(5)


@pytest.fixture
def broker(server) -> Broker:
    return local(server)


def local(server: str, **options) -> Broker:
    """A broker that may reach this machine, at the server's port only."""
    ports = frozenset({int(server.rpartition(":")[2])})
    policy = replace(public_internet(), allowed_networks=(ip_network("127.0.0.0/8"),), allowed_ports=ports)
    return Broker(policy, **options)


def test_page_is_fetched_with_its_text(broker, server):
    page = broker.get(f"{server}/plain?q=1", hosts=HERE)
    assert (200, f"{server}/plain?q=1", "héllo") == (page.status, page.url, page.text)


def test_error_page_is_a_page(broker, server):
    assert 404 == broker.get(f"{server}/lost", hosts=HERE).status


def test_charset_that_is_no_text_encoding_is_not_used(broker, server):
    assert "héllo" == broker.get(f"{server}/odd", hosts=HERE).text


def test_request_says_little_of_who_asks(broker, server):
    Pages.seen.clear()
    broker.get(f"{server}/plain", hosts=HERE)
    (headers,) = Pages.seen
    expected = {"host", "accept", "accept-encoding", "connection", "user-agent"}
    assert (expected, "identity", "agent-magics") == (
        set(headers),
        headers["accept-encoding"],
        headers["user-agent"],
    )


def test_redirect_on_the_same_host_is_followed_without_its_cookies(broker, server):
    Pages.seen.clear()
    assert "héllo" == broker.get(f"{server}/cookie", hosts=HERE).text
    broker.get(f"{server}/plain", hosts=HERE)
    assert [False, False] == ["cookie" in headers for headers in (Pages.seen[0], Pages.seen[2])]


def test_page_of_two_megabytes_is_fetched(broker, server):
    assert 2 << 20 == len(broker.get(f"{server}/limit", hosts=HERE).body)


@pytest.mark.parametrize(
    ("path", "message"),
    [
        ("/large", "is larger than 2 MB"),
        ("/packed", "came compressed ('gzip')"),
        ("/round", "More than 5 redirects"),
        ("/to-file", "may not be fetched"),
        ("/to-metadata", "may not be fetched"),
    ],
)
def test_page_is_refused_in_words(broker, server, path, message):
    with pytest.raises(FetchError) as refusal:
        broker.get(f"{server}{path}", hosts={*HERE, "169.254.169.254"})
    assert message in refusal.value.what


def test_host_that_was_not_granted_is_named(broker, server):
    with pytest.raises(HostNotGranted) as refusal:
        broker.get(f"{server}/plain", hosts={"example.org"})
    assert "127.0.0.1" == refusal.value.host


def test_redirect_to_a_host_that_was_not_granted_is_named(broker, server):
    with pytest.raises(HostNotGranted) as refusal:
        broker.get(f"{server}/to-name", hosts=HERE)
    assert "localhost" == refusal.value.host


def test_redirect_to_a_granted_host_is_followed(broker, server):
    assert "héllo" == broker.get(f"{server}/to-name", hosts={*HERE, "LOCALHOST."}).text


@pytest.mark.parametrize("path", ["/drip", "/drip-headers"])
def test_slow_page_is_given_up_in_time(server, path):
    began = time.monotonic()
    with pytest.raises(FetchError, match=r"took more than 0\.5 s"):
        local(server, seconds=0.5).get(f"{server}{path}", hosts=HERE)
    assert time.monotonic() - began < 5


def test_slow_lookup_is_given_up_in_time():
    over = threading.Event()

    def lookup(*_: object, **__: object) -> list:
        over.wait(20)
        return []

    began = time.monotonic()
    with pytest.raises(FetchError):
        Broker(lookup=lookup, seconds=0.5).get("http://slow.example/", hosts={"slow.example"})
    over.set()
    assert time.monotonic() - began < 5


OUTSIDE_AND_INSIDE = ("93.184.216.34", "10.0.0.1")
PRIVATE = ["127.0.0.1", "10.0.0.1", "192.168.1.1", "172.16.0.1", "169.254.169.254", "168.63.129.16",
           "100.100.100.200", "0.0.0.0", "::1", "fe80::1", "fd00:ec2::254", "::ffff:10.0.0.1",
           "64:ff9b::a9fe:a9fe", "2002:a9fe:a9fe::", "224.0.0.1"]  # fmt: skip


@pytest.mark.parametrize("address", PRIVATE)
def test_name_that_leads_inside_is_refused(address):
    """As in DNS rebinding: every answer is checked, and the checked one is used."""
    family = socket.AF_INET6 if ":" in address else socket.AF_INET
    place = (address, 80, 0, 0) if ":" in address else (address, 80)
    asked: list[object] = []

    def lookup(*arguments: object, **_: object) -> list:
        asked.append(arguments)
        return [(family, socket.SOCK_STREAM, 6, "", place)]

    with pytest.raises(FetchError, match="may not be fetched"):
        Broker(lookup=lookup).get("http://evil.example/", hosts={"evil.example"})
    assert 1 == len(asked)


def test_name_that_leads_outside_and_inside_is_refused():
    def lookup(*_: object, **__: object) -> list:
        return [
            (socket.AF_INET, socket.SOCK_STREAM, 6, "", (host, 80)) for host in ("93.184.216.34", "10.0.0.1")
        ]

    with pytest.raises(FetchError, match="may not be fetched"):
        Broker(lookup=lookup).get("http://evil.example/", hosts={"evil.example"})


@pytest.mark.parametrize(
    "url",
    ["http://example.org:8080/", "ftp://example.org/", "http://user:pw@example.org/", "http:///x",
     "example.org", "http://example.org/\r\nX: 1", "http://example.org/\tx", "", "http://" + "a" * 9000],
)  # fmt: skip
def test_url_that_is_no_plain_one_is_refused(url):
    with pytest.raises(FetchError):
        Broker().get(url, hosts={"example.org"})


def test_proxies_of_the_environment_are_not_used(broker, server, monkeypatch):
    monkeypatch.setenv("HTTP_PROXY", "http://127.0.0.1:9")
    monkeypatch.setenv("ALL_PROXY", "http://127.0.0.1:9")
    assert 200 == broker.get(f"{server}/plain", hosts=HERE).status


async def test_fetch_is_cancelled_at_once(server):
    task = asyncio.create_task(local(server).fetch(f"{server}/drip", hosts=HERE))
    began = time.monotonic()
    with pytest.raises(TimeoutError):
        async with asyncio.timeout(0.2):
            await task
    assert time.monotonic() - began < PROMPT
