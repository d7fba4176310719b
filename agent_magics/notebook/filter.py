"""The filter that stands where the kernel receives shell messages.

It decides, message by message, whether a waiting cell has to see it, and keeps those for the main thread.
On ipykernel 7 it runs in the shell-channel thread, on 6 in the main thread, so whatever it shares with the
main thread is changed under its lock, which nobody holds for longer than an append.
"""

from __future__ import annotations

import re
import threading
from collections import deque
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, Protocol

from agent_magics.notebook.channel import Frames, Letter, Receiver, ShellChannel, Unbridgeable

COMMAND = re.compile(r"\s*%agent\s+/(?:approve|reject)(?:\s+\S+)?\s*")
KINDS = frozenset(
    {"comm_msg", "comm_close", "comm_open", "comm_info_request", "kernel_info_request", "execute_request"}
)
TO_COMMS = frozenset({"comm_msg", "comm_close"})
REMEMBERED = 3  # cells whose controls are known after they have ended
SAMPLE = "agent_magics-sample"


class Wakeable(Protocol):
    """What a waiting cell sleeps on; ``threading.Event`` is one."""

    def is_set(self) -> bool: ...
    def set(self) -> None: ...
    def wait(self, timeout: float | None = None) -> bool: ...


@dataclass(frozen=True, kw_only=True, eq=False)
class Listener:
    """What one waiting cell wants to see."""

    owns: Callable[[str], bool]
    commands: Callable[[str], str | None] | None = None


class Filter:
    """Keep the letters of waiting cells; let everything else pass as it came.

    Parameters
    ----------
    channel
        The shell channel whose receiver's place the filter takes.
    """

    def __init__(self, channel: ShellChannel) -> None:
        self.channel = channel
        self.letters: deque[Letter] = deque()
        self.listeners: tuple[Listener, ...] = ()
        self.newcomer = False
        self.wake: Wakeable | None = None
        self._ended: deque[Listener] = deque(maxlen=REMEMBERED)
        self._receiver: Receiver = channel.receiver
        self._opened: set[str] = set()
        self._lock = threading.Lock()

    def __call__(self, frames: Frames) -> Any:
        """Receive a message; what our predecessor returns (on 7 a coroutine) is the stream's to run."""
        if self.listeners and self._kept(frames):
            return None
        if self._ended and self._late(frames):
            return None
        return self._receiver(frames)

    def take_place(self) -> None:
        """Become the channel's receiver, if a message of our own shows that this kernel is as we know it."""
        self._try()
        self.channel.receiver = self

    def leave_place(self) -> None:
        """Give the place back. If somebody has put another receiver before us, stay and let all pass."""
        if self.channel.receiver is self:
            self.channel.receiver = self._receiver

    def add(self, listener: Listener) -> None:
        with self._lock:
            self.listeners += (listener,)

    def remove(self, listener: Listener) -> None:
        """Stop keeping letters for a listener. What nobody looked at goes on to the kernel."""
        with self._lock:
            self._ended.append(listener)
            self.listeners = tuple(each for each in self.listeners if each is not listener)
            if self.listeners:
                return
            left_over = list(self.letters)
            self.letters.clear()
            self._opened.clear()
        for letter in left_over:
            if not self.channel.lost(letter):
                self.pass_on(letter)

    def pass_on(self, letter: Letter) -> None:
        """Let the kernel have a letter after all, behind the messages that it has already."""
        self.channel.later(self._receiver, letter.frames)

    def _try(self) -> None:
        frames = self.channel.sample("comm_msg", {"comm_id": SAMPLE, "data": {}})
        self.channel.open(frames, KINDS)  # raises where `_kept` would only let the message pass
        listener = Listener(owns=SAMPLE.__eq__)
        self.listeners = (listener,)
        kept = self._kept(frames)
        self.listeners = ()
        self.letters.clear()
        if not kept:
            raise Unbridgeable("A message of our own was not recognised.")

    def _kept(self, frames: Frames) -> bool:
        try:
            letter = self.channel.open(frames, KINDS)
            return letter is not None and self._wanted(letter) and self._keep(letter)
        except Exception:
            self.channel.log.exception("A message could not be looked at; the kernel gets it as it came.")
            return False

    def _late(self, frames: Frames) -> bool:
        """Whether it is for a control of a cell that has ended: the second of two clicks, as a rule."""
        try:
            letter = self.channel.open(frames, TO_COMMS)
            return (
                letter is not None
                and any(listener.owns(letter.to_comm) for listener in self._ended)
                and self.channel.lost(letter)
            )
        except Exception:
            self.channel.log.exception("A message could not be looked at; the kernel gets it as it came.")
            return False

    def _wanted(self, letter: Letter) -> bool:
        match letter.kind:
            case "comm_msg" | "comm_close":
                return self._owned(letter.content["comm_id"])
            case "execute_request":
                return self._is_command(letter.content["code"])
            case "comm_info_request" | "comm_open":
                self.newcomer = True
                return letter.subshell is None
            case _:
                return letter.subshell is None

    def _owned(self, comm_id: str) -> bool:
        return comm_id in self._opened or any(listener.owns(comm_id) for listener in self.listeners)

    def _is_command(self, code: str) -> bool:
        return any(listener.commands for listener in self.listeners) and bool(COMMAND.fullmatch(code))

    def _keep(self, letter: Letter) -> bool:
        with self._lock:
            if not self.listeners:
                return False  # the cell stopped listening in this very moment
            if letter.kind == "comm_open":
                # A page asks for the state of its widgets over a comm that it opens for that.
                self._opened.add(letter.content["comm_id"])
            self.letters.append(letter)
            if self.wake is not None:
                self.wake.set()
            return True
