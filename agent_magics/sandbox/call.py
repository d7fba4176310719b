"""One call, on the host's side: descriptors out, bytes in, and a deadline on every wait.

The child is not trusted to end, to answer, or to say anything that is short. This loop reads what comes,
counts it, and stops at the first of: a whole reply, the end of the process, the time limit, too much output,
a cancel. Then the child is killed, whatever it was doing; it has nothing left to do that matters.
"""

from __future__ import annotations

import contextlib
import fcntl
import os
import select
import signal
import socket
import time
from collections.abc import Sequence
from typing import Any

from agent_magics.sandbox import parcel
from agent_magics.sandbox.launch import Zygote
from agent_magics.sandbox.verdict import OUTPUT_KEPT, End, Heard

READ_SIZE = 1 << 20
GRACE = 0.3  # seconds of patience once nothing more can come of it
PATIENT_ROUNDS = 500
REST = 0.001
LAST_WORDS = 0.6  # seconds for the zygote to report a child's birth or death


class ZygoteGone(Exception):
    """The zygote took no call any more."""


class Call:
    """A call in progress. :meth:`listen` drives it; :meth:`cancel` may come from any thread.

    Parameters
    ----------
    zygote : Zygote
        Who forks the child.
    message : dict
        What the zygote is told; everything else is in the parcel.
    parts : sequence of memoryview
        The parcel.
    largest_reply : int
        Bytes of reply that are taken.
    errands : int, optional
        The child's end of the socket on which the host does errands.
    """

    def __init__(
        self,
        zygote: Zygote,
        message: dict[str, Any],
        parts: Sequence[memoryview],
        *,
        largest_reply: int,
        errands: int | None = None,
    ) -> None:
        self._largest = largest_reply
        self._heard = Heard()
        self._child: int | None = None  # a pidfd
        self._ends = contextlib.ExitStack()
        with self._ends, contextlib.ExitStack() as theirs:
            self._wake, self._waker = self._pipe(self._ends)
            self._reply, their_reply = self._pipe(theirs)
            self._output, their_output = self._pipe(theirs)
            self._status, their_status = socket.socketpair(socket.AF_UNIX, socket.SOCK_SEQPACKET)
            self._ends.callback(self._status.close)
            theirs.callback(their_status.close)
            order = parcel.seal(parts)
            theirs.callback(os.close, order)
            errand = () if errands is None else (errands,)
            try:
                zygote.send(message, [order, their_reply, their_output, *errand, their_status.fileno()])
            except OSError as error:
                raise ZygoteGone from error
            self._ends = self._ends.pop_all()
        self._handlers = {
            self._wake: self._hear_cancel,
            self._reply: self._hear_reply,
            self._output: self._hear_output,
            self._status.fileno(): self._hear_status,
        }
        self._poll = select.poll()
        for descriptor in self._handlers:
            self._poll.register(descriptor, select.POLLIN)

    def listen(self, seconds: float) -> Heard:
        """Wait for whichever end comes first, at most ``seconds``, and leave no child behind."""
        try:
            self._heard.end = self._first_end(time.monotonic() + seconds)
        finally:  # also when the notebook is interrupted
            self._end_child()
        self._drain_output()
        return self._heard

    def cancel(self) -> None:
        """End the call as soon as possible."""
        with contextlib.suppress(OSError):  # it is over already
            os.write(self._waker, b"x")

    def close(self) -> None:
        """Give back every descriptor."""
        self._ends.close()

    def _first_end(self, deadline: float) -> End:
        rounds = 0
        while True:
            rounds += 1
            if rounds > PATIENT_ROUNDS:  # whoever talks byte by byte does not keep this process busy
                time.sleep(REST)
            hopeless = self._heard.exit is not None or self._reply not in self._handlers
            patience = deadline - time.monotonic()
            ready = self._poll.poll(max(0.0, min(patience, GRACE) if hopeless else patience) * 1000)
            if not ready:
                return self._nothing_more(hopeless)
            for descriptor, _ in ready:
                if end := self._handlers[descriptor]():
                    return end
            if self._heard.exit is not None and not self._handlers.keys() & {self._reply, self._output}:
                return "exited"

    def _nothing_more(self, hopeless: bool) -> End:
        if self._heard.exit is not None:
            return "exited"
        if not hopeless:
            return "timeout"
        return "lost" if self._child_has_ended() else "silent"  # ended, and no zygote to say how

    def _child_has_ended(self) -> bool:
        ended = select.poll()
        if self._child is not None:
            ended.register(self._child, select.POLLIN)
        return bool(ended.poll(0))

    def _hear_cancel(self) -> End:
        return "cancelled"

    def _hear_reply(self) -> End | None:
        data = os.read(self._reply, READ_SIZE)
        if not data:
            return self._forget(self._reply)
        return self._heard.more_reply(data, self._largest)

    def _hear_output(self) -> End | None:
        data = os.read(self._output, READ_SIZE)
        if not data:
            return self._forget(self._output)
        return self._heard.more_output(data)

    def _hear_status(self) -> End | None:
        """First the child's pidfd, then its exit status, then nothing more."""
        try:
            message, descriptors, _, _ = socket.recv_fds(self._status, 64, 1)
        except OSError:
            message, descriptors = b"", []
        if descriptors:
            self._child = descriptors[0]
            self._ends.callback(os.close, self._child)
        elif message:
            self._heard.exit = int(message)
        else:
            self._forget(self._status.fileno())
            return "lost" if self._heard.exit is None else None
        return None

    def _forget(self, descriptor: int) -> None:
        self._poll.unregister(descriptor)
        del self._handlers[descriptor]

    def _end_child(self) -> None:
        """Kill the child, also one that is only being born, and wait until it is gone.

        One that has replied is not waited for: it was killed, and runs no further.
        """
        status = select.poll()
        status.register(self._status, select.POLLIN)
        deadline = time.monotonic() + LAST_WORDS
        killed = False
        while self._heard.exit is None and self._status.fileno() in self._handlers:
            if self._child is not None and not killed:
                with contextlib.suppress(ProcessLookupError):  # it ended by itself a moment ago
                    signal.pidfd_send_signal(self._child, signal.SIGKILL)
                killed = True
                if self._heard.end == "replied":
                    return
            if not status.poll(max(0.0, deadline - time.monotonic()) * 1000):
                self._heard.stuck = not killed
                return
            self._hear_status()

    def _drain_output(self) -> None:
        os.set_blocking(self._output, False)
        with contextlib.suppress(BlockingIOError):
            while self._output in self._handlers and len(self._heard.output) < OUTPUT_KEPT:
                self._hear_output()

    def _pipe(self, theirs: contextlib.ExitStack) -> tuple[int, int]:
        ours, other = os.pipe2(os.O_CLOEXEC)
        self._ends.callback(os.close, ours)
        theirs.callback(os.close, other)
        with contextlib.suppress(OSError):  # the user's share of big pipes may be used up
            fcntl.fcntl(ours, fcntl.F_SETPIPE_SZ, READ_SIZE)
        return ours, other
