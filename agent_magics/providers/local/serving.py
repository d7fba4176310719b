"""Servers of local models: one child process for a file, shared by all who ask for it, gone with the last.

A server takes hundreds of megabytes, so the sessions of one process share it: :func:`borrow` starts it or
joins it, :func:`give_back` stops it when nobody is left. A server that died is replaced by the next borrower.
"""

from __future__ import annotations

import asyncio
import atexit
import json
import secrets
import subprocess
import sys
import tempfile
import threading
from concurrent.futures import Future
from dataclasses import dataclass, field
from importlib.util import find_spec
from pathlib import Path
from typing import IO

from agent_magics.errors import ConfigError
from agent_magics.masking import environment_without_secrets
from agent_magics.providers.failures import cut
from agent_magics.providers.keys import Key

READY_WITHIN = 120.0
"""Seconds that a model may take to load; a large one from a slow disk takes many."""

_SCRIPT = Path(__file__).with_name("server.py")


@dataclass(kw_only=True, eq=False)
class ModelServer:
    """A server and how it is reached. Its key is random, never on a command line or in an environment."""

    path: Path
    window: int
    process: subprocess.Popen[str]
    key: Key
    log: IO[str] = field(repr=False)
    url: Future[str] = field(default_factory=Future[str], repr=False)
    users: int = 0

    @property
    def alive(self) -> bool:
        return self.process.poll() is None

    async def where(self) -> str:
        """Its URL, as soon as it is ready.

        Raises
        ------
        ConfigError
            If it ended instead: the engine can't read the file.
        """
        # Shielded: one borrower who is interrupted does not take the answer from the others.
        return await asyncio.shield(asyncio.wrap_future(self.url))

    def stop(self) -> None:
        """End the process. It keeps nothing that a kill could harm."""
        self.process.kill()
        self.process.communicate()


_running: dict[tuple[Path, int], ModelServer] = {}


def borrow(path: Path, window: int) -> ModelServer:
    """The server for ``path``, started if there is none; wait for it with :meth:`ModelServer.where`.

    Raises
    ------
    ConfigError
        If the engine is not installed.
    """
    place = (path, window)
    server = _running.get(place)
    if server is None or not server.alive:
        server = _running[place] = _start(*place)
    server.users += 1
    return server


def give_back(server: ModelServer) -> None:
    """One user less; the last one stops the server."""
    server.users -= 1
    if server.users > 0:
        return
    if _running.get((server.path, server.window)) is server:
        del _running[server.path, server.window]
    server.stop()


def _start(path: Path, window: int) -> ModelServer:
    if find_spec("xllamacpp") is None:
        raise ConfigError(
            "The engine for local models is not installed.",
            "There is no package xllamacpp (llama.cpp's server).",
            "Run `agent-magics local install`.",
        )
    log = tempfile.TemporaryFile("w+", encoding="utf-8", errors="replace")  # noqa: SIM115 (closed by _listen)
    # -P: a `json.py` beside the notebook must not be taken for the standard library's.
    # The process is started here and not on a thread of a pool: Linux ends it with the thread that made it.
    process = subprocess.Popen(
        [sys.executable, "-P", str(_SCRIPT), str(path), str(window)],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=log,
        text=True,
        env=environment_without_secrets(),
    )
    key = Key(value=secrets.token_urlsafe(24), source="the server itself")
    assert process.stdin is not None
    process.stdin.write(key.value + "\n")
    process.stdin.flush()
    server = ModelServer(path=path, window=window, process=process, key=key, log=log)
    threading.Thread(target=_listen, args=(server,), name="agent-magics model", daemon=True).start()
    atexit.register(process.kill)
    return server


def _listen(server: ModelServer) -> None:
    """Wait until the server says where it is, or ends."""
    patience = threading.Timer(READY_WITHIN, server.process.kill)
    patience.daemon = True
    patience.start()
    assert server.process.stdout is not None
    line = server.process.stdout.readline()
    patience.cancel()
    if line:
        server.url.set_result(json.loads(line)["url"])
    else:
        server.log.seek(0)
        server.url.set_exception(_not_started(server.path, server.log.read()))
    server.log.close()


def _not_started(path: Path, log: str) -> ConfigError:
    lines = [line for line in log.splitlines() if line.strip()]
    telling = next((line for line in reversed(lines) if "error" in line.lower()), "\n".join(lines[-1:]))
    return ConfigError(
        f"The model server for {path.name!r} did not start.",
        cut(telling) or "It ended without a word.",
        "Check that the file is a .gguf that llama.cpp can read and that it fits into memory.",
    )
