"""Messages for a model that knows no tools: its calls and their results become plain text."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from agent_magics.providers.loose import dumps, items
from agent_magics.providers.parts import plain
from agent_magics.talk import Message


def without_tools(messages: Sequence[Message]) -> list[Message]:
    """``messages`` with ``system``, ``user`` and ``assistant`` alone, and never two of one role in a row.

    >>> without_tools([{"role": "user", "content": "a"}, {"role": "user", "content": "b"}])
    [{'role': 'user', 'content': 'a\\n\\nb'}]
    """
    flat: list[Message] = []
    for message in map(_flat, messages):
        if flat and flat[-1]["role"] == message["role"]:
            flat[-1] = {**message, "content": f"{flat[-1]['content']}\n\n{message['content']}"}
        else:
            flat.append(message)
    return flat


def _flat(message: Message) -> Message:
    said = plain(message.get("content"))
    match message["role"]:
        case "tool":
            return {"role": "user", "content": f"Result: {said}"}
        case "assistant":
            return {"role": "assistant", "content": "\n".join(_lines(said, message))}
        case role:
            return {"role": role, "content": said}


def _lines(said: str, message: Message) -> Iterator[str]:
    if said:
        yield said
    for call in items(message.get("tool_calls")):
        yield f"{call['name']}({dumps(call.get('arguments') or {})})"
