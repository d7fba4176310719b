"""The zygote: a clean process with its libraries loaded, from which every call is forked.

Started with a scrubbed environment and no user data, which never enters it: a call's parcel is opened by the
child. It has one thread, so that forking is safe. It ends when its host does, which it watches by pidfd and
not by PR_SET_PDEATHSIG, since that would fire when the *thread* that started it ends.

A call arrives as one message on the control socket: a few words of JSON, and the call's descriptors. Nothing
is answered there, so calls never wait for each other. The call's own status socket receives first the child's
pid with a pidfd, then its exit status. A host that closes it has let go of the call, which then ends.
"""

from __future__ import annotations

import contextlib
import gc
import json
import math
import os
import random
import select
import signal
import socket
import sys
import time
import traceback
from dataclasses import dataclass
from pathlib import Path
from typing import Any, NoReturn

from agent_magics.sandbox import families, limits, warm, worker
from agent_magics.sandbox.confine import Walls, landlock_abi, seccomp_works, survives_without
from agent_magics.sandbox.roots import read_roots
from agent_magics.sandbox.vdso import close_vdso

MOST_DESCRIPTORS = 8
REQUEST_SIZE = 4096
GENERATIONS = 100  # of processes that an unconfined call may leave behind
BACKSTOP = 2.0  # seconds after which a call is ended here, if its host is stopped or has lost it


def main(control: int, host: int, options: dict[str, Any]) -> NoReturn:
    """Load, warm up, say what there is, and serve until the host is gone."""
    line = socket.socket(fileno=control)
    try:
        report, walls = _grow(options)
    except BaseException:  # whatever went wrong, the host must hear of it
        line.send(json.dumps({"failed": traceback.format_exc(limit=-3)[-1500:]}).encode())
        os._exit(1)
    line.send(json.dumps(report).encode())
    _Nursery(line, host, walls).serve()


def fstat_is_its_own_call() -> bool:
    """Whether this C library's ``fstat`` does without ``newfstatat``; glibc's does from 2.39 on."""
    return survives_without("newfstatat", lambda: os.fstat(0))


def _grow(options: dict[str, Any]) -> tuple[dict[str, Any], Walls]:
    began = time.perf_counter()
    sys.path.extend(options["packages"])
    missing = families.load(options["family"])
    cold = warm.up(hoard=options["hoard"])
    random.seed(0)  # no child inherits chance
    if "numpy" in sys.modules:
        sys.modules["numpy"].random.seed(0)
    sys.stdout.reconfigure(line_buffering=True, errors="backslashreplace")  # type: ignore[union-attr]
    path_stat = not (seccomp_works() and fstat_is_its_own_call())
    walls = Walls(read_roots(options["packages"]), abi=options["abi"], path_stat=path_stat)
    walls.prepare(files=not options["hoard"], clock=False)
    report = {
        "landlock": min(landlock_abi(), options["abi"]),
        "seccomp": seccomp_works(),
        "clock_closed": close_vdso(),
        "path_stat": path_stat,
        "missing": missing,
        "cold": cold,
        "threads": len(list(Path("/proc/self/task").iterdir())),
    }
    limits.be_called(b"sandbox-zygote")
    limits.volunteer_for_oom()
    limits.adopt_orphans()
    limits.hide_from_siblings()
    sys.path.remove(options["root"])
    sys.argv[:], sys.orig_argv[:] = [""], []  # where things are installed is nobody's business
    nowhere = os.open(os.devnull, os.O_WRONLY)
    os.dup2(nowhere, 2)
    os.close(nowhere)
    gc.collect()
    gc.freeze()
    return {**report, "milliseconds": round((time.perf_counter() - began) * 1000)}, walls


@dataclass(kw_only=True)
class _Child:
    """A process that waits for its call, or does it.

    Attributes
    ----------
    pid, pidfd : int
        Which process.
    cradle : socket
        Where it waits for the call's descriptors.
    status : socket, optional
        Where its end is reported, once it has a call.
    alone : bool
        Whether it can make no other processes.
    deadline : float
        When it is ended at the latest, on the monotonic clock.
    """

    pid: int
    pidfd: int
    cradle: socket.socket
    status: socket.socket | None = None
    alone: bool = True
    deadline: float = math.inf


class _Nursery:
    """Hands each message to a child, and reports each child's end.

    One child is always born ahead and waits: forking, and touching for the first time what every call
    touches, is half of what a short call costs.
    """

    def __init__(self, line: socket.socket, host: int, walls: Walls) -> None:
        self._line, self._host, self._walls = line, host, walls
        self._pid = os.getpid()
        self._landlock = walls.have_landlock
        self._children: dict[int, _Child] = {}  # by pidfd
        self._called: dict[int, _Child] = {}  # by the descriptor of their status
        self._poll = select.poll()
        for descriptor in (line.fileno(), host):
            self._poll.register(descriptor, select.POLLIN)
        self._waiting = self._bear()

    def serve(self) -> NoReturn:
        while True:
            ready = [descriptor for descriptor, _ in self._poll.poll(self._end_overdue())]
            if self._host in ready:
                os._exit(0)
            for status in self._called.keys() & ready:  # first, while these numbers mean what they did
                self._let_go(status)
            for pidfd in self._children.keys() & ready:
                self._bury(pidfd)
            if self._line.fileno() in ready:
                self._accept()

    def _accept(self) -> None:
        message, descriptors, _, _ = socket.recv_fds(self._line, REQUEST_SIZE, MOST_DESCRIPTORS)
        if not message:
            os._exit(0)
        *call, status = descriptors
        with socket.socket(fileno=status) as line:
            request = json.loads(message)
            self._want(request)
            self._hand_over(call, line, request)
        for descriptor in call:
            os.close(descriptor)
        self._waiting = self._waiting or self._bear()

    def _end_overdue(self) -> float | None:
        """End calls that the host should have ended; the milliseconds until the next one may be due."""
        now = time.monotonic()
        for child in self._children.values():
            if child.deadline <= now:
                child.deadline = math.inf
                signal.pidfd_send_signal(child.pidfd, signal.SIGKILL)
        next_one = min((child.deadline for child in self._children.values()), default=math.inf)
        return None if next_one == math.inf else max(0.0, next_one - now) * 1000 + 1

    def _want(self, request: dict[str, Any]) -> None:
        """See to it that whoever waits has the walls that this call wants: most often the last one's."""
        new = request["seccomp"] and self._walls.prepare(files=request["files"], clock=request["clock"])
        if new or request["landlock"] != self._landlock:
            self._landlock = request["landlock"]
            self._dismiss()

    def _hand_over(self, call: list[int], status: socket.socket, request: dict[str, Any]) -> None:
        child, self._waiting = self._waiting or self._bear(), None
        if child is None:  # no process to be had; the closed socket says so
            return
        child.status, child.alone = status.dup(), request["seccomp"]
        self._called[child.status.fileno()] = child
        self._poll.register(child.status, 0)  # nothing but the end of it
        child.deadline = time.monotonic() + request["seconds"] + BACKSTOP
        with contextlib.suppress(OSError):  # the host gave up already, and closed its end
            socket.send_fds(status, [str(child.pid).encode()], [child.pidfd], socket.MSG_DONTWAIT)
        with contextlib.suppress(OSError), child.cradle:  # it died waiting, which is reported as its end
            socket.send_fds(child.cradle, [b"call"], call, socket.MSG_NOSIGNAL)

    def _bear(self) -> _Child | None:
        cradle, theirs = socket.socketpair(socket.AF_UNIX, socket.SOCK_SEQPACKET)
        with theirs:
            try:
                pid = os.fork()
            except OSError:
                cradle.close()
                return None
            if pid == 0:
                worker.live(theirs, self._walls, zygote=self._pid, landlock=self._landlock)
        child = _Child(pid=pid, pidfd=os.pidfd_open(pid), cradle=cradle)
        self._children[child.pidfd] = child
        self._poll.register(child.pidfd, select.POLLIN)
        return child

    def _dismiss(self) -> None:
        if self._waiting is not None:
            self._waiting.cradle.close()
            self._waiting = None

    def _let_go(self, status: int) -> None:
        """End a call that nobody listens to: its host was interrupted before it could."""
        self._poll.unregister(status)
        signal.pidfd_send_signal(self._called.pop(status).pidfd, signal.SIGKILL)

    def _bury(self, pidfd: int) -> None:
        self._poll.unregister(pidfd)
        child = self._children.pop(pidfd)
        if child is self._waiting:
            self._waiting = None
        if child.status is not None and self._called.pop(child.status.fileno(), None):
            self._poll.unregister(child.status)
        if not child.alone:
            with contextlib.suppress(ProcessLookupError, PermissionError):
                os.killpg(child.pid, signal.SIGKILL)  # what it left in its session
        _, code = os.waitpid(child.pid, 0)
        os.close(pidfd)
        child.cradle.close()
        if child.status is not None:
            with child.status, contextlib.suppress(OSError):
                child.status.send(str(os.waitstatus_to_exitcode(code)).encode(), socket.MSG_DONTWAIT)
        if not child.alone:
            self._end_orphans()

    def _end_orphans(self) -> None:
        """End what an unconfined child left, which comes to us when its parent dies.

        Who is ended may have children in turn, which come to us only then: so look until nobody is left.
        """
        for _ in range(GENERATIONS):
            orphans = [pid for pid in self._offspring() if pid not in self._known()]
            for orphan in orphans:
                os.kill(orphan, signal.SIGKILL)
            for orphan in orphans:
                os.waitpid(orphan, 0)
            if not orphans:
                return

    def _known(self) -> set[int]:
        return {child.pid for child in self._children.values()}

    def _offspring(self) -> list[int]:
        tasks = Path("/proc/self/task").iterdir()
        return [int(pid) for task in tasks for pid in (task / "children").read_text().split()]
