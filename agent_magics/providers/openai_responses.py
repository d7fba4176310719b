"""OpenAI's Responses: the protocol of its newer models, which keep their reasoning encrypted.

``encode`` makes the request's body, :class:`ResponsesReply` reads the answer, :class:`OpenAIResponses` puts
them on the wire. https://platform.openai.com/docs/api-reference/responses-streaming

Nothing is stored at the vendor's; so a reply with reasoning keeps its output items as one opaque block, and
the next request of the turn sends them back as they are. Sequence numbers are not relied on.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from agent_magics.providers import failures
from agent_magics.providers.calls import Draft
from agent_magics.providers.loose import count, dumps, items, obj, text
from agent_magics.providers.openai_chat import authorization
from agent_magics.providers.parts import parts_of, plain
from agent_magics.providers.remote import Remote, private_block
from agent_magics.providers.schemas import is_strict, strict_form
from agent_magics.providers.settings import Settings
from agent_magics.talk import (
    JSON,
    Message,
    Opaque,
    ProviderEvent,
    Saying,
    Stop,
    Thinking,
    ToolSpec,
    Usage,
)
from agent_magics.talk.events import StopReason

_DOES_NOT_REASON = re.compile(r"^(?:ft:)?(?:gpt-3|gpt-4|chatgpt-4)")


def encode(
    settings: Settings,
    messages: Sequence[Message],
    tools: Sequence[ToolSpec],
    schema: Mapping[str, JSON] | None = None,
    *,
    provider: str = "openai",
) -> dict[str, JSON]:
    """The body of a streamed request."""
    reasons = not _DOES_NOT_REASON.match(settings.model)
    body: dict[str, JSON] = {
        "model": settings.model,
        "input": [item for one in messages for item in _items(one, provider, settings.model)],
        "stream": True,
        "store": False,
    }
    if system := "\n\n".join(plain(one["content"]) for one in messages if one["role"] == "system"):
        body["instructions"] = system
    if tools:
        body["tools"] = [_tool(tool) for tool in tools]
    if reasons:
        body["include"] = ["reasoning.encrypted_content"]
        effort = {"effort": settings.effort} if settings.effort else {}
        body["reasoning"] = {"summary": "auto", **effort}
    if schema is not None:
        form, binds = strict_form(schema)
        body["text"] = {"format": {"type": "json_schema", "name": "answer", "schema": form, "strict": binds}}
    if settings.max_tokens:
        body["max_output_tokens"] = settings.max_tokens
    if settings.temperature is not None:
        body["temperature"] = settings.temperature
    return body


def _tool(tool: ToolSpec) -> dict[str, JSON]:
    function = tool["function"]
    parameters: JSON = function.get("parameters") or {"type": "object", "properties": {}}
    # Unlike in Chat Completions, a tool here is strict unless it says that it is not.
    strict = bool(function.get("parameters")) and is_strict(parameters)
    described = {"description": function["description"]} if function.get("description") else {}
    return {
        "type": "function",
        "name": function["name"],
        **described,
        "parameters": parameters,
        "strict": strict,
    }


def _items(message: Message, provider: str, model: str) -> Iterator[JSON]:
    match message["role"]:
        case "system":
            return
        case "tool":
            output = plain(message["content"])
            yield {"type": "function_call_output", "call_id": message["tool_call_id"], "output": output}
        case "assistant":
            if replayed := items(private_block(message, provider, model).get("items")):
                yield from replayed
                return
            if said := plain(message.get("content")):
                yield {"role": "assistant", "content": said}
            for call in items(message.get("tool_calls")):
                arguments = dumps(call.get("arguments") or {})
                named = {"call_id": call["id"], "name": call["name"], "arguments": arguments}
                yield {"type": "function_call", **named}
        case role:
            yield {"role": role, "content": [_part(part) for part in parts_of(message.get("content"))]}


def _part(part: Mapping[str, Any]) -> JSON:
    if part.get("type") == "image":
        return {"type": "input_image", "image_url": f"data:{part['media_type']};base64,{part['data']}"}
    return {"type": "input_text", "text": part.get("text", "")}


@dataclass(kw_only=True)
class ResponsesReply:
    """One streamed answer, read event by event. Pure."""

    vendor: str = "openai"
    model: str = ""
    complete: bool = False
    _items: dict[int, dict[str, Any]] = field(default_factory=dict[int, dict[str, Any]])
    _arguments: dict[int, list[str]] = field(default_factory=dict[int, list[str]])
    _response: dict[str, Any] = field(default_factory=dict[str, Any])
    _refused: bool = False

    def read(self, payload: dict[str, Any]) -> Iterable[ProviderEvent]:
        piece, index = text(payload.get("delta")), count(payload.get("output_index"))
        match payload.get("type"):
            case "response.output_text.delta":
                return (Saying(text=piece),) if piece else ()
            case "response.refusal.delta":
                self._refused = True
                return (Saying(text=piece),) if piece else ()
            case "response.reasoning_summary_text.delta" | "response.reasoning_text.delta":
                return (Thinking(text=piece),) if piece else ()
            case "response.reasoning_summary_part.added" if count(payload.get("summary_index")):
                return (Thinking(text="\n\n"),)
            case "response.function_call_arguments.delta":
                self._arguments.setdefault(index, []).append(piece)
            case "response.output_item.added" | "response.output_item.done":
                self._items[index] = obj(payload.get("item"))
            case "response.completed" | "response.incomplete" | "response.done":
                self._response = obj(payload.get("response"))
                self.complete = True
            case "response.failed":
                raise failures.in_stream(self.vendor, obj(payload.get("response")).get("error"))
            case "error":
                raise failures.in_stream(self.vendor, payload.get("error") or payload)
            case _:  # progress, and what is yet to be invented
                pass
        return ()

    def end(self) -> Iterator[ProviderEvent]:
        if not self.complete:
            raise failures.dropped(self.vendor, "The stream ended before the response did.")
        made = [item for _, item in sorted(self._items.items())] or items(self._response.get("output"))
        calls = {at: item for at, item in enumerate(map(obj, made)) if item.get("type") == "function_call"}
        reason = self._reason(bool(calls))
        if reason != "refusal":
            for at, item in calls.items():
                unfinished = reason == "max_tokens" and at == len(made) - 1
                yield self._draft(item).call(cut=unfinished or item.get("status") == "incomplete")
        if any(obj(item).get("type") == "reasoning" for item in made):
            yield Opaque(provider=self.vendor, block={"model": self.model, "items": made})
        if usage := obj(self._response.get("usage")):
            yield _usage(usage)
        yield Stop(reason=reason)

    def _reason(self, calls: bool) -> StopReason:
        why = obj(self._response.get("incomplete_details")).get("reason")
        if self._refused or why == "content_filter":
            return "refusal"
        if why or self._response.get("status") == "incomplete":
            return "max_tokens"
        return "tool_calls" if calls else "end"

    def _draft(self, item: dict[str, Any]) -> Draft:
        at = next((index for index, known in self._items.items() if known is item), -1)
        draft = Draft(id=text(item.get("call_id")) or text(item.get("id")), name=text(item.get("name")))
        draft.add(item.get("arguments") or "".join(self._arguments.get(at, ())))
        return draft


def _usage(usage: dict[str, Any]) -> Usage:
    return Usage(
        input=count(usage.get("input_tokens")),
        output=count(usage.get("output_tokens")),
        cached=count(obj(usage.get("input_tokens_details")).get("cached_tokens")),
        reasoning=count(obj(usage.get("output_tokens_details")).get("reasoning_tokens")),
    )


class OpenAIResponses(Remote):
    """A model behind Responses (``/responses`` is added to the address)."""

    tools_beside_schema = True

    def __init__(self, settings: Settings, *, name: str = "openai", window: int = 0) -> None:
        super().__init__(settings, name=name, window=window)

    def _url(self) -> str:
        return f"{self._settings.base_url}/responses"

    def _headers(self) -> dict[str, str]:
        return authorization(self._settings)

    def _body(
        self, messages: Sequence[Message], tools: Sequence[ToolSpec], schema: Mapping[str, JSON] | None
    ) -> dict[str, JSON]:
        return encode(self._settings, messages, tools, schema, provider=self.name)

    def _reply(self) -> ResponsesReply:
        return ResponsesReply(vendor=self.name, model=self.model)
