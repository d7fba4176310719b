"""One call, from the fork to the last byte: runs in a child of the zygote that lives for this call alone.

The order of things is the security of it. Before confinement only our own code runs, on the host's own order.
Then the limits, Landlock and seccomp close for good, and only then are arguments unpickled and source
compiled. A step that fails ends the process; there is no way around a wall that could not be put up.
"""

from __future__ import annotations

import fcntl
import itertools
import json
import os
import posix
import socket
from collections.abc import Sequence
from typing import Any, NoReturn

from agent_magics.sandbox import limits, parcel
from agent_magics.sandbox.confine import Walls
from agent_magics.sandbox.order import COULD_NOT_CONFINE, COULD_NOT_REPLY, Confinement
from agent_magics.sandbox.tool import perform, rehearse

PLACES = PARCEL, REPLY, OUTPUT, ERRANDS = range(4)  # of a call's descriptors in its message
REPLY_FD, ERRANDS_FD = 3, 4  # where the child holds them
ABOVE = 100  # out of the way while descriptors are moved


def live(cradle: socket.socket, walls: Walls, *, zygote: int, landlock: bool) -> NoReturn:
    """Be born, wait for a call, do it and end; never returns to the zygote's loop.

    Parameters
    ----------
    cradle : socket
        Where the call's descriptors will come from; if it closes, there will be none.
    walls : Walls
        Prepared by the zygote.
    zygote : int
        Its process id.
    landlock : bool
        Whether to walk into Landlock at once; its calls will want it.
    """
    code = COULD_NOT_CONFINE
    try:
        baseline = _grow_up(cradle, walls, zygote)
        if landlock:
            walls.enter_landlock()
        message, descriptors, _, _ = socket.recv_fds(cradle, 16, len(PLACES))
        if not message:
            os._exit(0)
        limits.be_called(b"sandbox-call")
        order, parts = _settle_in(descriptors, walls, baseline, landlocked=landlock)
        code = COULD_NOT_REPLY
        _send(perform(order, parts, errands=ERRANDS_FD if order["errands"] else None))
        code = 0
    finally:
        os._exit(code)


def _grow_up(cradle: socket.socket, walls: Walls, zygote: int) -> int:
    """What can be done before there is a call; gives the address space that the process uses by itself."""
    limits.die_with_parent(zygote)
    limits.be_called(b"sandbox-idle")
    os.setsid()
    limits.drop_capabilities()
    kept = sorted([0, 1, 2, cradle.fileno(), *walls.keep_open()])
    for before, after in itertools.pairwise((*kept, os.sysconf("SC_OPEN_MAX"))):
        os.closerange(before + 1, after)
    baseline = limits.address_space()
    rehearse()
    return baseline


def _settle_in(
    descriptors: Sequence[int], walls: Walls, baseline: int, *, landlocked: bool
) -> tuple[dict[str, Any], list[memoryview]]:
    """Open the order and walk into the walls that it names."""
    parts = parcel.unseal(descriptors[PARCEL])
    order = json.loads(bytes(parts[0]))
    confinement = Confinement(**order["confinement"])
    if confinement.landlock != landlocked:
        raise RuntimeError("born for another level")
    _arrange(descriptors)
    if confinement.limits:
        limits.apply_limits(memory=baseline + order["memory"], cpu_seconds=order["cpu_seconds"])
    if confinement.seccomp:
        walls.enter_seccomp(files=confinement.files, clock=order["clock"])
        _stat_by_opening()
    return order, parts


def _arrange(descriptors: Sequence[int]) -> None:
    """Hold the output at 1 and 2, the reply at 3, the errands at 4, and nothing else."""
    moved = [fcntl.fcntl(descriptor, fcntl.F_DUPFD, ABOVE) for descriptor in descriptors[REPLY:]]
    reply, output, *errands = moved
    os.dup2(output, 1)
    os.dup2(output, 2)
    os.dup2(reply, REPLY_FD)
    for descriptor in errands:
        os.dup2(descriptor, ERRANDS_FD)
    os.closerange(REPLY_FD + 1 + len(errands), os.sysconf("SC_OPEN_MAX"))


def _stat_by_opening() -> None:
    """Let ``os.stat`` tell of what may be opened, now that asking by path is refused.

    The import system asks before it opens. A path that may not be read looks the same as one that is not
    there.
    """

    def stat(path: Any, *, dir_fd: int | None = None, follow_symlinks: bool = True) -> os.stat_result:
        if isinstance(path, int):
            return os.fstat(path)
        flags = os.O_RDONLY | os.O_CLOEXEC | os.O_NONBLOCK | os.O_NOCTTY
        descriptor = os.open(path, flags if follow_symlinks else flags | os.O_NOFOLLOW, dir_fd=dir_fd)
        try:
            return os.fstat(descriptor)
        finally:
            os.close(descriptor)

    def lstat(path: Any, *, dir_fd: int | None = None) -> os.stat_result:
        return stat(path, dir_fd=dir_fd, follow_symlinks=False)

    os.stat = posix.stat = stat
    os.lstat = posix.lstat = lstat


def _send(body: Sequence[bytes | memoryview]) -> None:
    size = sum(len(piece) for piece in body)
    for piece in (size.to_bytes(8, "big"), *body):
        left = memoryview(piece)
        while left:
            left = left[os.write(REPLY_FD, left) :]
