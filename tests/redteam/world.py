"""What attacks are aimed at, all of our own: files, servers, a process; and the traces of an attack."""

from __future__ import annotations

import contextlib
import os
import select
import shutil
import socket
import subprocess
import sys
import tempfile
import threading
import zlib
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any, Self, cast

QUIET_SECONDS = 0.02  # one signal is often followed by another
SECRET = "TOP-SECRET-CONTENT"
VICTIM = """
import ctypes, os, signal, sys
nothing = (ctypes.c_uint32 * 6)()  # as few capabilities as an attacker has, so that only walls are in the way
ctypes.CDLL(None).capset((ctypes.c_uint32 * 2)(0x20080522, 0), nothing)
def struck(number, frame):
    os.write(1, b"!")
for number in (signal.SIGIO, signal.SIGURG, signal.SIGUSR1, signal.SIGUSR2, signal.SIGTERM):
    signal.signal(number, struck)
os.write(1, b".")
sys.stdin.read()
"""


class _Pages(BaseHTTPRequestHandler):
    """A small web site that leads astray."""

    protocol_version = "HTTP/1.0"

    def log_message(self, *_: object) -> None:
        """Say nothing."""

    def do_GET(self) -> None:
        host, port = cast("tuple[str, int]", self.server.server_address)
        round_and_round = self.path.removeprefix("/round/")
        match self.path.split("/")[1]:
            case "plain":
                self._answer(b"a plain page")
            case "headers":
                self._answer(str(self.headers).encode())
            case "large":
                self._answer(bytes(3 << 20))
            case "compressed":
                packer = zlib.compressobj(9, wbits=31)
                self._answer(packer.compress(bytes(50 << 20)) + packer.flush(), ("content-encoding", "gzip"))
            case "elsewhere":
                self._redirect(f"http://localhost:{port}/plain")
            case "metadata":
                self._redirect("http://169.254.169.254/latest/")
            case "file":
                self._redirect("file:///etc/passwd")
            case "round" if int(round_and_round) < 8:
                self._redirect(f"http://{host}:{port}/round/{int(round_and_round) + 1}")
            case "round":
                self._answer(b"the end")
            case _:
                self.send_error(404)

    def _answer(self, body: bytes, *headers: tuple[str, str]) -> None:
        self.send_response(200)
        for name, value in (("content-length", str(len(body))), *headers):
            self.send_header(name, value)
        self.end_headers()
        with contextlib.suppress(OSError):  # who asked has read enough
            self.wfile.write(body)

    def _redirect(self, url: str) -> None:
        self.send_response(302)
        self.send_header("location", url)
        self.send_header("content-length", "0")
        self.end_headers()


class World:
    """A folder with a secret, servers on every kind of socket, and a victim that notices signals."""

    def __init__(self) -> None:
        self._closing = contextlib.ExitStack()
        os.environ["REDTEAM_KEY"] = "sk-redteam"
        self.folder = Path(tempfile.mkdtemp(prefix="redteam-"))
        self._closing.callback(shutil.rmtree, self.folder, ignore_errors=True)
        self.folder.chmod(0o755)
        self._servers = [self._listen(socket.AF_INET, ("127.0.0.1", 0))]
        self.unix = str(self.folder / "socket")
        self.abstract = f"\0redteam-{os.getpid()}"
        self._servers += [
            self._listen(socket.AF_UNIX, self.unix),
            self._listen(socket.AF_UNIX, self.abstract),
        ]
        self._datagrams = self._closing.enter_context(socket.socket(socket.AF_INET, socket.SOCK_DGRAM))
        self._datagrams.bind(("127.0.0.1", 0))
        self._datagrams.setblocking(False)
        self.page, self.other_page = self._serve(), self._serve()
        self._victim = subprocess.Popen(
            [sys.executable, "-I", "-c", VICTIM], stdin=subprocess.PIPE, stdout=subprocess.PIPE, bufsize=0
        )
        self._closing.callback(self._end_victim)
        self._struck(5.0)
        self.reset()

    def described(self) -> dict[str, object]:
        """What an attack is told: as much as it could find out."""
        return {
            "folder": str(self.folder),
            "secret": str(self.folder / "secret"),
            "link": str(self.folder / "link"),
            "program": str(self.folder / "program"),
            "content": SECRET,
            "port": self._servers[0].getsockname()[1],
            "udp": self._datagrams.getsockname()[1],
            "unix": self.unix,
            "abstract": self.abstract,
            "victim": self._victim.pid,
            "host": os.getpid(),
            "page": self.page,
            "other_page": self.other_page,
        }

    def reset(self, *, patience: float = 0.0) -> None:
        """Put everything back as it was; ``patience`` is for a signal that is still on its way."""
        for entry in self.folder.iterdir():
            if entry.is_dir() and not entry.is_symlink():
                shutil.rmtree(entry)
            elif entry.name != "socket":
                entry.unlink()
        (self.folder / "secret").write_text(SECRET)
        (self.folder / "secret").chmod(0o600)
        os.utime(self.folder / "secret", (1_000_000_000, 1_000_000_000))
        (self.folder / "link").symlink_to("secret")
        (self.folder / "program").write_text(f"#!/bin/sh\necho > {self.folder}/ran\n")
        (self.folder / "program").chmod(0o755)
        self._before = self._look()
        self._struck(patience)
        self._visited()

    def harmed(self, *, patience: float = 0.0) -> str:
        """What an attack has done to it, in words; empty if nothing.

        A signal takes its time; ``patience`` is how long to wait for the victim to notice one.
        """
        if self._look() != self._before:
            return "files were changed"
        if self._visited():
            return "a server was reached"
        if self._struck(patience):
            return "a process was signalled"
        return ""

    def ask(self, request: str) -> bytes:
        """What the first web server answers to these very bytes."""
        host, _, port = self.page.removeprefix("http://").partition(":")
        with socket.create_connection((host, int(port)), 5) as line:
            line.sendall(request.encode())
            answer = bytearray()
            while data := line.recv(4096):
                answer += data
        return bytes(answer)

    @property
    def page_port(self) -> int:
        """The port of the first web server."""
        return int(self.page.rpartition(":")[2])

    def close(self) -> None:
        """End and remove everything."""
        self._closing.close()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def _look(self) -> dict[str, tuple[object, ...]]:
        seen: dict[str, tuple[object, ...]] = {}
        for entry in self.folder.iterdir():
            facts = entry.lstat()
            attributes = tuple(os.listxattr(entry, follow_symlinks=False))
            content = entry.read_bytes() if entry.is_file() and not entry.is_symlink() else b""
            seen[entry.name] = (
                facts.st_mode,
                facts.st_nlink,
                facts.st_uid,
                facts.st_mtime_ns,
                content,
                attributes,
            )
        return seen

    def _listen(self, family: int, address: Any) -> socket.socket:
        server = self._closing.enter_context(socket.socket(family))
        server.bind(address)
        server.listen()
        server.setblocking(False)
        return server

    def _serve(self) -> str:
        server = ThreadingHTTPServer(("127.0.0.1", 0), _Pages)
        thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.05}, daemon=True)
        thread.start()
        self._closing.callback(server.server_close)
        self._closing.callback(thread.join, 5)
        self._closing.callback(server.shutdown)
        return f"http://127.0.0.1:{server.server_port}"

    def _visited(self) -> bool:
        visited = False
        for server in self._servers:
            with contextlib.suppress(BlockingIOError):
                server.accept()[0].close()
                visited = True
        with contextlib.suppress(BlockingIOError):
            self._datagrams.recv(1)
            visited = True
        return visited

    def _struck(self, wait: float = 0.0) -> bool:
        """Whether the victim noticed a signal since the last time; at first, wait for it to be there."""
        assert self._victim.stdout is not None
        marks = b""
        while select.select([self._victim.stdout], [], [], QUIET_SECONDS if marks else wait)[0]:
            mark = os.read(self._victim.stdout.fileno(), 64)
            if not mark:
                return True  # it was killed
            marks += mark
        return bool(marks)

    def _end_victim(self) -> None:
        self._victim.kill()
        self._victim.wait(5)
        for pipe in (self._victim.stdin, self._victim.stdout):
            if pipe is not None:
                pipe.close()
