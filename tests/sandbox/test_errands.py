"""The socket between a call and the host: whatever comes over it, the host stays upright."""

from __future__ import annotations

import json
import socket
import struct
import threading
from dataclasses import replace
from ipaddress import ip_network

import pytest

from agent_magics.sandbox import Broker
from agent_magics.sandbox.broker import public_internet
from agent_magics.sandbox.capabilities import read_grants
from agent_magics.sandbox.errands import LONGEST_REQUEST, MOST_ERRANDS, Errands
from agent_magics.sandbox.scratch import LARGEST_FOLDER, MOST_FILES, ScratchError, ScratchFolder
from tests.patience import until


@pytest.fixture
def line():
    """The child's end of a service with a scratch folder."""
    folder = ScratchFolder()
    errands = Errands(read_grants(["scratch"]), Broker(), folder)
    with socket.socket(fileno=socket.dup(errands.child_end())) as line:
        line.settimeout(5)
        yield line
    errands.close()
    folder.close()


def ask(line: socket.socket, request: object, payload: bytes = b"") -> tuple[dict, bytes]:
    send(line, json.dumps(request).encode(), payload)
    answer = json.loads(read(line, struct.unpack(">I", read(line, 4))[0]))
    return answer, read(line, struct.unpack(">I", read(line, 4))[0])


def send(line: socket.socket, request: bytes, payload: bytes = b"") -> None:
    line.sendall(struct.pack(">I", len(request)) + request + struct.pack(">I", len(payload)) + payload)


def read(line: socket.socket, count: int) -> bytes:
    data = b""
    while len(data) < count:
        piece = line.recv(count - len(data))
        assert piece, "the host hung up"
        data += piece
    return data


def test_file_is_written_and_read(line):
    assert ({}, b"") == ask(line, {"errand": "write", "name": "a"}, b"content")
    assert ({}, b"content") == ask(line, {"errand": "read", "name": "a"})


@pytest.mark.parametrize(
    "request_",
    [
        {"errand": "http_get", "url": "http://example.org/"},
        {"errand": "run", "name": "id"},
        {"errand": "read"},
        {"errand": "read", "name": 1},
        {"errand": ["read"]},
        {},
    ],
)
def test_what_was_not_granted_is_refused(line, request_):
    assert {"refused": "this was not granted to the call"} == ask(line, request_)[0]


@pytest.mark.parametrize(
    "data",
    [
        b"\xff\xff\xff\xff",
        struct.pack(">I", LONGEST_REQUEST + 1),
        struct.pack(">I", 3) + b"{}x" + struct.pack(">I", 0),
        struct.pack(">I", 2) + b"[]" + struct.pack(">I", 0),
        struct.pack(">I", 2) + b"{}" + struct.pack(">I", LARGEST_FOLDER + 1),
        struct.pack(">I", LONGEST_REQUEST) + b"[" * LONGEST_REQUEST + struct.pack(">I", 0),
    ],
    ids=["huge", "too long", "no JSON", "no object", "payload too large", "too deep"],
)
def test_what_is_no_request_ends_the_service(line, data):
    line.sendall(data)
    with pytest.raises((AssertionError, ConnectionResetError)):
        read(line, 1)


def test_errands_of_one_call_are_counted(line):
    for _ in range(MOST_ERRANDS):
        ask(line, {"errand": "names"})
    with pytest.raises((AssertionError, OSError)):
        ask(line, {"errand": "names"})


def test_folder_holds_so_many_files_and_no_more():
    folder = ScratchFolder()
    for number in range(MOST_FILES):
        folder.write(str(number), b"x")
    with pytest.raises(ScratchError, match="holds 64 files already"):
        folder.write("one-more", b"x")
    folder.write("0", b"replaced")
    assert (MOST_FILES, b"replaced") == (len(folder.names()), folder.read("0"))
    folder.close()


def test_folder_holds_so_much_and_no_more():
    folder = ScratchFolder()
    folder.write("a", bytes(LARGEST_FOLDER - 1))
    with pytest.raises(ScratchError, match="more than 16 MB"):
        folder.write("b", b"xx")
    folder.close()


def test_folder_follows_no_link_that_somebody_else_made(tmp_path):
    secret = tmp_path / "secret"
    secret.write_text("secret")
    (tmp_path / "folder").mkdir()
    (tmp_path / "folder" / "a").symlink_to(secret)
    folder = ScratchFolder(tmp_path / "folder")
    with pytest.raises(ScratchError):
        folder.read("a")
    with pytest.raises(OSError, match="symbolic links"):
        folder.write("a", b"x")
    assert ("secret", []) == (secret.read_text(), folder.names())


def test_page_under_way_is_given_up_with_the_call():
    """The thread that fetches it ends too, long before the page would be there."""
    waiting = socket.create_server(("127.0.0.1", 0))
    port = waiting.getsockname()[1]
    here = (ip_network("127.0.0.0/8"),)
    policy = replace(public_internet(), allowed_networks=here, allowed_ports=frozenset({port}))
    errands = Errands(read_grants(["http_get:127.0.0.1"]), Broker(policy), None)
    with waiting, socket.socket(fileno=socket.dup(errands.child_end())) as line:
        send(line, json.dumps({"errand": "http_get", "url": f"http://127.0.0.1:{port}/"}).encode())
        visitor, _ = waiting.accept()
        with visitor:
            errands.close()
            until(lambda: not errands.serving, "the service's end")
            assert not errands.serving


def test_thread_of_the_service_ends_with_the_call(sandbox):
    assert [] == sandbox.call("def f():\n    return scratch.names()", "f", capabilities=["scratch"]).value
    until(lambda: not any(t.name == "sandbox-errands" for t in threading.enumerate()), "the service's end")
