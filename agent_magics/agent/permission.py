"""The door between a call and its tool: the policy decides, and where it says ``Ask``, a person does.

A person's answer is bound to what the person saw. Everything that the card shows goes into one hash, and it
is taken again when the answer has come: a call that has changed in between is not the one that was approved.
"""

from __future__ import annotations

import asyncio
import hashlib
import secrets
import time
from collections.abc import Callable, Sequence

from agent_magics.agent.policy import Allow, Ask, Policy, Refuse
from agent_magics.errors import Halt
from agent_magics.ports import Asker
from agent_magics.talk import Approval, ApprovalAsked, ApprovalGiven, Fact, Noticed, ToolCall
from agent_magics.tools.result import json_text
from agent_magics.tools.tool import Tool
from agent_magics.tools.toolbox import Permit

PATIENCE = 600.0
"""Seconds that a question waits for a person; then it counts as rejected."""

ANSWERS = ("approve", "always", "once", "reject")
STOPPED = Approval(decision="reject", by="interrupt", comment="the turn was stopped")

Facts = Sequence[tuple[str, str]]


class Permission:
    """Decides about the calls of one session; a :class:`~agent_magics.tools.toolbox.Permitter`.

    Parameters
    ----------
    policy : Policy
        Decides first.
    asker : Asker
        Asked where the policy says so.
    emit : callable
        Told of the question and the answer.
    patience : float
        Seconds that a question waits.
    """

    def __init__(
        self, policy: Policy, asker: Asker, emit: Callable[[Fact], None], patience: float = PATIENCE
    ) -> None:
        self.policy = policy
        self.asker = asker
        self.patience = patience
        self._emit = emit
        self._one_at_a_time = asyncio.Lock()

    async def __call__(self, tool: Tool, call: ToolCall, /) -> Permit:
        decided = self._decide(tool, call)
        if isinstance(decided, Permit):
            return decided
        async with self._one_at_a_time:
            # Decided again: while it waited for its turn to ask, the same may have been granted or rejected.
            decided = self._decide(tool, call)
            return decided if isinstance(decided, Permit) else await self._ask(tool, call, decided.reason)

    def _decide(self, tool: Tool, call: ToolCall) -> Permit | Ask:
        match self.policy.decide(tool, call.arguments):
            case Allow(unasked=""):
                return Permit(allowed=True)
            case Allow(unasked=setting):
                self._emit(Noticed(text=f"Nobody was asked about {tool.name}: {setting}.", at=time.time()))
                return Permit(allowed=True)
            case Refuse(reason=reason):
                self._emit(_unasked(call, reason))
                return Permit(allowed=False, reason=reason, details={"rejected": True})
            case Ask() as ask:
                return ask

    async def about(
        self, tool: Tool, call: ToolCall, *, source: str, facts: Facts, reason: str
    ) -> tuple[Approval, Permit]:
        """Ask about a tool that a model wrote, unless the policy decides by itself.

        Parameters
        ----------
        tool : Tool
            What the policy judges; marked ``generated``.
        call : ToolCall
            The call that waits, with the arguments that the tool would get first.
        source : str
            The text that would run.
        facts : sequence of (str, str)
            What else the person should know.
        reason : str
            Why it asks; empty where the card's own words say it.

        Returns
        -------
        (Approval, Permit)
            The answer and what it means. ``edit`` brings the person's text and permits nothing yet: whoever
            asked checks that text and asks about it anew.
        """
        decided = self._decide(tool, call)
        if isinstance(decided, Permit):
            return _by_policy(decided), decided
        async with self._one_at_a_time:
            decided = self._decide(tool, call)
            if isinstance(decided, Permit):
                return _by_policy(decided), decided
            request = question(tool, call, reason, facts, source)
            return await self._put(tool, call, request, answers=(*ANSWERS, "edit"))

    async def _ask(self, tool: Tool, call: ToolCall, reason: str) -> Permit:
        request = question(tool, call, reason)
        approval, permit = await self._put(
            tool, call, request, unchanged=lambda: question(tool, call, reason).sha256 == request.sha256
        )
        if approval.decision == "always":
            self.policy.grant(tool, call.arguments)
        return permit

    async def _put(
        self,
        tool: Tool,
        call: ToolCall,
        request: ApprovalAsked,
        *,
        answers: Sequence[str] = ANSWERS,
        unchanged: Callable[[], bool] = lambda: True,
    ) -> tuple[Approval, Permit]:
        """Put one question to a person and say the answer."""
        self._emit(request)
        began = time.monotonic()
        try:
            approval = await self._answer(request, answers)
        except BaseException:
            self._emit(_given(request, STOPPED, began))
            raise
        if not unchanged():
            approval = Approval(decision="reject", by="policy", comment="it changed while it was shown")
        self._emit(_given(request, approval, began))
        if approval.decision == "reject":
            return approval, self._rejected(tool, call, approval)
        return approval, Permit(allowed=approval.decision != "edit")

    async def _answer(self, request: ApprovalAsked, answers: Sequence[str]) -> Approval:
        try:
            async with asyncio.timeout(self.patience):
                approval = await self.asker.ask(request)
        except TimeoutError:
            return Approval(decision="reject", by="timeout")
        except Halt:
            raise
        except Exception as error:
            return Approval(decision="reject", by="policy", comment=f"asking failed ({type(error).__name__})")
        understood = isinstance(approval, Approval) and approval.decision in answers  # pyright: ignore[reportUnnecessaryIsInstance]  # askers are other people's code
        if not understood:
            return Approval(decision="reject", by="policy", comment="the answer was not understood")
        return approval

    def _rejected(self, tool: Tool, call: ToolCall, approval: Approval) -> Permit:
        reason = self.policy.reject(tool, call.arguments, approval.comment)
        match approval.by:
            case "timeout":
                reason = f"Nobody answered within {_span(self.patience)}, so the call was rejected."
            case "policy":
                reason = f"The call was rejected: {approval.comment or 'there is nobody to ask here'}."
            case _:
                pass
        return Permit(allowed=False, reason=reason, details={"rejected": True, "by": approval.by})


def _unasked(call: ToolCall, reason: str) -> ApprovalGiven:
    """The answer of a setting, where there was no question."""
    return ApprovalGiven(
        id="",
        call_id=call.id,
        decision="reject",
        by="policy",
        comment=reason,
        sha256="",
        seconds=0.0,
        at=time.time(),
    )


def _given(request: ApprovalAsked, approval: Approval, began: float) -> ApprovalGiven:
    return ApprovalGiven(
        id=request.id,
        call_id=request.call.id,
        decision=approval.decision,  # pyright: ignore[reportArgumentType]  # checked in _answer
        by=approval.by,
        comment=approval.comment,
        sha256=request.sha256,
        seconds=time.monotonic() - began,
        at=time.time(),
    )


def _span(seconds: float) -> str:
    return f"{seconds / 60:.0f} minutes" if seconds >= 120 else f"{seconds:g} seconds"


def _by_policy(permit: Permit) -> Approval:
    return Approval(decision="approve" if permit.allowed else "reject", by="policy", comment=permit.reason)


def question(
    tool: Tool, call: ToolCall, reason: str, facts: Facts = (), source: str | None = None
) -> ApprovalAsked:
    """The question about one call, with the hash of everything that it shows."""
    if source is None:
        source = str(call.arguments.get(tool.code, "")) if tool.code else ""
    shown = json_text(
        {"tool": tool.name, "source": source, "arguments": dict(call.arguments), "facts": list(facts)}
    )
    return ApprovalAsked(
        id=secrets.token_hex(2),
        call=call,
        tool=tool.name,
        kind="generated" if tool.generated else "catalog",
        reason=reason,
        source=source,
        sha256=hashlib.sha256(shown.encode()).hexdigest(),
        facts=tuple(facts),
        at=time.time(),
    )
