"""Anthropic's Message Batches. https://platform.claude.com/docs/en/build-with-claude/batch-processing

A batch has no name there, and tells the ids of its requests only when it has ended. So one whose own id was
never heard is looked for among those of the same size, made since; the caller compares their requests' ids.
"""

from __future__ import annotations

from collections.abc import AsyncGenerator, Iterator
from contextlib import aclosing
from datetime import datetime
from typing import IO, Any

from agent_magics.ports import BatchState
from agent_magics.providers.anthropic import Anthropic
from agent_magics.providers.loose import count, dumps, items, obj, text
from agent_magics.providers.remote_batches import Answer, RemoteBatches, length
from agent_magics.talk import JSON

_STATUSES = {
    "invalid_request_error": 400,
    "authentication_error": 401,
    "billing_error": 402,
    "permission_error": 403,
    "not_found_error": 404,
    "request_too_large": 413,
    "rate_limit_error": 429,
    "api_error": 500,
    "timeout_error": 504,
    "overloaded_error": 529,
}
_BEFORE, _AFTER = b'{"requests":[', b"]}"
_SKEW = 600.0
"""Seconds by which their clock and ours may differ."""


class AnthropicBatches(RemoteBatches):
    """Batches of Messages."""

    most, largest = 100_000, 250_000_000

    def __init__(self, provider: Anthropic) -> None:
        super().__init__(provider, f"{provider.address}/v1")

    def line(self, custom_id: str, request: dict[str, JSON]) -> bytes:
        return dumps({"custom_id": custom_id, "params": request}).encode("utf-8", "replace") + b"\n"

    async def create(self, name: str, lines: IO[bytes]) -> str:
        size = len(_BEFORE) + length(lines) + count_lines(lines) - 1 + len(_AFTER)
        made = await self.tell(
            "POST",
            "/messages/batches",
            lambda: _as_list(lines),
            {"content-type": "application/json", "content-length": str(size)},
        )
        return text(made.get("id"))

    async def candidates(self, name: str, size: int, since: float) -> list[tuple[str, bool]]:
        found: list[tuple[str, bool]] = []
        async with aclosing(self.listed("/messages/batches", "after_id")) as batches:
            async for batch in batches:
                if _seconds(batch.get("created_at")) < since - _SKEW:
                    break
                if _state(batch).size == size and not batch.get("archived_at"):
                    found.append((text(batch.get("id")), False))
        return found

    async def state(self, batch: str) -> BatchState:
        return _state(await self.ask("GET", f"/messages/batches/{batch}"))

    async def results(self, batch: str) -> AsyncGenerator[tuple[str, Answer]]:
        async with aclosing(self.jsonl(f"/messages/batches/{batch}/results")) as lines:
            async for line in lines:
                yield text(line.get("custom_id")), self._answer(obj(line.get("result")))

    async def cancel(self, batch: str) -> None:
        await self.ask("POST", f"/messages/batches/{batch}/cancel")

    def _answer(self, result: dict[str, Any]) -> Answer:
        match result.get("type"):
            case "succeeded":
                return self.decoded(lambda: as_stream(obj(result.get("message"))))
            case "errored":
                error = obj(result.get("error"))
                kind = text(obj(error.get("error")).get("type"))
                return self.refused(_STATUSES.get(kind, 400), error)
            case other:  # canceled, expired
                return self.undone(text(other))


def as_stream(message: dict[str, Any]) -> Iterator[dict[str, Any]]:
    """A whole message as the events that would have streamed it."""
    yield {"type": "message_start", "message": {"usage": message.get("usage")}}
    for at, block in enumerate(map(obj, items(message.get("content")))):
        # Texts come as deltas, since only these are said; a call's input and a signature stand in the block.
        growing = [name for name in ("text", "thinking") if block.get("type") == name]
        yield {
            "type": "content_block_start",
            "index": at,
            "content_block": {**block, **dict.fromkeys(growing, "")},
        }
        for name in growing:
            delta = {"type": f"{name}_delta", name: block.get(name)}
            yield {"type": "content_block_delta", "index": at, "delta": delta}
    yield {"type": "message_delta", "delta": {"stop_reason": message.get("stop_reason")}}
    yield {"type": "message_stop"}


def count_lines(file: IO[bytes]) -> int:
    file.seek(0)
    return sum(1 for _ in file)


async def _as_list(lines: IO[bytes]) -> AsyncGenerator[bytes]:
    """The lines as JSON's list: a comma between them."""
    yield _BEFORE
    lines.seek(0)
    comma = b""
    for line in lines:
        yield comma + line
        comma = b","
    yield _AFTER


def _state(batch: dict[str, Any]) -> BatchState:
    counts = {name: count(number) for name, number in obj(batch.get("request_counts")).items()}
    size = sum(counts.values())
    ended = batch.get("processing_status") == "ended"
    return BatchState(ended=ended, answered=size - counts.get("processing", 0), size=size)


def _seconds(stamp: Any) -> float:
    try:
        return datetime.fromisoformat(text(stamp)).timestamp()
    except ValueError:
        return 0.0
