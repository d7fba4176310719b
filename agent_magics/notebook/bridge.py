"""Clicks that arrive while their cell is still running.

``%%agent`` holds its cell until the turn has ended: only so does Run All keep its order and find what the
turn bound. But a kernel that executes a cell reads no other message, and the click on Approve is a message.
What others do about it was tried on current kernels, and fails somewhere:

- Waiting for the click on a subshell (the default of Lab and Notebook 7) works on ipykernel 7.0 to 7.3, on
  another thread. On 7.4 a comm's messages go to the shell that used the comm last: the one that waits.
  nbclassic, VS Code and everything on ipykernel 6 have no subshells.
- Packages that poll put the main loop's handlers aside; on 7 these no longer hold the socket, and the wait
  never ends.
- Only 7.4 dispatches to a cell that awaits, and an awaiting cell can't stand under ``%%time``.
- A turn on a thread, with a cell that returns at once, lets the next cell run before its names exist.

So the cell waits, and a filter stands where the kernel receives shell messages (see `filter`, `channel`).
While a cell is listening, the filter keeps what that cell has to see: messages of its own comms, by whichever
shell they come; what a reloaded page asks on the main shell before it can show the panel again; and the two
commands by which an approval can be typed. Everything else goes on as if nobody stood there. The main thread
lets the kernel's own handlers have the kept messages, between ``busy`` and ``idle``, inside the running cell.

Nothing that fails in the filter can lose a message: it goes on to the kernel. So does what was kept and not
yet handled when the cell stops listening, be it by an interrupt.
"""

from __future__ import annotations

import threading
import time
from collections.abc import Callable, Generator
from contextlib import contextmanager
from typing import Any

from agent_magics.notebook.channel import Letter, Unbridgeable, shell_channel
from agent_magics.notebook.filter import Filter, Listener, Wakeable
from agent_magics.notebook.hearing import Hearing
from agent_magics.notebook.interrupts import HeldInterrupts

# What a handler may take long over, since it calls whoever owns the comm. The others write replies.
CALLBACKS = frozenset({"comm_msg", "comm_close", "comm_open"})


class Bridge:
    """Bring the messages that a waiting cell needs to the main thread.

    Parameters
    ----------
    shell
        The running ``IPython.core.interactiveshell.InteractiveShell``. Without a kernel, in a terminal, the
        bridge stays unavailable and `wait` is a plain wait.

    Examples
    --------
    ::

        bridge = Bridge(get_ipython())
        bridge.install()
        with bridge.listening({button.comm.comm_id}.__contains__):
            while not answered:
                bridge.wait(wake, timeout=1)
                wake.clear()
                bridge.pump()
    """

    def __init__(self, shell: Any) -> None:
        self._missing = "It has not been installed."
        self._kernel = getattr(shell, "kernel", None)
        self._filter: Filter | None = None
        self._hearing = Hearing(self._kernel)

    @property
    def available(self) -> bool:
        """Whether clicks can reach a cell that waits in this thread."""
        return not self.why

    @property
    def why(self) -> str:
        """Why the bridge is not available; empty if it is."""
        if self._missing or threading.current_thread() is threading.main_thread():
            return self._missing
        return "This cell runs on a subshell; only the main thread can handle the kernel's messages."

    @property
    def newcomer(self) -> bool:
        """Whether a page connected while a cell was listening, as a reloaded page does.

        Whoever draws the panel again for it sets this back to False.
        """
        return self._filter is not None and self._filter.newcomer

    @newcomer.setter
    def newcomer(self, value: bool) -> None:
        if self._filter is not None:
            self._filter.newcomer = value

    def install(self) -> bool:
        """Put the filter in its place, after trying it; return whether the bridge is available."""
        if self._filter is not None:
            return True
        try:
            channel = shell_channel(self._kernel)
            candidate = Filter(channel)
            channel.there(candidate.take_place)
        except Unbridgeable as reason:
            self._missing = str(reason)
        except Exception as reason:  # a kernel that we don't know may fail in any way; then we do without
            self._missing = f"This kernel is not as we know it: {type(reason).__name__}: {reason}"
        else:
            self._filter, self._missing = candidate, ""
            self._hearing.start()
        return self._filter is not None

    def uninstall(self) -> None:
        """Take the filter out again."""
        if self._filter is not None:
            self._hearing.stop()
            self._filter.channel.there(self._filter.leave_place)
            self._filter, self._missing = None, "It has been uninstalled."

    @contextmanager
    def listening(
        self, owns: Callable[[str], bool], commands: Callable[[str], str | None] | None = None
    ) -> Generator[None]:
        """Keep the messages of a waiting cell for as long as the block runs. Blocks may be nested.

        Parameters
        ----------
        owns
            Tells whether a comm id belongs to the cell. It is called for every comm message, in the kernel's
            shell-channel thread: it has to be quick, and may not wait for the main thread.
        commands
            Gets, on the main thread, the code of an execute request that is ``%agent /approve ID`` or
            ``%agent /reject ID`` and nothing else, and returns its reply in Markdown, perhaps empty. What
            nobody takes (None) is executed after the cell.
        """
        if self._filter is None or not self.available:
            yield
            return
        source, listener = self._filter, Listener(owns=owns, commands=commands)
        try:
            source.add(listener)
            yield
        finally:
            with HeldInterrupts():
                source.remove(listener)

    def wait(self, wake: Wakeable, timeout: float) -> bool:
        """Sleep until a message was kept, or `wake` is set, or `timeout` seconds are over.

        When a message is kept the bridge sets `wake`; to clear it is the caller's part, before looking at
        what it was woken for.

        Returns
        -------
        bool
            Whether there is anything to look at.
        """
        if self._filter is None or not self._filter.listeners or not self.available:
            return wake.wait(timeout)
        deadline = time.monotonic() + timeout
        before, self._filter.wake = self._filter.wake, wake
        try:
            while True:
                self._filter.channel.look()
                left = deadline - time.monotonic()
                if self._filter.letters or wake.is_set() or left <= 0:
                    return bool(self._filter.letters) or wake.is_set()
                wake.wait(min(left, self._filter.channel.tick))
        finally:
            self._filter.wake = before

    def pump(self) -> int:
        """Handle what was kept, here and now, on the main thread; return how many messages that were."""
        if self._filter is None or not self._filter.listeners or not self.available:
            return 0
        with HeldInterrupts() as interrupts:
            self._filter.channel.look()
            count = len(self._filter.letters)
            for _ in range(count):
                self._deliver(self._filter, self._filter.letters.popleft(), interrupts)
            if count:
                self._filter.channel.still_busy()
        return count

    def _deliver(self, source: Filter, letter: Letter, interrupts: HeldInterrupts) -> None:
        command = letter.kind == "execute_request"
        said = self._obeyed(source, letter) if command else ""
        if said is None:
            source.pass_on(letter)
            return
        with source.channel.answering(letter):
            if command:
                source.channel.acknowledge(letter, said)
            elif source.channel.lost(letter):
                pass  # the second of two clicks, whose button went with the first
            elif letter.kind in CALLBACKS:
                with interrupts.lifted():
                    source.channel.handle(letter)
            else:
                source.channel.handle(letter)

    def _obeyed(self, source: Filter, letter: Letter) -> str | None:
        """The reply of the first cell that takes the command."""
        code = letter.content["code"].strip()
        try:
            replies = (listener.commands(code) for listener in source.listeners if listener.commands)
            return next((reply for reply in replies if reply is not None), None)
        except Exception:
            source.channel.log.exception("A typed approval failed; it is executed after the cell.")
            return None
