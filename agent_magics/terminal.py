"""A turn at the terminal: shown as it goes, waited for, and asked about.

The turn runs on the agent's thread. The main thread waits here, and it alone reads and writes: events and
questions come to it through one queue, in their order. So an interrupt finds it where it can be taken, and
no two threads write into each other's lines.
"""

from __future__ import annotations

import asyncio
import select
import sys
import time
from concurrent.futures import Future
from dataclasses import dataclass
from queue import Empty, SimpleQueue

from agent_magics.agent.waiting import GRACE, TICK, Begin, Cancel, PlainWaiter
from agent_magics.ports import View
from agent_magics.talk import Approval, ApprovalAsked, Event, Turn

NOT_A_TERMINAL = "standard input is not a terminal, so nobody could be asked"
NOT_WAITING = "nobody waits for this turn at the terminal"


@dataclass(frozen=True)
class _Question:
    """A question on its way to the main thread, and where its answer goes."""

    asked: ApprovalAsked
    answer: asyncio.Future[Approval]
    loop: asyncio.AbstractEventLoop

    @property
    def open(self) -> bool:
        return not self.answer.done()

    def give(self, approval: Approval) -> None:
        self.loop.call_soon_threadsafe(lambda: self.answer.done() or self.answer.set_result(approval))


class Terminal(PlainWaiter):
    """Waits and asks at the terminal; the :class:`Waiter` and the :class:`Asker` of a session.

    Parameters
    ----------
    view : View
        Shows the events; called on the thread that waits.
    """

    def __init__(self, view: View) -> None:
        self._view: View | None = view
        self._waiting = 0
        self._queue: SimpleQueue[Event | _Question | None] = SimpleQueue()

    def wait(self, begin: Begin, cancel: Cancel) -> Turn:
        future: Future[Turn] | None = None
        self._waiting += 1
        try:
            future = begin(self._queue.put)
            future.add_done_callback(lambda _: self._queue.put(None))
            self._serve()
        except BaseException:  # an interrupt, or a screen that is gone
            cancel()
            if future:
                self._let_end()
            raise
        finally:
            self._waiting -= 1
        return future.result()

    async def ask(self, request: ApprovalAsked) -> Approval:
        """Wait for the answer of whoever sits at the terminal."""
        if not is_here():
            return Approval(decision="reject", by="policy", comment=NOT_A_TERMINAL)
        if not self._waiting:  # an awaited turn: whoever awaits it does something else meanwhile
            return Approval(decision="reject", by="policy", comment=NOT_WAITING)
        loop = asyncio.get_running_loop()
        question = _Question(request, loop.create_future(), loop)
        self._queue.put(question)
        return await question.answer

    # -- on the main thread --------------------------------------------------------------------------

    def _serve(self, limit: float | None = None) -> None:
        """Show and ask until the turn has ended, or for ``limit`` seconds."""
        end = None if limit is None else time.monotonic() + limit
        while end is None or time.monotonic() < end:
            try:
                thing = self._queue.get(timeout=TICK)
            except Empty:
                continue
            match thing:
                case None:
                    return
                case _Question():
                    self._ask(thing)
                case event if self._view:
                    self._view(event)
                case _:
                    pass

    def _let_end(self) -> None:
        """A cancelled turn ends by itself within half a second; show how, if there is still a screen."""
        try:
            self._serve(GRACE)
        except OSError:
            self._view = None
            self._serve(GRACE)

    def _ask(self, question: _Question) -> None:
        from agent_magics.ui.answering import answered, invitation

        if not question.open:
            return
        forget_typed()
        _say(invitation(question.asked))
        while question.open:
            if readable(TICK):
                question.give(answered(sys.stdin.readline(), question.asked))
                return
        _say("\nThe time to answer is over.\n")


def is_here() -> bool:
    """Whether somebody at a terminal can read a question and type an answer."""
    return sys.stdin is not None and sys.stdin.isatty() and sys.stderr.isatty()  # pyright: ignore[reportUnnecessaryComparison]  # None under pythonw


def questions(event: Event) -> None:
    """A view for scripts, which print what they like: it shows what a person decides about, and no more."""
    if isinstance(event, ApprovalAsked):
        from agent_magics.ui.plain import PlainView

        PlainView(sys.stderr)(event)


def _say(text: str) -> None:
    sys.stderr.write(text)
    sys.stderr.flush()


def forget_typed() -> None:
    """What was typed before a question was shown is no answer to it."""
    try:
        import termios
    except ImportError:  # Windows
        return
    termios.tcflush(sys.stdin.fileno(), termios.TCIFLUSH)


def readable(seconds: float) -> bool:
    """Wait for a line at most so long. Windows can't: there, reading waits itself."""
    if sys.platform == "win32":
        return True
    return bool(select.select([sys.stdin], [], [], seconds)[0])
