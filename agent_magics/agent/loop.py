"""The story of one turn.

A prompt goes in. The model is asked; while it asks for tools they are run and it is asked again; when it
asks for none, or a cap is reached, or something ends the turn, the last reply is the answer. Everything that
happens is said as an event, and nothing else comes out.
"""

from __future__ import annotations

import asyncio
import time
from collections.abc import Callable
from dataclasses import dataclass, field, replace

from agent_magics.agent.budget import BudgetSpent, Meter
from agent_magics.agent.context import Context
from agent_magics.agent.reply import request_reply
from agent_magics.agent.room import Room
from agent_magics.agent.rounds import Caps, run_round
from agent_magics.errors import AgentMagicsError, Halt, ToolError
from agent_magics.ports import Judge, Provider
from agent_magics.talk import (
    Conversation,
    Event,
    Image,
    Message,
    Noticed,
    ReplyReceived,
    StageDone,
    ToolCall,
    ToolResult,
    TurnBegan,
    TurnEnded,
    Usage,
)
from agent_magics.talk.history import above
from agent_magics.talk.transcript import assistant_message, fingerprint, prompt_message, result_message
from agent_magics.tools.result import Results, text_of
from agent_magics.tools.running import as_running
from agent_magics.tools.toolbox import Permitter, Toolbox

FINAL = (
    "You have reached the limit of this turn ({cap}). No more tools can be called. Give your final answer "
    "now, from what you have; say what is missing."
)

ENDINGS = {"max_tokens": "truncated", "refusal": "refused_by_model", "context_full": "context_full"}
"""Replies that end a turn whatever they ask for: the provider's word -> the turn's."""


@dataclass(kw_only=True)
class TurnRun:
    """What one turn needs, and the little that it keeps while it runs."""

    id: str
    prompt: str
    provider: Provider
    toolbox: Toolbox
    context: Context
    conversation: Conversation
    permit: Permitter
    results: Results
    emit: Callable[[Event], None]
    caps: Caps = field(default_factory=Caps)
    meter: Meter = field(default_factory=Meter)
    cell: str = ""
    replaces: str = ""
    into: str = ""
    origin: str = ""
    images: tuple[Image, ...] = ()
    notices: tuple[str, ...] = ()
    judge: Judge | None = None
    messages: list[Message] = field(default_factory=list[Message])
    call_ids: set[str] = field(default_factory=set[str])
    step: int = 0
    usage: Usage = field(default_factory=Usage)
    said: str = ""
    began: float = field(default_factory=time.monotonic)
    room: Room = field(init=False)

    def spend(self, usage: Usage) -> None:
        """Count what a request to the turn's model took."""
        self.usage += usage
        self.meter.add(self.provider.name, self.provider.model, usage)


async def run_turn(run: TurnRun) -> None:
    """Tell one turn from ``TurnBegan`` to ``TurnEnded``; never raises."""
    _begin(run)
    try:
        stop = await run.meter.within(_rounds(run))
        _end(run, stop)
    except asyncio.CancelledError:
        _end(run, "cancelled")
    except BudgetSpent as spent:
        _end(run, "budget", str(spent))
    except Halt as halt:
        _end(run, "halted", str(halt))
    except Exception as error:
        _end(run, "provider_error", _explained(run.provider, error))


def tell_unbegun(run: TurnRun, emit: Callable[[Event], None]) -> None:
    """Tell a turn that was cancelled before it began."""
    run = replace(run, emit=emit, began=time.monotonic())
    _begin(run)
    _end(run, "cancelled")


async def _rounds(run: TurnRun) -> str:
    """Ask, run what was asked for, ask again; return why it ended."""
    run.room = Room(
        context=run.context,
        provider=run.provider,
        turns=above(run.conversation.turns, run.replaces),
        running=run.id,
        emit=run.emit,
        spend=run.spend,
    )
    run.messages = run.room.begin(prompt_message(run.prompt, run.images))
    run.call_ids = {call.id for turn in run.conversation.turns for call in turn.calls}
    specs = run.toolbox.specs()
    while True:
        reply = await _ask(run, specs)
        if reply.stop == "context_full" and await _made_room(run, reply, specs):
            continue
        if reply.stop in ENDINGS:
            await _refuse_calls(run, reply, f"The reply ended with {reply.stop!r}; this call was not run.")
            return ENDINGS[reply.stop]
        if not reply.calls:
            if _sent_back(run, reply):
                continue
            _notice_silence(run, reply)
            return "done"
        await _refuse_if_spent(run, reply)
        results = await _run_calls(run, reply)
        if cap := run.caps.after(reply.calls, results):
            run.messages.append({"role": "user", "content": FINAL.format(cap=cap.replace("_", " "))})
            final = await _ask(run, [])
            await _refuse_calls(run, final, "This turn has reached its limit; no more tools can be called.")
            if run.judge and _sent_back(run, final):
                raise run.judge.failed()
            return cap
        run.messages[0] = {"role": "system", "content": run.context.system()}
        specs = run.toolbox.specs()


async def _made_room(run: TurnRun, reply: ReplyReceived, specs: list[Message]) -> bool:
    """A request that did not fit is sent once more, shortened, if nothing came of it."""
    return not (reply.text or reply.calls) and await run.room.overflowed(specs)


async def _ask(run: TurnRun, specs: list[Message]) -> ReplyReceived:
    """One step: a request and its reply. Text said so far survives a failure or a cancellation."""
    said: list[str] = []

    def emit(event: Event) -> None:
        if isinstance(event, ReplyReceived):
            run.spend(event.usage)
            run.room.learn(event.usage)
            said.append(event.text)
            if not event.usage.total:
                run.meter.guess(event, run.provider, run.room.tokens)
        run.emit(event)

    run.meter.check()
    await run.room.make(specs)
    try:
        return await request_reply(
            run.provider, run.messages, specs, step=run.step, emit=emit, taken=run.call_ids
        )
    finally:
        run.step += 1
        run.said = "".join(said) or run.said


def _sent_back(run: TurnRun, reply: ReplyReceived) -> bool:
    """Whether the answer is not what was wanted, and the model is asked to mend it."""
    if run.judge is None:
        return False
    complaint = run.judge.judge(reply.text)
    if not complaint:
        run.said = run.judge.reply
        return False
    run.emit(Noticed(text=complaint.partition("\n\n")[0], at=time.time()))
    run.messages.append(assistant_message(reply.text or "(no answer)", (), reply.opaque))
    run.messages.append({"role": "user", "content": complaint})
    return True


async def _run_calls(run: TurnRun, reply: ReplyReceived) -> list[ToolResult]:
    results = await run_round(reply.calls, run.toolbox, lambda call: _call(run, call), run.emit)
    run.messages.append(assistant_message(reply.text, reply.calls, reply.opaque))
    run.messages += [
        result_message(call.id, result) for call, result in zip(reply.calls, results, strict=True)
    ]
    return results


async def _refuse_if_spent(run: TurnRun, reply: ReplyReceived) -> None:
    """Calls whose results nobody could be asked to read are not run."""
    try:
        run.meter.check()
    except BudgetSpent as spent:
        await _refuse_calls(run, reply, f"{spent.what} This call was not run.")
        raise


async def _refuse_calls(run: TurnRun, reply: ReplyReceived, why: str) -> None:
    """Calls of a reply that ended the turn don't run; each gets a result that says why."""

    async def refuse(call: ToolCall) -> ToolResult:
        return run.results.failure(call.problem or why)

    await run_round(reply.calls, run.toolbox, refuse, run.emit)


async def _call(run: TurnRun, call: ToolCall) -> ToolResult:
    def notice(text: str) -> None:
        run.emit(Noticed(text=text, at=time.time()))

    def emit(event: Event) -> None:
        if isinstance(event, StageDone) and event.usage.total:  # another model wrote
            provider, _, model = event.model.partition(":")
            run.usage += event.usage
            run.meter.add(provider, model, event.usage)
        run.emit(event)

    with as_running(call.id, emit):
        return await run.toolbox.run(call, permit=run.permit, results=run.results, notice=notice)


def _begin(run: TurnRun) -> None:
    run.emit(
        TurnBegan(
            turn=run.id,
            prompt=run.prompt,
            provider=run.provider.name,
            model=run.provider.model,
            cell=run.cell,
            images=run.images,
            replaces=run.replaces,
            into=run.into,
            origin=run.origin,
            after=fingerprint(above(run.conversation.turns, run.replaces)),
            wanted=run.judge.wanted if run.judge else None,
            at=time.time(),
        )
    )
    for text in run.notices:
        run.emit(Noticed(text=text, at=time.time()))


def _notice_silence(run: TurnRun, reply: ReplyReceived) -> None:
    """An empty answer looks like a fault of the screen; say that it is the model's."""
    if not reply.text.strip():
        run.emit(
            Noticed(text="The model answered with no text. Ask again, or in other words.", at=time.time())
        )


def _end(run: TurnRun, stop: str, error: str = "") -> None:
    seconds = time.monotonic() - run.began
    run.emit(
        TurnEnded(stop=stop, reply=run.said, usage=run.usage, error=error, seconds=seconds, at=time.time())
    )


def _explained(provider: Provider, error: Exception) -> str:
    if isinstance(error, AgentMagicsError) and not isinstance(error, ToolError):
        return str(error)
    # Nobody meant to raise this here; most often it is a provider of the user's own.
    name = "" if isinstance(error, ToolError) else f"{type(error).__name__}: "
    model = f"{provider.name}:{provider.model}".removesuffix(":")
    return (
        f"The turn failed: {name}{text_of(error)}".removesuffix(": ") + "\n"
        f"It came up while {model} was at work, which did not expect it.\n"
        "Ask again; if it stays, report it to whoever made the provider, or take another with /provider."
    )
