"""What a turn from a file may bring along: text, and no rights.

The list says what is kept, not what is dropped; a field that is not named here stays behind. So approvals,
grants, the provider and its private blocks, handles of cut results and made tools never come in, and neither
does what a later version may add. What is kept is brought into a form that the strictest vendor accepts.

Of a tool that was made, its name and the verdicts on its drafts are told, as what happened then. No tool
comes of it: those are admitted from their own files, by their hashes.
"""

from __future__ import annotations

import base64
import json
import re
import uuid
from collections.abc import Iterable
from dataclasses import replace
from typing import Any, cast

from agent_magics.errors import ConfigError
from agent_magics.record import limits
from agent_magics.record.once import again
from agent_magics.talk import (
    JSON,
    STOPS,
    CallRecord,
    Image,
    Retry,
    Stage,
    Step,
    ToolCall,
    ToolResult,
    Turn,
    Usage,
)
from agent_magics.talk.history import INTERRUPTED

PICTURES = ("image/png", "image/jpeg", "image/gif", "image/webp")

_ID = re.compile(r"[A-Za-z0-9_-]{1,128}")
_SHOWN = re.compile(r"[A-Za-z0-9_-]{1,64}\??")
_MADE = re.compile(r"[a-z][a-z0-9_]{2,49}")
_AFTER = re.compile(r"\d{1,6}:[0-9a-f]{16}")
_LATEST = 4_102_444_800.0  # the year 2100
_LONGEST = 1e7
_MOST = 10**12


def cleansed(turn: Turn, *, origin: str, cell: str | None = None) -> Turn:
    """A decoded turn with only what a file may bring.

    Parameters
    ----------
    origin : str
        What the turn is marked with.
    cell : str, optional
        The id of the cell that it was found in; by default the one that the turn names.

    Raises
    ------
    ConfigError
        If it is no turn that could have happened.
    """
    if turn.stop not in ("", *STOPS):
        raise ConfigError(f"It ended in a way that is not known: {harmless(repr(turn.stop), 40)}.")
    if not turn.prompt.strip():
        raise ConfigError("It has no prompt.")
    steps = again(tuple(map(_step, turn.steps)), turn.reply)
    return Turn(
        id=_known(turn.id),
        prompt=turn.prompt,
        model=harmless(turn.model, 200),
        steps=steps,
        reply=turn.reply,
        stop=turn.stop or "cancelled",
        usage=_usage(turn.usage),
        error=turn.error[:4_000] if turn.stop else INTERRUPTED,
        notices=tuple(text[:1_000] for text in turn.notices[:50]),
        began=_within(turn.began, _LATEST),
        seconds=_within(turn.seconds, _LONGEST),
        cell=_known(turn.cell if cell is None else cell),
        images=tuple(image for image in turn.images if _is_picture(image)),
        origin=origin,
        stale=turn.stale,
        wanted=_schema(turn.wanted),
        after=turn.after if _AFTER.fullmatch(turn.after) else "",
    )


def adopted(turns: Iterable[Turn], taken_turns: set[str], taken_calls: set[str]) -> list[Turn]:
    """The turns with ids of their own: those that are taken, or none, are made anew."""
    turns_seen, calls_seen = set(taken_turns), set(taken_calls)
    return [_adopted(turn, turns_seen, calls_seen) for turn in turns]


def harmless(text: str, most: int) -> str:
    """One short line in which every character can be seen where it stands."""
    words = " ".join(text[:most].split())
    return "".join(char if char.isprintable() else "\ufffd" for char in words)


def _step(step: Step) -> Step:
    return Step(
        text=step.text,
        thinking=step.thinking,
        calls=tuple(map(_record, step.calls)),
        stop=harmless(step.stop, 40),
        usage=_usage(step.usage),
        seconds=_within(step.seconds, _LONGEST),
        first=_within(step.first, _LONGEST),
        thought=_within(step.thought, _LONGEST),
        at=_within(step.at, _LATEST),
        retries=tuple(map(_retry, step.retries[: limits.RETRIES])),
    )


def _retry(retry: Retry) -> Retry:
    return Retry(
        after=_within(retry.after, _LONGEST), delay=_within(retry.delay, _LONGEST), why=retry.why[:1_000]
    )


def _record(record: CallRecord) -> CallRecord:
    call = record.call
    name = harmless(call.name, 200) or "unnamed"
    return CallRecord(
        call=ToolCall(id=_known(call.id), name=name, arguments=call.arguments, problem=call.problem[:1_000]),
        shown=record.shown if _SHOWN.fullmatch(record.shown) else f"{name}?",
        result=_result(record.result) if record.result else None,
        seconds=_within(record.seconds, _LONGEST),
        stopped=record.stopped,
        made=record.made if _MADE.fullmatch(record.made) else "",
        stages=tuple(map(_stage, record.stages[: limits.STAGES])),
        at=_within(record.at, _LATEST),
    )


def _stage(stage: Stage) -> Stage:
    return Stage(
        tool=harmless(stage.tool, 200),
        name=harmless(stage.name, 40),
        ok=stage.ok,
        detail=stage.detail[:4_000],
        seconds=_within(stage.seconds, _LONGEST),
        at=_within(stage.at, _LATEST),
        model=harmless(stage.model, 200),
        usage=_usage(stage.usage),
    )


def _result(result: ToolResult) -> ToolResult:
    text = result.text if _is_object(result.text) else _wrapped(result.text, result.ok)
    return ToolResult(ok=result.ok, text=text, size=_count(result.size), brief=harmless(result.brief, 200))


def _is_object(text: str) -> bool:
    if len(text) > limits.RESULT:
        return False
    try:
        return isinstance(json.loads(text, parse_constant=_refuse), dict)
    except (ValueError, RecursionError):
        return False


def _refuse(constant: str) -> None:
    raise ValueError(constant)


def _wrapped(text: str, ok: bool) -> str:
    """A result that is no JSON object, or a long one, as the object that it has to be."""
    if len(text) > limits.RESULT:
        head, tail = limits.RESULT * 2 // 3, limits.RESULT // 6
        left_out = len(text) - head - tail
        text = f"{text[:head]}\n… {left_out:,} characters left out …\n{text[-tail:]}"
    return json.dumps({"result" if ok else "error": text, "ok": ok}, ensure_ascii=False)


def _adopted(turn: Turn, turns: set[str], calls: set[str]) -> Turn:
    id_ = turn.id if turn.id and turn.id not in turns else uuid.uuid4().hex[:12]
    turns.add(id_)
    steps = tuple(
        replace(step, calls=tuple(_with_own_id(record, calls) for record in step.calls))
        for step in turn.steps
    )
    return replace(turn, id=id_, steps=steps)


def _with_own_id(record: CallRecord, taken: set[str]) -> CallRecord:
    id_ = record.id if record.id and record.id not in taken else f"call_{uuid.uuid4().hex[:16]}"
    taken.add(id_)
    return replace(record, call=replace(record.call, id=id_))


def _schema(wanted: object) -> dict[str, JSON] | None:
    """The schema that the answer had to keep: it says what the reply is, and whether a turn is the same."""
    if not isinstance(wanted, dict):
        return None
    schema = cast("dict[str, JSON]", wanted)
    return schema if len(json.dumps(schema)) <= limits.SCHEMA else None


def _is_picture(image: Image) -> bool:
    if image.media_type not in PICTURES:
        return False
    try:
        return bool(base64.b64decode(image.data, validate=True))
    except ValueError:
        return False


def _known(id_: str) -> str:
    return id_ if _ID.fullmatch(id_) else ""


def _usage(usage: Usage) -> Usage:
    return Usage(
        input=_count(usage.input),
        output=_count(usage.output),
        cached=_count(usage.cached),
        reasoning=_count(usage.reasoning),
    )


def _count(number: int) -> int:
    return number if 0 <= number <= _MOST else 0


def _within(number: Any, most: float) -> float:
    return float(cast("float", number)) if 0 <= number <= most else 0.0
