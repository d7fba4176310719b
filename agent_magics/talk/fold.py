"""Events -> turn. Pure: the same facts always give the same turn, whoever folds them.

Deltas pass through without effect, so a fold over everything that was said and a fold over what was stored
are equal.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import fields
from functools import cache
from typing import Any, TypeVar

from agent_magics.talk.events import (
    ApprovalGiven,
    Event,
    Noticed,
    ReplyReceived,
    StageDone,
    ToolCalled,
    ToolMade,
    ToolReturned,
    TurnBegan,
    TurnEnded,
)
from agent_magics.talk.turn import Approval, CallRecord, Stage, Step, Turn

_Calls = tuple[CallRecord, ...]
T = TypeVar("T", Turn, Step, CallRecord)


def fold(events: Iterable[Event]) -> Turn:
    """Rebuild one turn from its events.

    Raises
    ------
    ValueError
        If none of them is :class:`~agent_magics.talk.events.TurnBegan`; what comes before it is passed over.
    """
    turn: Turn | None = None
    for event in events:
        turn = advance(turn, event)
    if turn is None:
        raise ValueError("no turn in these events: none of them is TurnBegan")
    return turn


def advance(turn: Turn | None, event: Event) -> Turn | None:
    """One event further: the turn as it stands after ``event``."""
    if isinstance(event, TurnBegan):
        return Turn(
            id=event.turn,
            prompt=event.prompt,
            provider=event.provider,
            model=event.model,
            began=event.at,
            cell=event.cell,
            images=event.images,
            into=event.into,
            origin=event.origin,
            after=event.after,
            wanted=event.wanted,
        )
    if turn is None:
        return None
    match event:
        case ReplyReceived():
            return changed(turn, steps=(*turn.steps, _step(event)), usage=turn.usage + event.usage)
        case ToolCalled():
            record = CallRecord(call=event.call, shown=event.shown, at=event.at)
            return _on_last_step(turn, lambda calls: (*calls, record))
        case ApprovalGiven():
            return _on_call(turn, event.call_id, lambda call: _answered(call, event))
        case ToolReturned():
            return _on_call(turn, event.id, lambda call: _returned(call, event))
        case StageDone():
            turn = changed(turn, usage=turn.usage + event.usage)
            return _on_call(turn, event.id, lambda call: changed(call, stages=(*call.stages, _stage(event))))
        case ToolMade():
            return _on_call(turn, event.id, lambda call: changed(call, made=event.name))
        case Noticed():
            return changed(turn, notices=(*turn.notices, event.text))
        case TurnEnded():
            return changed(
                turn,
                stop=event.stop,
                reply=event.reply,
                usage=event.usage,
                error=event.error,
                seconds=event.seconds,
            )
        case _:
            return turn


def _step(event: ReplyReceived) -> Step:
    return Step(
        text=event.text,
        thinking=event.thinking,
        stop=event.stop,
        usage=event.usage,
        opaque=event.opaque,
        seconds=event.seconds,
        first=event.first,
        thought=event.thought,
        at=event.at - event.seconds,
        retries=event.retries,
    )


def _stage(event: StageDone) -> Stage:
    return Stage(
        tool=event.tool,
        name=event.stage,
        ok=event.ok,
        detail=event.detail,
        seconds=event.seconds,
        at=event.at - event.seconds,
        model=event.model,
        usage=event.usage,
    )


def _answered(call: CallRecord, event: ApprovalGiven) -> CallRecord:
    """The answer that counts is the last one; what was answered before stays known."""
    approval = Approval(
        decision=event.decision,
        by=event.by,
        comment=event.comment,
        seconds=event.seconds,
        at=event.at - event.seconds,
    )
    return changed(call, approval=approval, earlier=call.approvals)


def _returned(call: CallRecord, event: ToolReturned) -> CallRecord:
    """The call's own time: what it waited for a person is told apart, in its approvals."""
    waited = sum(approval.seconds for approval in call.approvals)
    own = max(0.0, event.seconds - waited)
    return changed(call, result=event.result, seconds=own, stopped=event.stopped)


def _on_last_step(turn: Turn, change: Callable[[_Calls], _Calls]) -> Turn:
    *before, last = turn.steps or (Step(),)
    return changed(turn, steps=(*before, changed(last, calls=change(last.calls))))


def _on_call(turn: Turn, call_id: str, change: Callable[[CallRecord], CallRecord]) -> Turn:
    return _on_last_step(
        turn, lambda calls: tuple(change(call) if call.id == call_id else call for call in calls)
    )


def changed(thing: T, **changes: object) -> T:
    """``dataclasses.replace`` at a third of its cost. These classes have slots and compute nothing.

    A fold makes a dozen of them a turn, and a session that comes back has a thousand turns.
    """
    kind = type(thing)
    slots = _slots(kind)
    made = object.__new__(kind)
    for read, write in slots.values():
        write(made, read(thing))
    for name, value in changes.items():
        slots[name][1](made, value)
    return made


@cache
def _slots(kind: type[Any]) -> dict[str, tuple[Callable[[Any], Any], Callable[[Any, Any], None]]]:
    """What reads and writes each field where it lies."""
    members = {field.name: getattr(kind, field.name) for field in fields(kind)}
    return {name: (member.__get__, member.__set__) for name, member in members.items()}
