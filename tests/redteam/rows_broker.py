"""What goes through the broker: addresses in disguise, redirects, and everything that is no plain GET.

The host of each URL was granted, as a person in a hurry would. The broker's policy here lets the world's own
server through and nothing else of the private networks.
"""

from __future__ import annotations

import ipaddress
import socket
import urllib.request
import zlib
from collections.abc import Callable
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any
from urllib.parse import urlsplit

from tests.redteam.rows import Family, Layer, Row, attack, twin
from tests.redteam.world import World

HONEST = twin("return http_get(world['page'] + '/plain')['text'] == 'a plain page'")
FORBIDDEN = {
    ipaddress.ip_address(address)
    for address in ("169.254.169.254", "168.63.129.16", "10.0.0.1", "fd00:ec2::254")
}


def _row(
    name: str, body: str, canary: Callable[[World], Any] | None, hosts: tuple[str, ...] = (), **more: Any
) -> Row:
    return Row(
        name=name,
        family=Family.NETWORK,
        attack=attack(body),
        twin=HONEST,
        stops=frozenset({Layer.BROKER}),
        grants=("http_get:127.0.0.1", *(f"http_get:{host}" for host in hosts)),
        canary=canary,
        seconds=20,
        **more,
    )


def _leads_inside(host: str) -> bool:
    """Whether a resolver, or a gateway behind it, ends at an address that is nobody's business."""
    for answer in socket.getaddrinfo(host, 80, flags=socket.AI_NUMERICHOST):
        address = ipaddress.ip_address(answer[4][0])
        carried = {address, ipaddress.ip_address(int(address) & 0xFFFFFFFF)}
        if isinstance(address, ipaddress.IPv6Address):
            carried |= {address.ipv4_mapped, address.sixtofour}
        if carried & FORBIDDEN:
            return True
    return False


def _address(name: str, url: str) -> Row:
    """An address that a resolver understands, however it is written."""
    host = urlsplit(url).hostname or ""
    return _row(name, f"return http_get({url!r})", lambda _: _leads_inside(host), (host,))


ADDRESSES = [
    _address("metadata as it is written", "http://169.254.169.254/latest/meta-data/"),
    _address("metadata as one number", "http://2852039166/"),
    _address("metadata in hexadecimal", "http://0xa9fea9fe/"),
    _address("metadata in octal", "http://0251.0376.0251.0376/"),
    _address("metadata with fewer dots", "http://169.254.43518/"),
    _address("metadata in wide digits", "http://１６９.254.169.254/"),
    _address("metadata with ideographic stops", "http://169。254。169。254/"),
    _address("metadata mapped into IPv6", "http://[::ffff:169.254.169.254]/"),
    _address("metadata through a NAT64 gateway", "http://[64:ff9b::a9fe:a9fe]/"),
    _address("metadata through 6to4", "http://[2002:a9fe:a9fe::]/"),
    _address("metadata over IPv6", "http://[fd00:ec2::254]/"),
    _address("Azure's wire server", "http://168.63.129.16/machine"),
    _address("a private network with fewer dots", "http://10.1/"),
]


def _reads(path: str) -> Callable[[World], bool]:
    """Whether anybody else can read that, of the world's server or of the machine."""
    return lambda world: _open(path if ":" in path else world.page + path) != b""


def _open(url: str) -> bytes:
    with urllib.request.urlopen(url, timeout=10) as answer:
        return answer.read()


def _writes_beyond(name: str) -> Callable[[object], bool]:
    """Whether a plain folder lets such a name out of it, or hides it in it."""

    def canary(_: object) -> bool:
        with TemporaryDirectory() as outer:
            inner = Path(outer, "inner")
            inner.mkdir()
            (inner / name.replace("FOLDER", outer)).write_text("x")
            return list(inner.glob("[!.]*")) == []

    return canary


def _holds(files: int, size: int) -> Callable[[object], bool]:
    """Whether a plain folder takes that much."""

    def canary(_: object) -> bool:
        with TemporaryDirectory() as folder:
            for number in range(files):
                Path(folder, str(number)).write_bytes(bytes(size))
            return len(list(Path(folder).iterdir())) == files

    return canary


REQUESTS = [
    _row("a file by URL", "return http_get('file:///etc/passwd')", _reads("file:///etc/passwd")),
    _row("data by URL", "return http_get('data:text/plain,x')", _reads("data:text/plain,x")),
    _row(
        "a host that was not granted",
        """
        return http_get(world["page"].replace("127.0.0.1", "localhost") + "/plain")
        """,
        lambda world: _open(world.page.replace("127.0.0.1", "localhost") + "/plain"),
    ),
    _row(
        "a granted host as somebody's name",
        "return http_get('http://127.0.0.1@10.0.0.1/')",
        lambda _: _leads_inside(urlsplit("http://127.0.0.1@10.0.0.1/").hostname or ""),
        ("10.0.0.1",),
    ),
    _row(
        "a host that ends like a granted one",
        "return http_get('http://evil-127.0.0.1/')",
        lambda _: str(urlsplit("http://evil-127.0.0.1/").hostname).endswith("127.0.0.1"),
    ),
    _row(
        "another port of a granted host",
        "return http_get(world['other_page'] + '/plain')",
        lambda world: _open(world.other_page + "/plain"),
    ),
    _row(
        "another header by a line break",
        """
        return "evil" in http_get(world["page"] + "/headers HTTP/1.1\\r\\nX-Evil: evil\\r\\nX: ")["text"]
        """,
        lambda world: b"evil" in world.ask("GET /headers HTTP/1.1\r\nX-Evil: evil\r\nX: HTTP/1.1\r\n\r\n"),
    ),
    _row("more than two megabytes", "return http_get(world['page'] + '/large')", _reads("/large")),
    _row(
        "a bomb that a reader unpacks",
        "return http_get(world['page'] + '/compressed')",
        lambda world: len(zlib.decompress(_open(world.page + "/compressed"), 31)) == 50 << 20,
    ),
    _row(
        "a redirect to a host that was not granted",
        "return http_get(world['page'] + '/elsewhere')",
        _reads("/elsewhere"),
    ),
    _row(
        "a redirect to metadata",
        "return http_get(world['page'] + '/metadata')",
        lambda _: _leads_inside("169.254.169.254"),
        ("169.254.169.254",),
    ),
    _row("a redirect to a file", "return http_get(world['page'] + '/file')", _reads("file:///etc/passwd")),
    _row("redirects without end", "return http_get(world['page'] + '/round/0')", _reads("/round/0")),
    _row(
        "more pages than anybody reads",
        """
        return len([http_get(world["page"] + "/plain") for _ in range(30)]) == 30
        """,
        lambda world: len([_open(world.page + "/plain") for _ in range(30)]) == 30,
    ),
    _row(
        "an errand that nobody granted",
        """
        import json, struct
        request = json.dumps({"errand": "names"}).encode()
        os.write(4, struct.pack(">I", len(request)) + request + struct.pack(">I", 0))
        return b"refused" not in os.read(4, 4096)
        """,
        None,
        control=("scratch",),
    ),
    _row(
        "an errand that is none",
        "os.write(4, b'\\xff' * 64); return os.read(4, 10)",
        lambda _: int.from_bytes(b"\xff" * 4, "big") == 4294967295,
    ),
]


def _scratch(name: str, body: str, canary: Callable[[object], bool]) -> Row:
    return Row(
        name=name,
        family=Family.FILES,
        attack=attack(body),
        twin=twin("scratch.write('a.txt', 'b'); return scratch.read_text('a.txt') == 'b'"),
        stops=frozenset({Layer.HOST}),
        grants=("scratch",),
        canary=canary,
    )


SCRATCH = [
    _scratch("a scratch file by ..", "scratch.write('../new', 'x'); return True", _writes_beyond("../new")),
    _scratch(
        "a scratch file by a whole path",
        "scratch.write(world['folder'] + '/new', 'x'); return True",
        _writes_beyond("FOLDER/new"),
    ),
    _scratch(
        "a hidden scratch file", "scratch.write('.bashrc', 'x'); return True", _writes_beyond(".bashrc")
    ),
    _scratch(
        "scratch files without end", "return [scratch.write(str(n), 'x') for n in range(200)]", _holds(200, 1)
    ),
    _scratch(
        "a scratch file without end", "scratch.write('a', bytes(17 << 20)); return True", _holds(1, 17 << 20)
    ),
]

ROWS = [*ADDRESSES, *REQUESTS, *SCRATCH]
