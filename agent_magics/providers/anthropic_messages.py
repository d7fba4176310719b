"""Anthropic's Messages, as Claude speaks it: at Anthropic, on Vertex, and from servers that copied it.

``encode`` makes the request's body, :class:`MessagesReply` reads the answer.
https://platform.claude.com/docs/en/build-with-claude/streaming

Thinking blocks are signed, and the vendor wants them back word for word while a turn goes on. So a reply that
has any private block keeps its whole content, in order, as one opaque block, and the next request sends that
instead of a message made anew.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, cast

from agent_magics.providers import failures
from agent_magics.providers.calls import Draft
from agent_magics.providers.halves import whole
from agent_magics.providers.loose import count, items, obj, text
from agent_magics.providers.parts import parts_of, plain
from agent_magics.providers.remote import private_block
from agent_magics.providers.schemas import ANTHROPIC, Inexpressible, in_dialect
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

CACHE = {"type": "ephemeral"}
_LONGEST, _LONGEST_OF_OLD = 32_000, 8_192

_STOPS: dict[str, StopReason] = {
    "end_turn": "end",
    "stop_sequence": "end",
    "tool_use": "tool_calls",
    "max_tokens": "max_tokens",
    "refusal": "refusal",
    "model_context_window_exceeded": "context_full",
}
_PUBLIC = ("text", "tool_use")


def encode(
    settings: Settings,
    messages: Sequence[Message],
    tools: Sequence[ToolSpec],
    schema: Mapping[str, JSON] | None = None,
    *,
    provider: str = "anthropic",
) -> dict[str, JSON]:
    """The body of a streamed request; what stays the same from round to round is marked for the cache."""
    adaptive = thinks_adaptively(settings.model)
    system = "\n\n".join(plain(one["content"]) for one in messages if one["role"] == "system")
    output: dict[str, JSON] = {}
    body: dict[str, JSON] = {
        "model": settings.model,
        "max_tokens": settings.max_tokens or (_LONGEST if adaptive else _LONGEST_OF_OLD),
        "messages": _conversation(messages, provider, settings.model),
        "stream": True,
    }
    if system:
        body["system"] = [{"type": "text", "text": system, "cache_control": CACHE}]
    if tools:
        body["tools"] = [_tool(tool) for tool in tools]
        body["tools"][-1]["cache_control"] = CACHE
    if settings.effort == "none":
        body["thinking"] = {"type": "disabled"}
    elif adaptive:
        # Newer models think by themselves and keep it to themselves unless they are asked to show it.
        body["thinking"] = {"type": "adaptive", "display": "summarized"}
    if settings.effort not in ("", "none"):
        output["effort"] = settings.effort
    if schema is not None:
        output["format"] = {"type": "json_schema", "schema": _form(schema)}
    if output:
        body["output_config"] = output
    if settings.temperature is not None:
        body["temperature"] = settings.temperature
    return body


def holds(schema: Mapping[str, JSON]) -> str:
    """How a schema can be asked for: by the API's own JSON mode, or as the parameters of a tool."""
    try:
        in_dialect(schema, ANTHROPIC)
    except Inexpressible:
        return "tool"
    return "native"


def _form(schema: Mapping[str, JSON]) -> dict[str, JSON]:
    try:
        return in_dialect(schema, ANTHROPIC)
    except Inexpressible:  # whoever asks so all the same gets the vendor's own words about it
        return dict(schema)


def thinks_adaptively(model: str) -> bool:
    """Whether ``model`` decides by itself how much to think: Claude from 4.6 on.

    >>> thinks_adaptively("claude-sonnet-5-5"), thinks_adaptively("claude-haiku-4-5-20251001")
    (True, False)
    """
    version = re.match(r"claude-[a-z]+-(\d{1,2})(?:-(\d{1,2}))?(?!\d)", model)
    return bool(version) and (int(version[1]), int(version[2] or 0)) >= (4, 6)


def _tool(tool: ToolSpec) -> dict[str, JSON]:
    function = tool["function"]
    described: dict[str, JSON] = {
        "name": function["name"],
        "input_schema": function.get("parameters") or {"type": "object", "properties": {}},
    }
    if description := function.get("description"):
        described["description"] = description
    return described


def _conversation(messages: Sequence[Message], provider: str, model: str) -> list[JSON]:
    turns: list[dict[str, Any]] = []
    for message in messages:
        if message["role"] == "system":
            continue
        role = "assistant" if message["role"] == "assistant" else "user"
        content = _content(message, provider, model)
        # The results of parallel calls belong into one message, and roles must alternate.
        if turns and turns[-1]["role"] == role:
            turns[-1]["content"] = [*turns[-1]["content"], *content]
        elif content:
            turns.append({"role": role, "content": content})
    if turns and turns[-1]["role"] == "user":
        last = turns[-1]["content"]
        turns[-1]["content"] = [*last[:-1], {**last[-1], "cache_control": CACHE}]
    return turns


def _content(message: Message, provider: str, model: str) -> list[JSON]:
    match message["role"]:
        case "tool":
            result = {"type": "tool_result", "tool_use_id": message["tool_call_id"]}
            return [{**result, "content": plain(message["content"])}]
        case "assistant":
            if replayed := items(private_block(message, provider, model).get("content")):
                return replayed
            said = plain(message.get("content"))
            calls = [
                {"type": "tool_use", "id": call["id"], "name": call["name"], "input": call["arguments"]}
                for call in items(message.get("tool_calls"))
            ]
            return [{"type": "text", "text": said}] * bool(said) + calls
        case _:
            return [part for one in parts_of(message.get("content")) if (part := _part(one))]


def _part(part: Mapping[str, Any]) -> JSON:
    if part.get("type") == "image":
        source = {"type": "base64", "media_type": part["media_type"], "data": part["data"]}
        return {"type": "image", "source": source}
    said = text(part.get("text"))
    return {"type": "text", "text": said} if said else None  # the vendor refuses empty texts


@dataclass(kw_only=True)
class MessagesReply:
    """One streamed answer, read event by event. Pure.

    A reply that the vendor paused has no stop: its opaque block is sent back, and the vendor goes on.

    Parameters
    ----------
    before : sequence
        The content of the reply before its pauses.
    """

    vendor: str = "anthropic"
    model: str = ""
    before: Sequence[JSON] = ()
    complete: bool = False
    _blocks: dict[int, dict[str, Any]] = field(default_factory=dict[int, dict[str, Any]])
    _stop: str = ""
    _tokens: dict[str, Any] = field(default_factory=dict[str, Any])

    def read(self, payload: dict[str, Any]) -> Iterable[ProviderEvent]:
        # In the order of their number: nearly every event is a delta.
        match payload.get("type"):
            case "content_block_delta":
                return self._delta(count(payload.get("index")), obj(payload.get("delta")))
            case "content_block_start":
                self._blocks[count(payload.get("index"))] = dict(obj(payload.get("content_block")))
            case "message_start":
                self._tokens |= obj(obj(payload.get("message")).get("usage"))
            case "message_delta":
                self._stop = text(obj(payload.get("delta")).get("stop_reason")) or self._stop
                told = obj(payload.get("usage"))
                self._tokens |= {name: value for name, value in told.items() if value}
            case "message_stop":
                self.complete = True
            case "error":
                raise failures.in_stream(self.vendor, payload.get("error"))
            case _:  # pings, and what is yet to be invented
                pass
        return ()

    def _delta(self, index: int, delta: dict[str, Any]) -> Iterable[ProviderEvent]:
        block = self._blocks.setdefault(index, {"type": "text"})
        match delta.get("type"):
            case "text_delta":
                return self._grow(block, "text", text(delta.get("text")))
            case "thinking_delta":
                return self._grow(block, "thinking", text(delta.get("thinking")))
            case "input_json_delta":
                self._grow(block, "partial", text(delta.get("partial_json")))
            case "signature_delta":
                self._grow(block, "signature", text(delta.get("signature")))
            case _:  # citations and the like belong to tools that we don't offer
                pass
        return ()

    def _grow(self, block: dict[str, Any], name: str, piece: str) -> Iterable[ProviderEvent]:
        # Kept in pieces: adding to a long text again and again would copy it each time.
        pieces = block.get(name)
        if isinstance(pieces, list):
            cast("list[str]", pieces).append(piece)
        else:
            block[name] = [text(pieces), piece]
        if not piece:
            return ()
        if name == "text":
            return (Saying(text=piece),)
        return (Thinking(text=piece),) if name == "thinking" else ()

    def end(self) -> Iterator[ProviderEvent]:
        if not (self.complete or self._stop):
            raise failures.dropped(self.vendor, "The stream ended before the message did.")
        blocks = [_joined(block) for _, block in sorted(self._blocks.items())]
        drafts = {at: _draft(block) for at, block in enumerate(blocks) if block.get("type") == "tool_use"}
        reason: StopReason = _STOPS.get(self._stop, "tool_calls" if drafts else "end")
        if reason != "refusal":
            for at, draft in drafts.items():
                unfinished = reason in ("max_tokens", "context_full") and at == len(blocks) - 1
                yield draft.call(cut=unfinished)
        paused = self._stop == "pause_turn"
        if paused or self.before or any(block.get("type") not in _PUBLIC for block in blocks):
            content = [*self.before, *(_replayable(block) for block in blocks)]
            yield Opaque(provider=self.vendor, block={"model": self.model, "content": content})
        if self._tokens:
            yield _usage(self._tokens)
        if not paused:
            yield Stop(reason=reason)


def _joined(block: dict[str, Any]) -> dict[str, Any]:
    pieced = ("text", "thinking", "partial", "signature")
    joined = {
        name: whole("".join(items(block[name]))) for name in pieced if isinstance(block.get(name), list)
    }
    return {**block, **joined}


def _draft(block: dict[str, Any]) -> Draft:
    draft = Draft(id=text(block.get("id")), name=text(block.get("name")))
    draft.add(block.get("partial") or block.get("input"))
    return draft


def _replayable(block: dict[str, Any]) -> dict[str, Any]:
    """The block as the vendor wants it back: its own fields, with the pieces put together."""
    sent = dict(block)
    if partial := sent.pop("partial", ""):
        try:
            sent["input"] = json.loads(partial)
        except ValueError:
            sent["input"] = {}
    return sent


def _usage(tokens: dict[str, Any]) -> Usage:
    read, written = (
        count(tokens.get("cache_read_input_tokens")),
        count(tokens.get("cache_creation_input_tokens")),
    )
    return Usage(
        input=count(tokens.get("input_tokens")) + read + written,
        output=count(tokens.get("output_tokens")),
        cached=read,
        reasoning=count(obj(tokens.get("output_tokens_details")).get("thinking_tokens")),
    )
