"""What a row of the table is."""

from __future__ import annotations

import enum
import textwrap
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any


class Layer(enum.StrEnum):
    """What may stop an attack."""

    TREE = "tree check"  # before anything runs
    LANDLOCK = "Landlock"
    SECCOMP = "seccomp"  # as level B has it: no file is opened
    LIMITS = "limits"
    WORKER = "worker"  # what the child sets up for itself: clock, chance, a namespace of its own
    ZYGOTE = "zygote"  # there is nothing to find
    BROKER = "broker"
    HOST = "host"  # deadlines, bounds, refusal of replies


class Family(enum.StrEnum):
    """The classes of attacks."""

    OBJECTS = "object walks"
    NAMES = "names as data"
    FRAMES = "frames"
    SYNTAX = "syntax"
    MODULES = "modules"
    DATA = "data libraries"
    FILES = "files"
    METADATA = "metadata"
    NETWORK = "network"
    PROCESSES = "processes"
    SIGNALS = "signals"
    MEMORY = "memory and code"
    SENSES = "clock and chance"
    LIFE = "life cycle"
    PERSON = "notebook and person"
    EXHAUSTION = "exhaustion"


@dataclass(frozen=True, kw_only=True)
class Row:
    """One attack.

    Attributes
    ----------
    name : str
        What it tries, in a few words; unique.
    family : Family
        Its class.
    attack : str
        A module's source with a function ``attack(world)`` that returns something true when it got what it
        wanted. Evidence that only the outside can see is taken by the world itself.
    twin : str
        A module's source with a function ``twin(world)`` that is honest, near to the attack, and returns
        something true.
    stops : frozenset of Layer
        The layers of which each stops it alone. Empty for what is open, knowingly; then ``open`` says why.
    ends : str, optional
        The kind of fault that it ends with, all layers together, where a particular one was promised.
    seconds, memory_mb : number
        The limits of its calls; with the walls down it gets all the time it needs, and ten times the memory.
    grants : tuple of str
        Capabilities that the attack has.
    control : tuple of str
        Capabilities that it is granted, besides, to show that it works: for layers that only a grant lifts.
    landlock_since : int
        The Landlock ABI from which that layer knows how.
    canary : callable, optional
        Proof that the attack would work, where running it with the walls down can't show it: a function of
        the :class:`.world.World` that returns something true.
    needs : str, optional
        What the canary needs of the machine, in words, if not every setting has it; where it fails, the row
        is reported as not shown.
    open : str
        Why an attack stays possible.
    """

    name: str
    family: Family
    attack: str
    twin: str
    stops: frozenset[Layer]
    ends: str | None = None
    seconds: float = 5.0
    memory_mb: int = 64
    grants: tuple[str, ...] = ()
    control: tuple[str, ...] = ()
    landlock_since: int = 1
    canary: Callable[[Any], Any] | None = field(default=None, compare=False)
    needs: str | None = None
    open: str = ""


PRELUDE = """\
import ctypes, os, platform, socket, sys, time

libc = ctypes.CDLL(None, use_errno=True)
libc.syscall.restype = ctypes.c_long
ARM = platform.machine() == "aarch64"


def raw(x86, arm, *arguments):
    \"\"\"One system call by its number on each machine; raises what the kernel says.\"\"\"
    result = libc.syscall(ctypes.c_long(arm if ARM else x86), *arguments)
    if result < 0:
        raise OSError(ctypes.get_errno(), os.strerror(ctypes.get_errno()))
    return result


def text(value):
    return ctypes.c_char_p(value.encode())

"""


def attack(body: str) -> str:
    """A module whose ``attack(world)`` has this body, with system calls at hand."""
    return PRELUDE + _function("attack", body)


def twin(body: str) -> str:
    """A module whose ``twin(world)`` has this body."""
    return _function("twin", body)


def _function(name: str, body: str) -> str:
    return f"def {name}(world):\n{textwrap.indent(textwrap.dedent(body).strip(), '    ')}\n"
