"""The kernel's shell channel, in both of its generations.

Everything that we use of ipykernel's inside is in this file, so that a new release is met here and nowhere
else. Who owns the shell socket decides how a message can be seen while a cell holds the main thread:

- ipykernel 7: a thread of its own, which hands each message on to the main thread or to a subshell. It sees
  messages as they come.
- ipykernel 6, and a 7 without that thread: the main thread's loop. The waiting cell has to look, every 10 ms.

In both, ``shell_stream.on_recv``, public in pyzmq, names the one function that gets every message. A filter
that takes its place keeps a message, or calls the function that stood there before; whatever it doesn't keep
goes on untouched and in order. Measured on ipykernel 6.31.0, 7.0.1, 7.1.0, 7.2.0, 7.3.0 and 7.4.0.
"""

from __future__ import annotations

import inspect
import logging
from collections.abc import Callable, Coroutine, Generator, Sequence
from concurrent.futures import Future
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any, TypeVar

from agent_magics.notebook.interrupts import HeldInterrupts

T = TypeVar("T")
Frames = Sequence[Any]
Receiver = Callable[[Any], Any]

REPLY_LIMIT = 2.0  # seconds for the channel's thread to do what takes it microseconds
READ_AT_ONCE = 100  # messages in one look, so that a flood can't hold the cell


class Unbridgeable(Exception):
    """The kernel is not built as we know it; the text says in what."""


@dataclass(frozen=True, kw_only=True)
class Letter:
    """A message as it came, opened far enough to know what it wants."""

    frames: Frames
    senders: list[bytes]
    message: dict[str, Any]

    @property
    def kind(self) -> str:
        return self.message["header"]["msg_type"]

    @property
    def subshell(self) -> str | None:
        return self.message["header"].get("subshell_id")

    @property
    def content(self) -> dict[str, Any]:
        return self.message["content"]

    @property
    def to_comm(self) -> str:
        """The comm that it is for, if it is for one that should be there."""
        return self.content["comm_id"] if self.kind in ("comm_msg", "comm_close") else ""


class ShellChannel:
    """The shell channel of ipykernel 6: its socket belongs to the main thread.

    Parameters
    ----------
    kernel
        The running ``ipykernel.kernelbase.Kernel``, of any version.

    Raises
    ------
    Unbridgeable
        A piece that we stand on is missing.
    """

    tick: float = 0.01
    """Seconds that a waiting cell may sleep before it looks again: 1 % of a processor, 5 ms for a click."""

    def __init__(self, kernel: Any) -> None:
        for name in ("shell_stream", "session", "shell_handlers", "_publish_status"):
            if getattr(kernel, name, None) is None:
                raise Unbridgeable(f"The kernel has no {name!r}.")
        if getattr(kernel.shell_stream, "_recv_callback", None) is None:
            raise Unbridgeable("Nothing receives the kernel's shell messages.")
        self._kernel = kernel
        self._stream = kernel.shell_stream

    @property
    def receiver(self) -> Receiver:
        """The function that gets every message; to be set where the socket lives (see `there`)."""
        return self._stream._recv_callback

    @receiver.setter
    def receiver(self, function: Receiver) -> None:
        self._stream.on_recv(function, copy=False)

    @property
    def log(self) -> logging.Logger:
        """The kernel's own log: what goes wrong here must not print into the cell."""
        return self._kernel.log

    @property
    def loop(self) -> Any:
        """The tornado loop of the thread that owns the socket."""
        return self._kernel.io_loop

    @property
    def reply_socket(self) -> Any:
        """Where a handler on the main thread writes its reply."""
        return self._stream

    def there(self, act: Callable[[], T]) -> T:
        """Do something in the thread that owns the socket, and wait for it."""
        return act()

    def later(self, receiver: Receiver, frames: Frames) -> None:
        """Let `receiver` have a message, behind those that it was given already."""
        self.loop.add_callback(receiver, frames)

    def look(self) -> None:
        """Read what has arrived, since nobody else does while the cell runs."""
        import zmq

        with HeldInterrupts():
            self._stream.flush(zmq.POLLIN, READ_AT_ONCE)

    def send_replies(self) -> None:
        """Send what handlers have written; the stream would wait for the loop, and so for the cell."""
        import zmq

        self._stream.flush(zmq.POLLOUT)

    def open(self, frames: Frames, kinds: frozenset[str]) -> Letter | None:
        """Open a message if it is of one of these kinds; its frames stay as they are.

        ``content=False`` matters: a full reading would remember the signature, and the kernel's own reading
        would then refuse the message as a duplicate.
        """
        session = self._kernel.session
        senders, rest = session.feed_identities(frames, copy=False)
        message = session.deserialize(rest, content=False, copy=False)
        if message["header"]["msg_type"] not in kinds:
            return None
        message["content"] = session.unpack(message["content"])
        return Letter(frames=frames, senders=senders, message=message)

    @contextmanager
    def answering(self, letter: Letter) -> Generator[None]:
        """Tell the front end that its message is being worked on, and when that ends.

        The kernel's parent message stays the running cell, so that what a callback prints lands in the cell.
        """
        self._status("busy", letter.message)
        try:
            yield
        except Exception:
            self.log.exception("A message failed while a cell was waiting.")
        finally:
            self._status("idle", letter.message)
            self.send_replies()

    def still_busy(self) -> None:
        """Say that the cell runs on: a front end shows the last status that it heard."""
        self._status("busy", None)

    def handle(self, letter: Letter) -> None:
        """Let the kernel's own handler have a message, now and on this thread."""
        handler = self._kernel.shell_handlers[letter.kind]
        outcome = handler(self.reply_socket, letter.senders, letter.message)
        if inspect.iscoroutine(outcome):
            finish(outcome)

    def lost(self, letter: Letter) -> bool:
        """Whether it is for a comm that is gone; the kernel would complain of that in the running cell."""
        comms = getattr(getattr(self._kernel, "comm_manager", None), "comms", None)
        return comms is not None and bool(letter.to_comm) and letter.to_comm not in comms

    def acknowledge(self, letter: Letter, said: str) -> None:
        """Answer an execute request that was carried out without executing anything."""
        kernel, parent = self._kernel, letter.message
        if said:
            from agent_magics.ui.report import report

            shown: dict[str, Any] = {"data": report(said), "metadata": {}, "transient": {}}
            kernel.session.send(
                kernel.iopub_socket, "display_data", shown, parent=parent, ident=b"display_data"
            )
        content: dict[str, Any] = {
            "status": "ok",
            "execution_count": kernel.execution_count,
            "user_expressions": {},
            "payload": [],
        }
        metadata = kernel.finish_metadata(parent, kernel.init_metadata(parent), content)
        kernel.session.send(
            self.reply_socket,
            "execute_reply",
            content,
            parent=parent,
            ident=letter.senders,
            metadata=metadata,
        )

    def sample(self, kind: str, content: dict[str, Any]) -> Frames:
        """Return a message as the socket would deliver it, to try a filter on."""
        import zmq

        session = self._kernel.session
        parts: list[bytes] = session.serialize(session.msg(kind, content), ident=[b"sample"])
        return [zmq.Frame(part) for part in parts]

    def _status(self, state: str, parent: dict[str, Any] | None) -> None:
        self._kernel._publish_status(state, "shell", parent=parent)


class ThreadedShellChannel(ShellChannel):
    """The shell channel of ipykernel 7: its socket belongs to a thread of its own."""

    tick = 0.25  # the filter wakes the cell; this bounds how late it notices what the filter can't tell

    def __init__(self, kernel: Any) -> None:
        super().__init__(kernel)
        self._thread = kernel.shell_channel_thread
        self._reply_socket = self._thread.manager.get_subshell_to_shell_channel_socket(None)

    @property
    def loop(self) -> Any:
        return self._thread.io_loop

    @property
    def reply_socket(self) -> Any:
        return self._reply_socket

    def there(self, act: Callable[[], T]) -> T:
        done: Future[T] = Future()

        def run() -> None:
            try:
                done.set_result(act())
            except Exception as error:
                done.set_exception(error)

        self.loop.add_callback(run)
        return done.result(REPLY_LIMIT)

    def look(self) -> None:
        """Do nothing: the channel's own thread reads (see `hearing` where it would miss something)."""

    def send_replies(self) -> None:
        """Do nothing: the channel's own thread sends."""


def shell_channel(kernel: Any) -> ShellChannel:
    """Return the channel of this kernel, whichever its generation."""
    if kernel is None:
        raise Unbridgeable("No kernel: in a terminal nobody clicks.")
    if getattr(kernel, "shell_channel_thread", None) is None:
        return ShellChannel(kernel)
    return ThreadedShellChannel(kernel)


def finish(coroutine: Coroutine[Any, Any, object]) -> None:
    """Run a coroutine that never really waits; ipykernel's handlers of small requests are like that."""
    try:
        coroutine.send(None)
    except StopIteration:
        return
    coroutine.close()
    raise Unbridgeable("A handler of the kernel waits for something; it can't be run inside a cell.")
