"""llama.cpp's server as it talks: it logs each task that it begins, and each that is cancelled.

``python talkative.py MODEL PORT KEY``; it runs until it is ended.
"""

from __future__ import annotations

import signal
import sys
from importlib import import_module
from typing import Any


def main() -> None:
    model, port, key = sys.argv[1:]
    engine: Any = import_module("xllamacpp")
    parameters = engine.CommonParams()
    parameters.model.path = model
    parameters.hostnames = ["127.0.0.1"]
    parameters.port = int(port)
    parameters.api_keys = [key]
    parameters.n_ctx = 4096
    parameters.n_parallel = 1
    parameters.use_jinja = True
    parameters.sampling.ignore_eos = True  # random weights may end a reply with its second word
    parameters.warmup = False
    parameters.verbosity = 4
    parameters.ui = False
    server = engine.Server(parameters)  # noqa: F841 (it serves as long as it is held)
    signal.pause()


if __name__ == "__main__":
    main()
