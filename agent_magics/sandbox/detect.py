"""How well this machine confines, found by trying: never by a version number.

Code that should be stopped is run twice. First without walls, where it must succeed: the positive control,
for a canary that can't even sing outside proves nothing. Then within the walls of a level, where every canary
that sang must be silent, while plain code still returns its value.
"""

from __future__ import annotations

import socket
import tempfile
from collections.abc import Mapping
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

from agent_magics.sandbox.order import CONFINEMENTS, Confinement, Level, Order
from agent_magics.sandbox.parcel import pack

if TYPE_CHECKING:
    from agent_magics.sandbox.launch import Zygote

NO_WALLS = Confinement(landlock=False, seccomp=False, limits=False)
SECONDS = 5.0
ESSENTIAL = frozenset({"read", "write", "process"})  # if these can't be shown to matter, nothing is shown

CANARIES = """
import os, socket, struct

def read(world):
    return open(world["secret"]).read() == "canary"

def write(world):
    with open(world["folder"] + "/written", "w") as file:
        return file.write("x") == 1

def listing(world):
    return "secret" in os.listdir(world["folder"])

def metadata(world):
    import posix
    return posix.lstat(world["secret"]).st_size == 6

def process(world):
    child = os.fork()
    if child == 0:
        os._exit(0)
    return os.waitpid(child, 0)[1] == 0

def signal(world):
    os.kill(os.getppid(), 0)
    return os.getppid() > 1

def connect(world):
    with socket.create_connection(("127.0.0.1", world["port"]), 2) as line:
        return line.fileno() >= 0

def datagram(world):
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as line:
        return line.sendto(b"x", ("127.0.0.1", world["port"])) == 1

def memory_file(world):
    return os.memfd_create("x") >= 0

def try_all(world):
    sang = []
    for canary in (read, write, listing, metadata, process, signal, connect, datagram, memory_file):
        try:
            if canary(world):
                sang.append(canary.__name__)
        except BaseException:
            pass
    return {"alive": 41 + 1, "sang": sang}
"""


@dataclass(frozen=True, kw_only=True)
class Isolation:
    """What confines a call on this machine.

    Attributes
    ----------
    level : {"A", "B", "C", "D"}
        A: Landlock and seccomp. B: seccomp, no file is ever opened. C: Landlock alone; the network and
        processes are open. D: a process of its own with limits; nothing else holds.
    why : str
        What was found, in a sentence.
    landlock_abi : int
        The Landlock ABI in use; 0 without.
    clock_is_closed : bool
        Whether native code, too, is kept from reading an ungranted clock.
    silenced : tuple of str
        The canaries that sang without walls and were silent within them.
    zygotes : bool
        Whether calls are forked from a zygote; otherwise each starts an interpreter of its own.
    """

    level: Level
    why: str
    landlock_abi: int = 0
    clock_is_closed: bool = False
    silenced: tuple[str, ...] = ()
    zygotes: bool = True

    @property
    def enough(self) -> bool:
        """Whether code that nobody vouches for may run here without an opt-in."""
        return self.level in ("A", "B")


WHY: Mapping[Level, str] = {
    "A": "Landlock and seccomp hold: no file outside the libraries, no network, no process, no signal.",
    "B": "seccomp holds and Landlock is missing, so no file is opened at all once the code runs.",
    "C": "Landlock holds files, but seccomp is missing: processes and sockets are not confined.",
    "D": "Neither Landlock nor seccomp holds here: there is a process of its own, limits, and nothing else.",
}


def probe(zygote: Zygote) -> Isolation:
    """Find the level of this machine with a zygote that is running on it."""
    with (
        tempfile.TemporaryDirectory(prefix="agent-magics-") as folder,
        socket.create_server(("127.0.0.1", 0)) as server,
    ):
        secret = Path(folder, "secret")
        secret.write_text("canary")
        world = {"secret": str(secret), "folder": folder, "port": server.getsockname()[1]}
        outside = _sang(zygote, NO_WALLS, world)
        if outside is None or ESSENTIAL - outside:
            why = "Not even unconfined code could do what confinement would stop, so nothing can be shown."
            return Isolation(level="D", why=why)
        inside: dict[Level, frozenset[str] | None] = {}
        for level in ("A", "B", "C"):
            inside[level] = _sang(zygote, CONFINEMENTS[level], world)
    return _conclude(zygote, outside, inside)


def _conclude(
    zygote: Zygote, outside: frozenset[str], inside: dict[Level, frozenset[str] | None]
) -> Isolation:
    found = Isolation(level="D", why=WHY["D"], landlock_abi=zygote.report.landlock)
    for level in ("A", "B"):
        sang = inside[level]
        if sang is not None and not sang & outside:
            return replace(
                found,
                level=level,
                why=WHY[level],
                clock_is_closed=zygote.report.clock_closed,
                silenced=tuple(sorted(outside)),
            )
    sang = inside["C"]
    if sang is not None and not sang & {"read", "write", "listing"}:
        return replace(found, level="C", why=WHY["C"], silenced=tuple(sorted(outside - sang)))
    return found


def _sang(zygote: Zygote, confinement: Confinement, world: Mapping[str, Any]) -> frozenset[str] | None:
    """Which canaries sang behind these walls; ``None`` if even plain code got nowhere."""
    from agent_magics.sandbox.run import run

    arguments = {"world": dict(world)}
    order = Order(
        source=CANARIES,
        function="try_all",
        seconds=SECONDS,
        confinement=confinement,
    )
    outcome = run(zygote, order, pack(arguments))
    match outcome.value:
        case {"alive": 42, "sang": [*names]}:
            return frozenset(names)
        case _:
            return None
