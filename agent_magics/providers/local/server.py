"""The child process that serves a ``.gguf`` file: llama.cpp's own server, on loopback, until its parent ends.

Run by its path, not imported: it needs nothing of the package. It is told its key on standard input, so that
no list of processes and no environment shows it, and says one line on standard output when it is ready.

It never outlives its parent, however that ends. Standard input closes when the parent is gone; and on Linux
the kernel kills the child too, since a forked worker may hold the other end of the pipe open.
"""

from __future__ import annotations

import json
import os
import signal
import sys
from importlib import import_module
from pathlib import Path
from typing import Any


def main() -> None:
    model, window = sys.argv[1], int(sys.argv[2])
    _die_with_parent()
    key = sys.stdin.readline().strip()
    if not key:
        return  # the parent is gone already
    ready = os.fdopen(os.dup(1), "w")
    os.dup2(2, 1)  # whatever the engine prints is diagnosis, not an answer
    server = serve(model, window, key)
    ready.write(json.dumps({"url": server.listening_address}) + "\n")
    ready.close()
    sys.stdin.read()  # returns when the parent is gone or closed its end
    os._exit(0)  # the engine's threads may be in the middle of a reply that nobody reads


def serve(model: str, window: int, key: str) -> Any:
    engine: Any = import_module("xllamacpp")  # compiled, and without types
    parameters = engine.CommonParams()
    parameters.model.path = model
    parameters.model_alias = {Path(model).name}
    parameters.hostnames = ["127.0.0.1"]
    parameters.port = 0
    parameters.api_keys = [key]
    parameters.n_ctx = window
    parameters.n_parallel = 1
    for processors in (parameters.cpuparams, parameters.cpuparams_batch):
        processors.n_threads = threads()
    parameters.use_jinja = True
    parameters.warmup = False
    parameters.verbosity = 0
    parameters.ui = False
    return engine.Server(parameters)


def threads() -> int:
    """All processors but one, as far as this process may use them.

    Kernel and browser want one, too. The engine's threads wait for each other at every layer, so a single
    one that has to wait for a processor holds up all: on two busy processors one thread was twenty times as
    fast as two (SmolLM2, 2026-11).
    """
    free = len(os.sched_getaffinity(0)) if sys.platform == "linux" else os.cpu_count() or 1
    return max(1, min(free, _quota()) - 1)


def _quota() -> int:
    """Whole processors that a container grants; many where there is no such limit."""
    try:
        granted, period = map(int, Path("/sys/fs/cgroup/cpu.max").read_text().split())
    except (OSError, ValueError):  # another system, or "max"
        return 1 << 10
    return granted // period


def _die_with_parent() -> None:
    if sys.platform != "linux":
        return
    import ctypes

    set_parent_death_signal = 1
    ctypes.CDLL(None).prctl(set_parent_death_signal, signal.SIGKILL)


if __name__ == "__main__":
    main()
