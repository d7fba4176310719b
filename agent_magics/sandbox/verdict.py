"""From what was heard of a child to an outcome in words."""

from __future__ import annotations

import signal
from dataclasses import dataclass, field
from typing import Any, Literal

from agent_magics.sandbox.order import COULD_NOT_CONFINE
from agent_magics.sandbox.outcome import Fault, Kind
from agent_magics.sandbox.unwrap import unwrap

End = Literal["replied", "exited", "silent", "timeout", "output", "too_long", "cancelled", "lost"]

OUTPUT_KEPT = 64 << 10
OUTPUT_LIMIT = 1 << 20
PREFIX = 8  # bytes of the reply's length, before its body

# By number, since Windows has no names for them; they are the same on Linux and macOS.
SIGKILL, SIGXCPU, SIGXFSZ = 9, 24, 25


@dataclass(kw_only=True)
class Heard:
    """What came back of a child, before anybody believed it.

    Attributes
    ----------
    end : str
        Why listening stopped: the whole reply is there, the process ended, it closed its reply and stayed,
        the time was up, it printed too much, its reply was too long, the caller took the call back, or the
        zygote was lost.
    reply, output : bytearray
        The reply's body and what was printed, the latter cut at 64 KiB.
    exit : int, optional
        The exit status if the process ended by itself; negative for a signal.
    stuck : bool
        Whether the zygote did not even say which child it was, so that it could not be killed.
    """

    end: End = "lost"
    reply: bytearray = field(default_factory=bytearray)
    output: bytearray = field(default_factory=bytearray)
    exit: int | None = None
    stuck: bool = False
    _printed: int = 0

    def more_reply(self, data: bytes, largest: int) -> End | None:
        """Take in a piece of the reply, which tells its length first; the end, if that is one."""
        self.reply += data
        if len(self.reply) < PREFIX:
            return None
        length = int.from_bytes(self.reply[:PREFIX], "big")
        if length > largest:
            return "too_long"
        if len(self.reply) < PREFIX + length:
            return None
        del self.reply[PREFIX + length :], self.reply[:PREFIX]
        return "replied"

    def more_output(self, data: bytes) -> End | None:
        """Take in a piece of what was printed; the end, if that is too much."""
        self.output += data[: OUTPUT_KEPT - len(self.output)]
        self._printed += len(data)
        return "output" if self._printed > OUTPUT_LIMIT else None


@dataclass(frozen=True, kw_only=True)
class Promise:
    """What a call was given, in the words of its messages.

    Attributes
    ----------
    seconds : float
        The time limit.
    memory_mb : int
        Memory above the interpreter's own use, data included, in MB.
    """

    seconds: float
    memory_mb: int


def judge(heard: Heard, promise: Promise) -> tuple[Any, Fault | None]:
    """The value, or why there is none."""
    match heard.end:
        case "replied":
            return unwrap(heard.reply)
        case "exited":
            return None, _of_exit(heard.exit or 0, promise)
        case "timeout":
            return None, _too_slow(promise)
        case "output":
            return None, _fault(
                "output", "It printed more than 1 MB. Print less, and return the result instead."
            )
        case "too_long":
            return None, _fault(
                "refused_reply",
                f"The value is larger than the {promise.memory_mb} MB of the call. Return less of it.",
            )
        case "silent":
            return None, _fault(
                "no_reply", "It closed its way to answer and went on. Return a value instead."
            )
        case "cancelled":
            return None, _fault("cancelled", "The call was cancelled.")
        case "lost":
            return None, _fault(
                "unavailable", "The sandbox's process was lost; the next call starts a new one."
            )


def _of_exit(code: int, promise: Promise) -> Fault:
    match -code:
        case _ if code == -SIGXCPU:
            return _too_slow(promise)
        case _ if code == -SIGKILL:  # not ours: the kernel's, when memory runs out
            return _fault(
                "memory",
                f"The process was ended for lack of memory; it had {promise.memory_mb} MB. Use less.",
            )
        case _ if code == -SIGXFSZ:
            return _fault("output", "It wrote more to a file than is allowed.")
        case number if number > 0:
            name = signal.Signals(number).name if number in set(signal.Signals) else f"signal {number}"
            return _fault(
                "crashed",
                f"The Python process crashed ({name}). Deep recursion or broken native calls do this.",
            )
        case _ if code == COULD_NOT_CONFINE:
            return _fault("unavailable", "The process could not be confined, so the code was not run.")
        case _:
            return _fault(
                "no_reply", "The process ended without a value. Return one, and don't end the process."
            )


def _too_slow(promise: Promise) -> Fault:
    return _fault(
        "timeout",
        f"It was not done after {promise.seconds:g} s and was stopped. Look for an endless loop, or do less.",
    )


def _fault(kind: Kind, message: str) -> Fault:
    return Fault(kind=kind, message=message)
