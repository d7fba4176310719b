"""OpenAI's Batch API. https://platform.openai.com/docs/guides/batch

The requests go as a file, and the answers come as one, or two: those that failed have a file of their own.
Our name for a batch stands in its metadata. The files stay at the vendor's until their time is over.
"""

from __future__ import annotations

from collections.abc import AsyncGenerator, Iterator
from contextlib import aclosing
from typing import IO, Any

from agent_magics.errors import ProviderError
from agent_magics.ports import BatchState
from agent_magics.providers.failures import cut
from agent_magics.providers.loose import count, dumps, items, obj, text
from agent_magics.providers.openai_chat import OpenAIChat, as_chunk
from agent_magics.providers.openai_responses import OpenAIResponses
from agent_magics.providers.remote_batches import Answer, RemoteBatches, length, pieces
from agent_magics.talk import JSON

_NAME = "agent_magics"
_OVER = ("completed", "failed", "expired", "cancelled")


class OpenAIBatches(RemoteBatches):
    """Batches of Responses or of Chat Completions."""

    most, largest = 50_000, 200_000_000

    def __init__(self, provider: OpenAIResponses | OpenAIChat) -> None:
        super().__init__(provider, provider.address)
        self._chat = isinstance(provider, OpenAIChat)
        self._endpoint = "/v1/chat/completions" if self._chat else "/v1/responses"

    def line(self, custom_id: str, request: dict[str, JSON]) -> bytes:
        whole = {"custom_id": custom_id, "method": "POST", "url": self._endpoint, "body": request}
        return dumps(whole).encode("utf-8", "replace") + b"\n"

    async def create(self, name: str, lines: IO[bytes]) -> str:
        uploaded = await self._upload(name, lines)
        made = await self.ask(
            "POST",
            "/batches",
            {
                "input_file_id": uploaded,
                "endpoint": self._endpoint,
                "completion_window": "24h",
                "metadata": {_NAME: name},
            },
        )
        return text(made.get("id"))

    async def candidates(self, name: str, size: int, since: float) -> list[tuple[str, bool]]:
        async with aclosing(self.listed("/batches", "after")) as batches:
            async for batch in batches:
                if obj(batch.get("metadata")).get(_NAME) == name:
                    return [(text(batch.get("id")), True)]
        return []

    async def state(self, batch: str) -> BatchState:
        told = await self.ask("GET", f"/batches/{batch}")
        counts, status = obj(told.get("request_counts")), text(told.get("status"))
        failed = self._failed(told) if status == "failed" else None
        answered = count(counts.get("completed")) + count(counts.get("failed"))
        return BatchState(
            ended=status in _OVER, answered=answered, size=count(counts.get("total")), failed=failed
        )

    async def results(self, batch: str) -> AsyncGenerator[tuple[str, Answer]]:
        told = await self.ask("GET", f"/batches/{batch}")
        for file in (told.get("output_file_id"), told.get("error_file_id")):
            if not file:
                continue
            async with aclosing(self.jsonl(f"/files/{file}/content")) as lines:
                async for line in lines:
                    yield text(line.get("custom_id")), self._answer(line)

    async def cancel(self, batch: str) -> None:
        await self.ask("POST", f"/batches/{batch}/cancel")

    async def _upload(self, name: str, lines: IO[bytes]) -> str:
        boundary = f"agent-magics-{name}"
        before = (
            f'--{boundary}\r\ncontent-disposition: form-data; name="purpose"\r\n\r\nbatch\r\n'
            f'--{boundary}\r\ncontent-disposition: form-data; name="file"; filename="{name}.jsonl"\r\n'
            "content-type: application/jsonl\r\n\r\n"
        ).encode()
        after = f"\r\n--{boundary}--\r\n".encode()
        headers = {
            "content-type": f"multipart/form-data; boundary={boundary}",
            "content-length": str(len(before) + length(lines) + len(after)),
        }
        made = await self.tell("POST", "/files", lambda: pieces(lines, before, after), headers)
        return text(made.get("id"))

    def _answer(self, line: dict[str, Any]) -> Answer:
        response = obj(line.get("response"))
        if not response:
            return self.undone(text(obj(line.get("error")).get("code")) or "no response")
        status, body = count(response.get("status_code")), obj(response.get("body"))
        if status != 200:
            return self.refused(status or 500, body)
        return self.decoded(lambda: [as_chunk(body)] if self._chat else as_stream(body))

    def _failed(self, told: dict[str, Any]) -> ProviderError:
        errors = [text(obj(each).get("message")) for each in items(obj(told.get("errors")).get("data"))]
        return ProviderError(
            f"{self._remote.name} took no request of a batch.",
            cut("; ".join(errors[:3])) or "It did not say why.",
            "Change what the message names, then run it again.",
            status=400,
        )


def as_stream(response: dict[str, Any]) -> Iterator[dict[str, Any]]:
    """A whole response as the events that would have streamed it."""
    for at, item in enumerate(map(obj, items(response.get("output")))):
        for part in map(obj, items(item.get("content"))):
            match part.get("type"):
                case "output_text":
                    yield {"type": "response.output_text.delta", "delta": part.get("text")}
                case "refusal":
                    yield {"type": "response.refusal.delta", "delta": part.get("refusal")}
                case _:
                    pass
        yield {"type": "response.output_item.done", "output_index": at, "item": item}
    status = text(response.get("status")) or "completed"
    yield {"type": f"response.{status}", "response": response}
