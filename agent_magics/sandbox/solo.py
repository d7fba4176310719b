"""One call in a fresh process that has nobody but itself: the other end of :mod:`.portable`.

Reads a parcel from its input, answers on its output, and prints on its error stream.
"""

from __future__ import annotations

import json
import os
import sys
from typing import Any

from agent_magics.sandbox import families, parcel
from agent_magics.sandbox.tool import perform


def main(family: str) -> None:
    """Load the family's libraries, do the one call, and end."""
    families.load(family)
    parts = parcel.opened(memoryview(bytearray(sys.stdin.buffer.read())))
    order = json.loads(bytes(parts[0]))
    answer = os.dup(1)
    os.dup2(2, 1)  # what the tool prints is not its reply
    _limit(order)
    body = perform(order, parts)
    with os.fdopen(answer, "wb") as reply:
        reply.write(sum(len(piece) for piece in body).to_bytes(8, "big"))
        for piece in body:
            reply.write(piece)
    os._exit(0)


def _limit(order: dict[str, Any]) -> None:
    """What a POSIX system lets a process do to itself; Windows has nothing of it."""
    try:
        import resource
    except ImportError:
        return
    seconds = order["cpu_seconds"]
    for kind, value in (
        (resource.RLIMIT_CPU, seconds),
        (resource.RLIMIT_FSIZE, 16 << 20),
        (resource.RLIMIT_NOFILE, 64),
        (resource.RLIMIT_CORE, 0),
    ):
        ceiling = resource.getrlimit(kind)[1]
        resource.setrlimit(
            kind, (value if ceiling == resource.RLIM_INFINITY else min(value, ceiling), ceiling)
        )
