"""A remedy for kernels that go deaf: ipykernel 7.0 to 7.3.

They send replies behind the back of the stream that receives. A message that comes in that moment is never
announced by the socket's descriptor, nor is any after it, until somebody looks (ipython/ipykernel#1554):
after Run All, the cells below a finished one wait for ever. So the channel's own thread looks four times a
second. Other kernels need no help, and get none.
"""

from __future__ import annotations

from typing import Any

INTERVAL = 250  # milliseconds for which such a kernel may stay deaf
READ_AT_ONCE = 100


class Hearing:
    """Let the shell channel's thread of a kernel look for messages, where it would miss some.

    Parameters
    ----------
    kernel
        The running ``ipykernel.kernelbase.Kernel`` of any version, or None in a terminal.

    Examples
    --------
    ::

        hearing = Hearing(get_ipython().kernel)
        hearing.start()
        hearing.stop()
    """

    def __init__(self, kernel: Any) -> None:
        thread = getattr(kernel, "shell_channel_thread", None)
        manager = getattr(thread, "manager", None)
        self.needed = manager is not None and not hasattr(manager, "_shell_stream")
        if self.needed:
            from tornado.ioloop import PeriodicCallback

            self._loop = thread.io_loop  # pyright: ignore[reportOptionalMemberAccess]
            self._stream = kernel.shell_stream
            self._looking = PeriodicCallback(self._look, INTERVAL)

    def start(self) -> None:
        """Begin to look."""
        if self.needed:
            self._loop.add_callback(self._looking.start)

    def stop(self) -> None:
        """Look no more."""
        if self.needed:
            self._loop.add_callback(self._looking.stop)

    def _look(self) -> None:
        import zmq

        self._stream.flush(zmq.POLLIN, READ_AT_ONCE)
