"""Landlock and seccomp through their two small packages; nothing else in the project imports these.

Both packages are young and pinned exactly. What they promise is not taken on trust: :mod:`.detect` tries the
result on this machine, and the red-team suite tries it row by row.
"""

from __future__ import annotations

import ctypes
import errno
import os
import stat
from collections.abc import Callable, Iterable
from pathlib import Path

import landlockpy
import landlockpy._syscall as landlock_calls
import seccompy
import seccompy._syscall as seccomp_calls
from landlockpy import AccessFS, Ruleset, Scope, fs_for_abi, net_for_abi, scope_for_abi
from landlockpy.flags import LATEST_ABI
from seccompy import Action, ArgCmp, CmpOp, Filter, syscall_nr

from agent_magics.sandbox.limits import libc
from agent_magics.sandbox.syscalls import Rule, Test, rules

# Left alone, both packages look the C library up by running gcc and ldconfig: slow, and impossible once
# confined. There is no public way to hand it over, which is one reason why their versions are pinned.
libc.syscall.restype = ctypes.c_long
landlock_calls._libc = libc  # pyright: ignore[reportPrivateUsage]
seccomp_calls._libc = libc  # pyright: ignore[reportPrivateUsage]


def landlock_abi() -> int:
    """The Landlock ABI of this kernel; 0 if there is none, or a container's filter hides it."""
    try:
        return landlockpy.abi_version()
    except landlockpy.LandlockError:
        return 0


def seccomp_works() -> bool:
    """Whether filters can be installed on this kernel and architecture."""
    try:
        return seccompy.supported()
    except seccompy.SeccompError:  # a machine for which the package has no table, or a container's filter
        return False


def read_only(roots: Iterable[Path], *, abi: int = LATEST_ABI) -> Ruleset:
    """A Landlock ruleset under which only ``roots`` can be read, and nothing else touched.

    Everything that the ABI can refuse is refused: every write, execution, device ioctls, TCP, abstract
    sockets, and signals to processes outside, sent by the kernel on our behalf included.

    Parameters
    ----------
    roots : iterable of Path
        Folders (with all below) and single files. What does not exist is left out.
    abi : int
        Use no more than this ABI knows, as an older kernel would.
    """
    ruleset = Ruleset(
        handled_fs=fs_for_abi(abi),
        handled_net=net_for_abi(abi),
        scoped=(Scope.ABSTRACT_UNIX_SOCKET | Scope.SIGNAL) & scope_for_abi(abi),
    )
    for root in roots:
        try:
            is_folder = stat.S_ISDIR(root.stat().st_mode)
        except OSError:
            continue
        folder = AccessFS.READ_FILE | AccessFS.READ_DIR
        ruleset.allow_path(root, folder if is_folder else AccessFS.READ_FILE)
    return ruleset


def _known(call: str) -> bool:
    """Whether this architecture has the call at all; ``open``, for one, is not on aarch64."""
    try:
        syscall_nr(call)
    except ValueError:
        return False
    return True


def _condition(test: Test) -> ArgCmp:
    return ArgCmp(test.argument, CmpOp.MASKED_EQ, test.value, test.mask)


def allow_listed(table: Iterable[Rule]) -> Filter:
    """A compiled seccomp filter from a table of rules; calls that it does not name fail with ``EPERM``."""
    sieve = Filter(default=int(Action.ERRNO) | errno.EPERM)
    for rule in table:
        if not _known(rule.call):
            continue
        conditions = [_condition(test) for test in rule.tests]
        if rule.error:
            sieve.errno(rule.call, rule.error, args=conditions)
        else:
            sieve.allow(rule.call, args=conditions)
    assert sieve.program  # compiled here, once, and not in every child
    return sieve


class Walls:
    """The walls of this machine, prepared once in the zygote; each child walks in by itself.

    Every child enters a Landlock domain of its own, so that it can signal neither the zygote nor another
    child.

    Parameters
    ----------
    roots : iterable of Path
        What may be read.
    abi : int
        The highest Landlock ABI to use.
    path_stat : bool
        Whether the C library needs ``newfstatat`` for ``fstat``.
    """

    def __init__(self, roots: Iterable[Path], *, abi: int = LATEST_ABI, path_stat: bool = True) -> None:
        self._path_stat = path_stat
        self._ruleset = read_only(roots, abi=abi) if landlock_abi() and abi else None
        self._filters: dict[tuple[bool, bool], Filter] = {}
        self._seccomp = seccomp_works()

    def prepare(self, *, files: bool, clock: bool) -> bool:
        """Compile the filter that such a child will load; whether that was new."""
        if not self._seccomp or (files, clock) in self._filters:
            return False
        table = rules(files=files, clock=clock, path_stat=self._path_stat)
        self._filters[files, clock] = allow_listed(table)
        return True

    @property
    def have_landlock(self) -> bool:
        """Whether there is Landlock to walk into."""
        return self._ruleset is not None

    def keep_open(self) -> list[int]:
        """The descriptor that must stay open until Landlock is entered, if there is one."""
        return [self._ruleset.fileno()] if self._ruleset else []

    def enter_landlock(self) -> None:
        """Confine this process's files, TCP and signals for good."""
        if self._ruleset is None:
            raise landlockpy.UnsupportedError("no Landlock on this kernel")
        self._ruleset.restrict()
        self._ruleset.close()

    def enter_seccomp(self, *, files: bool, clock: bool) -> None:
        """Confine this process's system calls for good."""
        if not self._seccomp:
            raise seccompy.UnsupportedError("no seccomp filters on this machine")
        self._filters[files, clock].load()


def survives_without(call: str, attempt: Callable[[], object]) -> bool:
    """Whether ``attempt`` works in a forked child for which ``call`` does not exist."""
    sieve = Filter(default=Action.ALLOW)
    sieve.errno(call, errno.ENOSYS)
    child = os.fork()
    if child == 0:
        try:
            sieve.load()
            attempt()
        except BaseException:  # the exit code is all that the child has to say
            os._exit(1)
        os._exit(0)
    return os.waitpid(child, 0)[1] == 0
