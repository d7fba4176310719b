"""A real kernel of any version, driven as a front end would drive it.

Everything happens in the thread of the test: sockets are read while the test waits for something, so there
is nothing to lock and nothing left running. Every wait has a limit, and names what it waited for.
"""

from __future__ import annotations

import os
import signal
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Self

import zmq
from jupyter_client.blocking.client import BlockingKernelClient
from jupyter_client.kernelspec import KernelSpecManager
from jupyter_client.manager import KernelManager

ROOT = Path(__file__).resolve().parent.parent.parent
KERNELSPECS = ROOT / ".build" / "share" / "jupyter" / "kernels"
VERSIONS = ("6.31.0", "7.0.1", "7.1.0", "7.2.0", "7.3.0", "7.4.0")

LIMIT = 20.0  # seconds; generous, since two cores may be running two suites

Message = dict[str, Any]


@dataclass(frozen=True, eq=False)
class Request:
    """A message that was sent, and what came back for it."""

    kernel: LiveKernel
    id: str

    @property
    def reply(self) -> Message | None:
        """The content of the reply, once it is there."""
        return next((each["content"] for each in self.answers("shell")), None)

    @property
    def text(self) -> str:
        """What it printed so far."""
        return "".join(each["content"]["text"] for each in self.answers("iopub", "stream"))

    @property
    def states(self) -> list[str]:
        """The statuses that name it as their parent: busy, idle."""
        return [each["content"]["execution_state"] for each in self.answers("iopub", "status")]

    @property
    def done(self) -> bool:
        return self.reply is not None and self.states[-1:] == ["idle"]

    @property
    def handled(self) -> bool:
        """Whether it was worked on; what a comm is sent gets no reply."""
        return self.states == ["busy", "idle"]

    def result(self, limit: float = LIMIT) -> Message:
        """Wait until it is done and return the reply's content."""
        self.kernel.until(lambda: self.done, f"request {self.id} to be done", limit)
        assert self.reply is not None
        return self.reply

    def answers(self, channel: str, kind: str | None = None) -> Iterator[Message]:
        """Everything on a channel that names this request as its parent."""
        for name, message in self.kernel.heard:
            ours = name == channel and message["parent_header"].get("msg_id") == self.id
            if ours and kind in (None, message["header"]["msg_type"]):
                yield message


class LiveKernel:
    """A running kernel and its connected client; a context manager that ends the process.

    Parameters
    ----------
    version
        One of `VERSIONS`; ``make machine`` brings them.
    folder
        Where it runs, and where its log is kept.
    """

    def __init__(self, version: str, folder: Path, **env: str) -> None:
        self.version = version
        self.log = folder / f"kernel-{version}.log"
        self.heard: list[tuple[str, Message]] = []
        self._returned: list[Message] = []
        try:
            self._start(folder, env)
        except RuntimeError:  # its ports are chosen before it takes them, and somebody else was faster
            self._start(folder, env)
        self._sockets = {
            self._client.iopub_channel.socket: "iopub",
            self._client.shell_channel.socket: "shell",
            self._client.stdin_channel.socket: "stdin",
            self._client.control_channel.socket: "control",
        }

    def _start(self, folder: Path, env: dict[str, str]) -> None:
        specs = KernelSpecManager(kernel_dirs=[str(KERNELSPECS)], ensure_native_kernel=False)
        self._manager = KernelManager(kernel_name=f"ipykernel-{self.version}", kernel_spec_manager=specs)
        with self.log.open("ab") as log:
            self._manager.start_kernel(
                cwd=str(folder), env={**os.environ, **env}, stdout=log, stderr=log, independent=False
            )
        self.pid: int = self._manager.provisioner.pid  # type: ignore[union-attr]
        self._client: BlockingKernelClient = self._manager.client()
        self._client.start_channels()
        try:
            self._client.wait_for_ready(timeout=60)
        except RuntimeError:
            self.close()
            raise

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    @property
    def alive(self) -> bool:
        return bool(self._manager.is_alive())

    def at_rest(self) -> bool:
        """Whether it lives and answers, so that another test can use it."""
        try:
            return self.alive and self.run("", limit=5).done
        except AssertionError:
            return False

    # What a person does.

    def execute(self, code: str, *, allow_stdin: bool = False, **content: Any) -> Request:
        """Run a cell; return at once."""
        return Request(self, self._client.execute(code, allow_stdin=allow_stdin, **content))

    def run(self, code: str, limit: float = LIMIT, **content: Any) -> Request:
        """Run a cell to its end."""
        request = self.execute(code, **content)
        request.result(limit)
        return request

    def click(self, comm_id: str, subshell: str | None = None) -> Request:
        """Click a widget's button, as ipywidgets' front end does."""
        return self.comm(comm_id, {"method": "custom", "content": {"event": "click"}}, subshell)

    def type_into(self, comm_id: str, text: str, subshell: str | None = None) -> Request:
        """Change the text of a widget."""
        update = {"method": "update", "state": {"value": text}, "buffer_paths": []}
        return self.comm(comm_id, update, subshell)

    def comm(self, comm_id: str, data: Message, subshell: str | None = None) -> Request:
        return self.send("comm_msg", {"comm_id": comm_id, "data": data}, subshell)

    def answer(self, text: str) -> str:
        """Wait for the kernel to ask by `input()`, and answer; return what it asked."""
        asked = self.next("stdin", "input_request")
        self._client.input(text)
        return asked["content"]["prompt"]

    def interrupt(self) -> None:
        self._manager.interrupt_kernel()

    def kill(self) -> None:
        """Kill the kernel as the out-of-memory killer would."""
        os.kill(self.pid, signal.SIGKILL)
        self.until(lambda: not self.alive, "the kernel to be gone")

    def restart(self) -> None:
        """Restart the kernel, as a person does who is at a loss."""
        with self.log.open("ab") as log:
            self._manager.restart_kernel(now=True, stdout=log, stderr=log)
        self.pid = self._manager.provisioner.pid  # type: ignore[union-attr]
        self._client.wait_for_ready(timeout=60)

    # What a front end does.

    def send(
        self,
        kind: str,
        content: Message | None = None,
        subshell: str | None = None,
        metadata: Message | None = None,
    ) -> Request:
        """Send any message on the shell channel."""
        message = self._client.session.msg(kind, content or {}, metadata=metadata)
        if subshell is not None:
            message["header"]["subshell_id"] = subshell
        self._client.shell_channel.send(message)
        return Request(self, message["header"]["msg_id"])

    def new_subshell(self) -> str:
        """Have the kernel make a subshell (ipykernel 7) and return its id."""
        self._client.control_channel.send(self._client.session.msg("create_subshell_request"))
        return self.next("control", "create_subshell_reply")["content"]["subshell_id"]

    def widget(self, model: str, since: Request) -> str:
        """Wait until a cell displayed a widget of this model, such as ``ButtonModel``; return its comm id."""

        def displayed() -> list[str]:
            opened = [message["content"] for message in since.answers("iopub", "comm_open")]
            shown = "".join(str(message["content"]) for message in since.answers("iopub", "display_data"))
            ids = [each["comm_id"] for each in opened if each["data"]["state"].get("_model_name") == model]
            return [comm_id for comm_id in ids if comm_id in shown]

        self.until(lambda: bool(displayed()), f"a {model}")
        return displayed()[0]

    # Waiting.

    def until(self, true: Callable[[], bool], what: str, limit: float = LIMIT) -> None:
        """Listen to the kernel until something is true."""
        end = time.monotonic() + limit
        while not true():
            left = end - time.monotonic()
            assert left > 0, f"ipykernel {self.version}: waited {limit:g} s for {what}.\n{self.recent()}"
            self._listen(min(left, 0.5))

    def next(self, channel: str, kind: str, limit: float = LIMIT) -> Message:
        """Wait for a message of a kind that was not returned before, and return it."""

        def found() -> Message | None:
            for name, message in self.heard:
                if (name, message["header"]["msg_type"]) == (channel, kind) and message not in self._returned:
                    return message
            return None

        self.until(lambda: found() is not None, kind, limit)
        message = found()
        assert message is not None
        self._returned.append(message)
        return message

    def recent(self) -> str:
        """The last messages, and the end of the kernel's log: for whoever reads a failure."""
        lines = [
            f"{name}: {each['header']['msg_type']} {each['content']}"[:200] for name, each in self.heard[-15:]
        ]
        return "\n".join([*lines, self.log.read_text()[-2000:]])

    def close(self) -> None:
        self._client.stop_channels()
        self._manager.shutdown_kernel(now=True)
        assert not self.alive

    def _listen(self, seconds: float) -> None:
        """Read what has come, waiting at most this long for the first message."""
        ready, _, _ = zmq.select(list(self._sockets), [], [], seconds)
        for socket in ready:
            while socket.poll(0):
                _, parts = self._client.session.feed_identities(socket.recv_multipart())
                self.heard.append((self._sockets[socket], self._client.session.deserialize(parts)))
