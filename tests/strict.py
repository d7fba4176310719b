"""The strictest vendor: it refuses every history that any real one refuses."""

from __future__ import annotations

import json
from collections.abc import Sequence
from itertools import pairwise
from typing import Any


def check_messages(messages: Sequence[dict[str, Any]]) -> None:
    """Raise ``AssertionError`` if these messages are not a well-formed conversation.

    One system message, first. Then prompts and answers; every call of an assistant message is answered at
    once, by exactly one tool message per call and by nothing else; ids are unique within a message; contents
    are text that can be sent, and results are JSON.
    """
    assert "system" == messages[0]["role"]
    waiting: list[str] = []
    for before, message in pairwise(messages):
        _check_content(message)
        match message["role"]:
            case "tool":
                assert message["tool_call_id"] in waiting, f"an answer that no call waits for: {message}"
                waiting.remove(message["tool_call_id"])
                assert isinstance(json.loads(message["content"]), dict)
            case "user" | "assistant" as role:
                assert not waiting, f"calls without a result: {waiting}"
                assert role != "assistant" or before["role"] in ("user", "tool", "assistant")
                waiting = _ids(message)
            case role:
                raise AssertionError(f"a message in the role {role!r} in the middle")
    assert not waiting, f"calls without a result at the end: {waiting}"


def _check_content(message: dict[str, Any]) -> None:
    content = message["content"]
    assert isinstance(content, str) or (message["role"] == "user" and content[-1]["type"] == "text")
    json.dumps(message, ensure_ascii=False, allow_nan=False).encode()


def _ids(message: dict[str, Any]) -> list[str]:
    calls = message.get("tool_calls", [])
    assert calls or "tool_calls" not in message, "an empty list of calls"
    ids = [call["id"] for call in calls]
    assert len(ids) == len(set(ids)), f"ids that are not unique: {ids}"
    assert all(isinstance(call["arguments"], dict) and call["name"] for call in calls)
    return ids
