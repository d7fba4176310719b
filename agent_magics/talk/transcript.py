"""Turns -> the plain messages that a provider is sent.

A finished turn becomes its prompt, each step's assistant message with its calls, one tool message per
result, and the final reply. Every call gets an answer, also when a turn was cut short: strict vendors refuse
a history in which a call has none.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from hashlib import sha256

from agent_magics.talk.content import JSON, Image, Message, Opaque, ToolCall, ToolResult
from agent_magics.talk.turn import CallRecord, Step, Turn

PARTIAL = ("cancelled", "failed")
"""How a step ends whose reply did not come whole: see ``ReplyReceived.stop``."""

NO_RESULT = '{"error": "The call was stopped before it had a result.", "ok": false}'


def turn_messages(turn: Turn, *, opaque: bool = False) -> list[Message]:
    """One turn as messages.

    Parameters
    ----------
    opaque : bool
        Whether to send provider blocks back. They belong to the turn that they were made in, so only a
        running turn sends them.
    """
    messages: list[Message] = [prompt_message(turn.prompt, turn.images)]
    for step in turn.steps:
        if turn.wanted is None or step.calls or step is turn.steps[-1]:  # else it was sent back, to be mended
            messages += step_messages(step, opaque=opaque)
    if messages[-1]["role"] != "assistant":
        reply = "" if turn.steps else turn.reply  # the reply of a turn with steps is the text of one of them
        messages.append({"role": "assistant", "content": reply or f"(no answer: {turn.stop or 'running'})"})
    return messages


def prompt_message(prompt: str, images: Sequence[Image] = ()) -> Message:
    """What the person said; with pictures, the content is a list of parts."""
    if not images:
        return {"role": "user", "content": prompt}
    parts: list[JSON] = [
        {"type": "image", "media_type": each.media_type, "data": each.data} for each in images
    ]
    return {"role": "user", "content": [*parts, {"type": "text", "text": prompt}]}


def step_messages(step: Step, *, opaque: bool = True) -> list[Message]:
    """One step as messages: what the model said and asked for, then one message per result."""
    if not (step.text or step.calls):
        return []
    calls = [record.call for record in step.calls]
    blocks = step.opaque if opaque else ()
    text = f"{step.text}\n\n(This answer broke off here: {step.stop}.)" if step.stop in PARTIAL else step.text
    return [assistant_message(text, calls, blocks), *map(_result, step.calls)]


def assistant_message(text: str, calls: Sequence[ToolCall], opaque: Iterable[Opaque] = ()) -> Message:
    message: Message = {"role": "assistant", "content": text}
    if calls:
        message["tool_calls"] = [
            {"id": call.id, "name": _sendable(call.name), "arguments": dict(call.arguments)} for call in calls
        ]
    if blocks := [{"provider": block.provider, "block": block.block} for block in opaque]:
        message["opaque"] = blocks
    return message


def _sendable(name: str) -> str:
    """A name that was made up may hold what vendors refuse, and one such call would spoil every request."""
    return re.sub(r"[^A-Za-z0-9_-]", "_", name)[:64] or "unnamed"


def result_message(call_id: str, result: ToolResult) -> Message:
    return {"role": "tool", "tool_call_id": call_id, "content": result.text}


def _result(record: CallRecord) -> Message:
    if record.result is None:
        return {"role": "tool", "tool_call_id": record.id, "content": NO_RESULT}
    return result_message(record.id, record.result)


def fingerprint(turns: Iterable[Turn]) -> str:
    """Prompts and replies of these turns in a few characters: how many, and a hash.

    >>> fingerprint([])
    '0:e3b0c44298fc1c14'
    """
    texts = [text for turn in turns for text in (turn.prompt, turn.reply)]
    hashed = sha256()
    for text in texts:
        raw = text.encode("utf-8", "surrogatepass")
        hashed.update(b"%d:" % len(raw) + raw)
    return f"{len(texts) // 2}:{hashed.hexdigest()[:16]}"
