"""OpenAI's Chat Completions: the protocol that nearly every server speaks, each a little differently.

``encode`` makes the request's body, :class:`ChatReply` reads the answer, :class:`OpenAIChat` puts them on the
wire. https://platform.openai.com/docs/api-reference/chat-streaming

What servers do that the page does not say, and what is done about it: the arguments of a call come in pieces
or empty or as an object; a later piece may carry ``name: ""``; parallel calls may share an index; the chunk
with the tokens has no choices, or never comes; an error object may come inside a chunk; thinking is called
``reasoning_content`` or ``reasoning``; ``finish_reason`` may say ``stop`` although there are calls;
``[DONE]`` may be missing.
"""

from __future__ import annotations

import os
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from agent_magics.providers import failures
from agent_magics.providers.calls import Draft
from agent_magics.providers.exchange import whole
from agent_magics.providers.loose import count, dumps, items, obj, text
from agent_magics.providers.parts import parts_of, plain
from agent_magics.providers.remote import Remote
from agent_magics.providers.schemas import Form, strict_form
from agent_magics.providers.settings import Settings
from agent_magics.talk import (
    JSON,
    Message,
    ProviderEvent,
    Saying,
    Stop,
    Thinking,
    ToolSpec,
    Usage,
)
from agent_magics.talk.events import StopReason

OFFICIAL = "api.openai.com"
_PAYERS = {"openai-organization": "OPENAI_ORG_ID", "openai-project": "OPENAI_PROJECT_ID"}

_STOPS: dict[str, StopReason] = {
    "length": "max_tokens",
    "content_filter": "refusal",
    "tool_calls": "tool_calls",
    "function_call": "tool_calls",
}


def encode(
    settings: Settings,
    messages: Sequence[Message],
    tools: Sequence[ToolSpec],
    schema: Mapping[str, JSON] | None = None,
    *,
    form: Form = strict_form,
) -> dict[str, JSON]:
    """The body of a streamed request; ``form`` puts a schema as the server takes it."""
    body: dict[str, JSON] = {
        "model": settings.model,
        "messages": [_message(message) for message in messages],
        "stream": True,
        "stream_options": {"include_usage": True},
    }
    if tools:
        body["tools"] = list(tools)
    if schema is not None:
        put, binds = form(schema)
        answer = {"name": "answer", "schema": put, "strict": binds}
        body["response_format"] = {"type": "json_schema", "json_schema": answer}
    if settings.max_tokens:
        # OpenAI's newer models refuse `max_tokens`; the servers that copied the older API know only that.
        official = OFFICIAL in settings.base_url
        body["max_completion_tokens" if official else "max_tokens"] = settings.max_tokens
    if settings.effort:
        body["reasoning_effort"] = settings.effort
    if settings.temperature is not None:
        body["temperature"] = settings.temperature
    return body


def _message(message: Message) -> Message:
    match message["role"]:
        case "tool":
            return {
                "role": "tool",
                "tool_call_id": message["tool_call_id"],
                "content": plain(message["content"]),
            }
        case "assistant":
            said: Message = {"role": "assistant", "content": plain(message.get("content"))}
            if calls := message.get("tool_calls"):
                said["tool_calls"] = [_call(call) for call in calls]
            return said
        case role:
            return {"role": role, "content": _content(message.get("content"))}


def _content(content: Any) -> JSON:
    if isinstance(content, str):
        return content
    return [_part(part) for part in parts_of(content)]


def _part(part: Mapping[str, Any]) -> JSON:
    if part.get("type") == "image":
        return {"type": "image_url", "image_url": {"url": f"data:{part['media_type']};base64,{part['data']}"}}
    return {"type": "text", "text": part.get("text", "")}


def _call(call: Mapping[str, Any]) -> JSON:
    function = {"name": call["name"], "arguments": dumps(call.get("arguments") or {})}
    return {"id": call["id"], "type": "function", "function": function}


@dataclass(kw_only=True)
class ChatReply:
    """One streamed answer, read chunk by chunk. Pure."""

    vendor: str = "openai"
    complete: bool = False
    _drafts: list[tuple[int, Draft]] = field(default_factory=list[tuple[int, Draft]])
    _finish: str = ""
    _usage: Usage | None = None
    _refused: bool = False

    def read(self, payload: dict[str, Any]) -> Iterable[ProviderEvent]:
        choice = obj(next(iter(items(payload.get("choices"))), None))
        delta = obj(choice.get("delta"))
        # Nearly every chunk is one piece of text and nothing else: it takes the short way.
        alone = len(delta) == 1 and choice.get("finish_reason") is None and "error" not in payload
        if alone and (said := text(delta.get("content"))):
            return (Saying(text=said),)
        return self._read(payload, choice, delta)

    def _read(
        self, payload: dict[str, Any], choice: dict[str, Any], delta: dict[str, Any]
    ) -> Iterator[ProviderEvent]:
        if error := payload.get("error"):
            raise failures.in_stream(self.vendor, error)
        self._finish = text(choice.get("finish_reason")) or self._finish
        if usage := obj(payload.get("usage")):
            self._usage = _usage(usage)
        yield from self._delta(delta)

    def _delta(self, delta: dict[str, Any]) -> Iterator[ProviderEvent]:
        if thought := text(delta.get("reasoning_content")) or text(delta.get("reasoning")):
            yield Thinking(text=thought)
        if said := text(delta.get("content")):
            yield Saying(text=said)
        if refusal := text(delta.get("refusal")):
            self._refused = True
            yield Saying(text=refusal)
        for piece in items(delta.get("tool_calls")):
            self._piece(obj(piece))

    def _piece(self, piece: dict[str, Any]) -> None:
        function = obj(piece.get("function"))
        name, key = text(function.get("name")), text(piece.get("id"))
        draft = self._draft(piece.get("index"), key, name)
        draft.name = draft.name or name
        draft.id = draft.id or key
        draft.add(function.get("arguments"))

    def _draft(self, index: Any, key: str, name: str) -> Draft:
        at = index if isinstance(index, int) else len(self._drafts) - (0 if name else 1)
        same = [draft for number, draft in self._drafts if number == at]
        # Some servers give all parallel calls one index: another id with a name begins another call.
        if same and not (key and name and same[-1].id and same[-1].id != key):
            return same[-1]
        self._drafts.append((at, Draft()))
        return self._drafts[-1][1]

    def end(self) -> Iterator[ProviderEvent]:
        if not (self._finish or self.complete):
            raise failures.dropped(self.vendor, "The stream ended without saying why.")
        reason: StopReason = _STOPS.get(self._finish, "tool_calls" if self._drafts else "end")
        if self._refused:
            reason = "refusal"
        if reason != "refusal":
            last = len(self._drafts) - 1
            for at, (_, draft) in enumerate(self._drafts):
                yield draft.call(cut=reason == "max_tokens" and at == last)
        if self._usage:
            yield self._usage
        yield Stop(reason=reason)


def _usage(usage: dict[str, Any]) -> Usage:
    return Usage(
        input=count(usage.get("prompt_tokens")),
        output=count(usage.get("completion_tokens")),
        cached=count(obj(usage.get("prompt_tokens_details")).get("cached_tokens")),
        reasoning=count(obj(usage.get("completion_tokens_details")).get("reasoning_tokens")),
    )


def as_chunk(answer: dict[str, Any]) -> dict[str, Any]:
    """A whole answer as the one chunk that says all of it."""
    choice = obj(next(iter(items(answer.get("choices"))), None))
    return {**answer, "choices": [{**choice, "delta": obj(choice.get("message"))}]}


class OpenAIChat(Remote):
    """A model behind Chat Completions, at any address (to which ``/chat/completions`` is added)."""

    tools_beside_schema = True

    def __init__(
        self,
        settings: Settings,
        *,
        name: str = "openai",
        window: int = 0,
        direct: bool = False,
        form: Form = strict_form,
    ) -> None:
        super().__init__(settings, name=name, window=window, direct=direct)
        self._form = form

    async def once(
        self,
        messages: Sequence[Message],
        tools: Sequence[ToolSpec],
        *,
        schema: Mapping[str, JSON] | None = None,
    ) -> list[ProviderEvent]:
        # In one piece: nobody watches it arrive, and a stream costs both sides more.
        body = self._body(messages, tools, schema) | {"stream": False}
        body.pop("stream_options", None)
        return await whole(self._wire, self._request(body), self._reply(), as_chunk)

    def _url(self) -> str:
        return f"{self._settings.base_url}/chat/completions"

    def _headers(self) -> dict[str, str]:
        return authorization(self._settings)

    def _body(
        self, messages: Sequence[Message], tools: Sequence[ToolSpec], schema: Mapping[str, JSON] | None
    ) -> dict[str, JSON]:
        return encode(self._settings, messages, tools, schema, form=self._form)

    def _reply(self) -> ChatReply:
        return ChatReply(vendor=self.name)


def authorization(settings: Settings) -> dict[str, str]:
    """The key as OpenAI and its kin want it, and who pays, if that is set."""
    headers = {"authorization": f"Bearer {settings.key.value}"} if settings.key else {}
    if OFFICIAL in settings.base_url:
        for header, variable in _PAYERS.items():
            if value := os.environ.get(variable, "").strip():
                headers[header] = value
    return headers
