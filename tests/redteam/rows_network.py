"""Sockets of every kind; what goes through the broker has rows of its own."""

from __future__ import annotations

import socket
from typing import Any

from tests.redteam.rows import Family, Layer, Row, attack, twin

BOTH = frozenset({Layer.LANDLOCK, Layer.SECCOMP})
ONLY_SECCOMP = frozenset({Layer.SECCOMP})
PARSES = twin(
    "from urllib.parse import urlsplit; return urlsplit('http://a.example/b').hostname == 'a.example'"
)
ADDRESSES = twin("import ipaddress; return ipaddress.ip_address('10.0.0.1').is_private")
PACKS = twin("import struct; return struct.unpack('>H', struct.pack('>H', 80)) == (80,)")


def _row(
    name: str, body: str, honest: str = PARSES, stops: frozenset[Layer] = ONLY_SECCOMP, **more: Any
) -> Row:
    return Row(name=name, family=Family.NETWORK, attack=attack(body), twin=honest, stops=stops, **more)


def _a_socket_carries_descriptors(_: object) -> bool:
    ours, theirs = socket.socketpair()
    with ours, theirs:
        socket.send_fds(ours, [b"x"], [1])
        _, found, _, _ = socket.recv_fds(theirs, 1, 1)
        for descriptor in found:
            socket.close(descriptor)
        return len(found) == 1


ROWS = [
    _row(
        "connect by TCP",
        """
        with socket.create_connection(("127.0.0.1", world["port"]), 2) as line:
            return line.send(b"secret") == 6
        """,
        stops=BOTH,
        landlock_since=4,
    ),
    _row(
        "connect by TCP without waiting",
        """
        line = socket.socket()
        line.setblocking(False)
        return line.connect_ex(("127.0.0.1", world["port"])) in (0, 115)
        """,
        stops=BOTH,
        landlock_since=4,
    ),
    _row(
        "listen", "return socket.create_server(('127.0.0.1', 0)).fileno() >= 0", stops=BOTH, landlock_since=4
    ),
    _row("connect by TCP over IPv6", "socket.socket(socket.AF_INET6).fileno(); return True", ADDRESSES),
    _row("send a datagram", "return socket.socket(2, 2).sendto(b'secret', ('127.0.0.1', world['udp'])) == 6"),
    _row("look up a name", "return bool(socket.getaddrinfo('localhost', 80))", ADDRESSES),
    _row(
        "connect to a socket in a folder",
        """
        line = socket.socket(socket.AF_UNIX)
        line.connect(world["unix"])
        return True
        """,
        stops=BOTH,
        landlock_since=9,
    ),
    _row(
        "connect to an abstract socket",
        """
        line = socket.socket(socket.AF_UNIX)
        line.connect(world["abstract"])
        return True
        """,
        stops=BOTH,
        landlock_since=6,
    ),
    _row("a pair of sockets", "return len(socket.socketpair()) == 2"),
    _row("ask the kernel by netlink", "return socket.socket(16, 3, 0).fileno() >= 0"),
    _row("talk to the virtual machine's host", "return socket.socket(40, 1).fileno() >= 0", needs="AF_VSOCK"),
    _row(
        "encrypt by the kernel's own sockets",
        "return socket.socket(38, 5, 0).fileno() >= 0",
        PACKS,
        needs="AF_ALG",
    ),
    _row(
        "a ring that does system calls for one",
        """
        return raw(425, 425, 4, ctypes.create_string_buffer(120)) >= 0
        """,
        PACKS,
        needs="io_uring, which containers refuse",
    ),
    _row(
        "carry a descriptor out over the reply",
        """
        import array
        line = socket.socket(fileno=os.dup(3))
        line.sendmsg([b"x"], [(socket.SOL_SOCKET, socket.SCM_RIGHTS, array.array("i", [1]))])
        return True
        """,
        PACKS,
        frozenset({Layer.HOST}),
        canary=_a_socket_carries_descriptors,
    ),
]
