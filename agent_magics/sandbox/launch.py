"""The host's handle on one zygote: started once, sent calls, let go."""

from __future__ import annotations

import contextlib
import json
import os
import site
import socket
import subprocess
import sys
import tempfile
import threading
import weakref
from dataclasses import dataclass
from pathlib import Path
from typing import Any, cast

from agent_magics.sandbox.outcome import SandboxError

ROOT = str(Path(__file__).resolve().parents[2])
START_SECONDS = 60.0  # a cold disk and scipy; a call's own limit begins once the zygote is there
SEND_SECONDS = 1.0
NEWEST_ABI = 99
ENVIRONMENT = {
    "PATH": "/usr/bin:/bin",
    "LANG": "C.UTF-8",
    # One thread each: a process with threads can't be forked safely, and a confined child can't start any.
    "OPENBLAS_NUM_THREADS": "1",
    "OMP_NUM_THREADS": "1",
    "MKL_NUM_THREADS": "1",
    "NUMEXPR_NUM_THREADS": "1",
    "ARROW_NUM_THREADS": "1",
    "ARROW_IO_THREADS": "1",
    # Allocators that reserve address space ahead would use up a child's limit.
    "ARROW_DEFAULT_MEMORY_POOL": "system",
    "JE_ARROW_MALLOC_CONF": "background_thread:false",
    "MALLOC_ARENA_MAX": "1",
}
# What modules register to repair after a fork (locks, the state of random numbers) repairs threads that a
# zygote does not have, and costs each child more than the fork itself; so they are given nowhere to register.
BOOT = (
    "import json,os,sys;os.register_at_fork=lambda **_:None;"
    "control,host,options=json.loads(sys.argv[1]);sys.path.append(options['root']);"
    "from agent_magics.sandbox.zygote import main;main(control,host,options)"
)


@dataclass(frozen=True, kw_only=True)
class Report:
    """What a zygote said of itself when it was ready.

    Attributes
    ----------
    landlock : int
        The Landlock ABI in use; 0 without.
    seccomp : bool
        Whether filters can be installed.
    clock_closed : bool
        Whether the clock can be kept from native code too (:mod:`.vdso`).
    path_stat : bool
        Whether native code can still ask for a path's metadata (:mod:`.syscalls`).
    missing : list of str
        Libraries of the family that are not installed.
    cold : list of str
        Warm-ups that failed, with their errors; calls still work, only slower.
    threads : int
        Threads of the zygote; more than one would make forking unsafe.
    milliseconds : int
        How long it took to grow.
    """

    landlock: int
    seccomp: bool
    clock_closed: bool
    path_stat: bool
    missing: list[str]
    cold: list[str]
    threads: int
    milliseconds: int


class Zygote:
    """A running zygote.

    Parameters
    ----------
    family : str
        Which libraries it loads, a name of :data:`.families.BY_NAME`.
    abi : int
        The highest Landlock ABI to use.
    hoard : bool
        Whether to load ahead what is otherwise read from files, because no child will open any.

    Raises
    ------
    SandboxError
        If it does not start.
    """

    def __init__(self, family: str, *, abi: int = NEWEST_ABI, hoard: bool = False) -> None:
        self.family = family
        self._sending = threading.Lock()
        try:
            host = os.pidfd_open(os.getpid())
        except OSError as error:  # a kernel before 5.3, or a container's filter
            raise SandboxError(
                "No zygote can be started here.", f"The kernel gives no pidfd: {error}."
            ) from error
        self._control, theirs = socket.socketpair(socket.AF_UNIX, socket.SOCK_SEQPACKET)
        options = {
            "family": family,
            "abi": abi,
            "hoard": hoard,
            "root": ROOT,
            "packages": _user_packages(),
        }
        with contextlib.ExitStack() as closing:
            closing.callback(theirs.close)
            closing.callback(os.close, host)
            said = closing.enter_context(tempfile.TemporaryFile())
            try:
                self._process = _spawn(theirs.fileno(), host, options, said.fileno())
            except (OSError, RuntimeError) as error:  # out of processes, or this one is ending
                self._control.close()
                raise SandboxError("No zygote can be started here.", f"{error}.") from error
            self._end = weakref.finalize(self, _end, self._control, self._process, os.getpid())
            theirs.close()
            self.report = self._await_report(said)

    def send(self, message: dict[str, Any], descriptors: list[int]) -> None:
        """Hand over one call.

        Raises
        ------
        OSError
            If the zygote is gone, or takes nothing.
        """
        with self._sending:
            socket.send_fds(self._control, [json.dumps(message).encode()], descriptors, socket.MSG_NOSIGNAL)

    @property
    def alive(self) -> bool:
        """Whether it still runs."""
        return self._process.poll() is None

    def close(self) -> None:
        """End it, and with it every call that still runs. Also done when nobody refers to it any more."""
        self._end()

    def _await_report(self, said: Any) -> Report:
        self._control.settimeout(START_SECONDS)
        try:
            answer = self._control.recv(65536)
            self._control.settimeout(SEND_SECONDS)
        except TimeoutError:
            answer = b""
        except OSError as error:  # closed while it was starting, as at the end of the process
            raise SandboxError("The sandbox is closed.", "It was closed while it started.") from error
        report = cast("dict[str, Any]", json.loads(answer)) if answer else {}
        if "landlock" in report:
            return Report(**report)
        self.close()
        said.seek(0)
        why = report.get("failed") or said.read()[-1500:].decode(errors="replace")
        raise SandboxError(
            "The sandbox's process did not start.",
            str(why).strip() or "It said nothing.",
            "Check that this Python can start itself with `python -I`.",
        )


def _spawn(control: int, host: int, options: dict[str, Any], said: int) -> subprocess.Popen[bytes]:
    return subprocess.Popen(
        [sys.executable, "-I", "-B", "-X", "utf8", "-c", BOOT, json.dumps([control, host, options])],
        pass_fds=(control, host),
        env=ENVIRONMENT,
        cwd="/",
        stdin=subprocess.DEVNULL,
        stdout=subprocess.DEVNULL,
        stderr=said,
        start_new_session=True,  # an interrupt of the notebook is not for it
    )


def _end(control: socket.socket, process: subprocess.Popen[bytes], owner: int) -> None:
    if os.getpid() == owner:  # a forked copy of this process leaves its parent's zygote alone
        with contextlib.suppress(OSError):
            control.shutdown(socket.SHUT_RDWR)  # wakes whoever waits for the report
        with contextlib.suppress(ProcessLookupError):
            process.kill()
    control.close()
    if os.getpid() == owner:
        with contextlib.suppress(subprocess.TimeoutExpired):  # killed, and held up in the kernel
            process.wait(5)


def _user_packages() -> list[str]:
    """The user's own site-packages, if this process imports from there; ``python -I`` leaves it out."""
    folder = site.getusersitepackages()
    return [folder] if site.ENABLE_USER_SITE and folder in sys.path else []
