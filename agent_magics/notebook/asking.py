"""Asking in the running cell.

A question waits under its id until an answer for exactly that id comes: from a button of its card, from
``%agent /approve ID``, or from a line of input. An answer for anything else is for nothing.
"""

from __future__ import annotations

import asyncio
import re
from collections.abc import Callable
from dataclasses import dataclass

from agent_magics.agent.commands.context import fenced
from agent_magics.notebook.pump import Pump, Work
from agent_magics.talk import Approval, ApprovalAsked

COMMAND = re.compile(r"%agent\s+/(approve|reject)(?:\s+(\S+))?\s*")

NOBODY = "this front end shows no buttons and takes no input"
NO_CELL = "no cell is waiting for this turn, so there is nowhere to ask"


@dataclass(frozen=True, kw_only=True)
class Waiting:
    """A question that has no answer yet, and where the answer goes."""

    request: ApprovalAsked
    loop: asyncio.AbstractEventLoop
    future: asyncio.Future[Approval]


class CellAsker:
    """The asker of a notebook.

    Parameters
    ----------
    pump : Pump
        Knows which cells wait, and brings the question to the main thread.
    by_input : callable
        Asks by a line of input; on the main thread.
    """

    def __init__(self, pump: Pump, by_input: Callable[[ApprovalAsked], Approval]) -> None:
        self._pump = pump
        self._by_input = by_input
        self._waiting: dict[str, Waiting] = {}

    async def ask(self, request: ApprovalAsked) -> Approval:
        """Wait for the answer to one question."""
        match self._pump.mode(request.id):
            case None:
                return _nobody(NO_CELL)
            case "none":
                return _nobody(NOBODY)
            case mode:
                return await self._ask(request, by_input=mode == "input")

    async def _ask(self, request: ApprovalAsked, *, by_input: bool) -> Approval:
        loop = asyncio.get_running_loop()
        answer: asyncio.Future[Approval] = loop.create_future()
        self._waiting[request.id] = Waiting(request=request, loop=loop, future=answer)
        try:
            if by_input and not self._pump.post(self._question(request)):
                return _nobody(NO_CELL)
            return await answer
        finally:
            self._waiting.pop(request.id, None)

    def answer(self, question: str, approval: Approval) -> bool:
        """Give the answer to the question of that id; whether there was such a question."""
        waiting = self._waiting.pop(question, None)
        if waiting is None:
            return False
        waiting.loop.call_soon_threadsafe(_settle, waiting.future, approval)
        return True

    def command(self, code: str) -> str | None:
        """Take ``%agent /approve ID`` or ``%agent /reject ID``, if that is what ``code`` is.

        Returns
        -------
        str or None
            What became of it, as Markdown; without an id, or with one that nothing waits under, what waits.
        """
        match = COMMAND.fullmatch(code)
        return self.typed(match[1], match[2] or "") if match else None

    def typed(self, word: str, question: str) -> str:
        """Answer by a typed command; its reply as Markdown."""
        waiting = self._waiting.get(question)
        if waiting is not None and self.answer(question, Approval(decision=_DECISIONS[word], by="you")):
            return f"{_SAID[word]} `{waiting.request.tool}`."
        wrong = f"Nothing waits for an answer under `{_plain(question)}`." if question else ""
        return "\n\n".join(filter(None, [wrong, self._listing() or (not wrong and NOTHING) or ""]))

    def _listing(self) -> str:
        """Everything that waits, in full: who answers here may not see its card."""
        from agent_magics.ui.plain import question

        return "\n\n".join(
            f"Waiting for your answer: `%agent /approve {id_}` or `%agent /reject {id_}`.\n\n"
            f"{fenced(question(waiting.request))}"
            for id_, waiting in list(self._waiting.items())
        )

    def _question(self, request: ApprovalAsked) -> Work:
        def put() -> None:
            if request.id in self._waiting:
                self.answer(request.id, self._by_input(request))

        def drop() -> None:
            self.answer(request.id, _nobody(NO_CELL))

        return Work(do=put, drop=drop)


NOTHING = "Nothing waits for an answer."

_SAID = {"approve": "Approved:", "reject": "Rejected:"}
_DECISIONS = {"approve": "approve", "reject": "reject"}


def _plain(question: str) -> str:
    """What was typed as an id, without what could end its code span."""
    return re.sub(r"[^0-9A-Za-z_-]", "", question)[:40] or "…"


def _nobody(why: str) -> Approval:
    return Approval(decision="reject", by="policy", comment=why)


def _settle(future: asyncio.Future[Approval], approval: Approval) -> None:
    if not future.done():
        future.set_result(approval)
