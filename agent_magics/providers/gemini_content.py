"""Google's generateContent, as Gemini speaks it: at Google AI and on Vertex.

``encode`` makes the request's body, :class:`ContentReply` reads the answer.
https://ai.google.dev/api/generate-content

Newer models sign their thoughts, and a signature may sit in the very part that holds a call. So a reply with
a signature keeps its parts as one opaque block, and the next request of the turn sends them back as they are.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from agent_magics.errors import BadReply
from agent_magics.providers import failures
from agent_magics.providers.calls import Draft
from agent_magics.providers.loose import count, items, obj, text
from agent_magics.providers.parts import parts_of, plain
from agent_magics.providers.remote import private_block
from agent_magics.providers.schemas import GEMINI, in_dialect
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

_REFUSALS = frozenset(
    {"SAFETY", "RECITATION", "BLOCKLIST", "PROHIBITED_CONTENT", "SPII", "IMAGE_SAFETY", "LANGUAGE"}
)
_UNREADABLE = frozenset({"MALFORMED_FUNCTION_CALL", "UNEXPECTED_TOOL_CALL", "TOO_MANY_TOOL_CALLS"})
_BUDGETS = {
    "none": 0,
    "minimal": 512,
    "low": 1024,
    "medium": 8192,
    "high": 24576,
    "xhigh": 24576,
    "max": 24576,
}
_LEVELS = {"none": "minimal", "xhigh": "high", "max": "high"}


def encode(
    settings: Settings,
    messages: Sequence[Message],
    tools: Sequence[ToolSpec],
    schema: Mapping[str, JSON] | None = None,
    *,
    provider: str = "gemini",
) -> dict[str, JSON]:
    """The body of a streamed request."""
    body: dict[str, JSON] = {"contents": _contents(messages, provider, settings.model)}
    if system := "\n\n".join(plain(one["content"]) for one in messages if one["role"] == "system"):
        body["systemInstruction"] = {"parts": [{"text": system}]}
    if tools:
        body["tools"] = [{"functionDeclarations": [_declaration(tool) for tool in tools]}]
    form: dict[str, JSON] = {}
    if schema is not None:
        form = {"responseMimeType": "application/json", "responseJsonSchema": in_dialect(schema, GEMINI)}
    if settings.max_tokens:
        form["maxOutputTokens"] = settings.max_tokens
    if settings.temperature is not None:
        form["temperature"] = settings.temperature
    if thinking := _thinking(settings.model, settings.effort):
        form["thinkingConfig"] = thinking
    if form:
        body["generationConfig"] = form
    return body


def _thinking(model: str, effort: str) -> dict[str, JSON]:
    """How to ask for thoughts: a budget up to 2.5, a level from 3 on, and nothing where there are none."""
    version = re.match(r"gemini-(\d+)(?:\.(\d+))?", model)
    number = int(version[1]) + int(version[2] or 0) / 10 if version else 0.0
    if number < 2.5:
        return {}
    shown: dict[str, JSON] = {"includeThoughts": True}
    if not effort:
        return shown
    if number < 3:
        return {**shown, "thinkingBudget": _BUDGETS.get(effort, 8192)}
    return {**shown, "thinkingLevel": _LEVELS.get(effort, effort)}


def _declaration(tool: ToolSpec) -> dict[str, JSON]:
    function = tool["function"]
    declared: dict[str, JSON] = {"name": function["name"], "description": function.get("description", "")}
    if obj(obj(function.get("parameters")).get("properties")):
        declared["parametersJsonSchema"] = function["parameters"]
    return declared


def _contents(messages: Sequence[Message], provider: str, model: str) -> list[JSON]:
    names: dict[str, str] = {}
    contents: list[dict[str, Any]] = []
    for message in messages:
        if message["role"] == "system":
            continue
        for call in items(message.get("tool_calls")):
            names[call["id"]] = call["name"]
        role = "model" if message["role"] == "assistant" else "user"
        parts = _parts(message, names, provider, model)
        if contents and contents[-1]["role"] == role:
            contents[-1]["parts"] = [*contents[-1]["parts"], *parts]
        elif parts:
            contents.append({"role": role, "parts": parts})
    return contents


def _parts(message: Message, names: Mapping[str, str], provider: str, model: str) -> list[JSON]:
    match message["role"]:
        case "tool":
            name = names.get(message["tool_call_id"], "tool")
            return [{"functionResponse": {"name": name, "response": _object(plain(message["content"]))}}]
        case "assistant":
            if replayed := items(private_block(message, provider, model).get("parts")):
                return replayed
            said = plain(message.get("content"))
            calls: list[JSON] = [
                {"functionCall": {"name": call["name"], "args": call["arguments"]}}
                for call in items(message.get("tool_calls"))
            ]
            return [{"text": said}] * bool(said) + calls
        case _:
            return [_part(part) for part in parts_of(message.get("content"))]


def _part(part: Mapping[str, Any]) -> JSON:
    if part.get("type") == "image":
        return {"inlineData": {"mimeType": part["media_type"], "data": part["data"]}}
    return {"text": part.get("text", "")}


def _object(result: str) -> dict[str, Any]:
    """A result as the object that the vendor insists on."""
    try:
        value = json.loads(result)
    except ValueError:
        value = result
    return obj(value) or {"result": value}


@dataclass(kw_only=True)
class ContentReply:
    """One streamed answer, read chunk by chunk. Pure."""

    vendor: str = "gemini"
    model: str = ""
    complete: bool = False
    _parts: list[JSON] = field(default_factory=list[JSON])
    _finish: str = ""
    _tokens: dict[str, Any] = field(default_factory=dict[str, Any])
    _blocked: str = ""

    def read(self, payload: dict[str, Any]) -> Iterator[ProviderEvent]:
        if error := payload.get("error"):
            raise failures.in_stream(self.vendor, error)
        self._tokens = obj(payload.get("usageMetadata")) or self._tokens
        self._blocked = text(obj(payload.get("promptFeedback")).get("blockReason")) or self._blocked
        candidate = obj(next(iter(items(payload.get("candidates"))), None))
        self._finish = text(candidate.get("finishReason")) or self._finish
        for part in map(obj, items(obj(candidate.get("content")).get("parts"))):
            self._parts.append(part)
            if piece := text(part.get("text")):
                yield Thinking(text=piece) if part.get("thought") is True else Saying(text=piece)

    def end(self) -> Iterator[ProviderEvent]:
        if not (self._finish or self._blocked or self.complete):
            raise failures.dropped(self.vendor, "The stream ended without saying why.")
        if self._finish in _UNREADABLE:
            raise BadReply(
                f"{self.vendor} wrote a tool call that it could not read itself.",
                f"It stopped with {self._finish}.",
                "Run the cell again.",
                retryable=True,
            )
        calls = [obj(part.get("functionCall")) for part in map(obj, self._parts) if part.get("functionCall")]
        refused = bool(self._blocked) or self._finish in _REFUSALS
        if not refused:
            yield from self._calls(calls)
        if any("thoughtSignature" in obj(part) for part in self._parts):
            yield Opaque(provider=self.vendor, block={"model": self.model, "parts": list(self._parts)})
        if self._tokens:
            yield _usage(self._tokens)
        if refused:
            yield Stop(reason="refusal", detail=self._blocked or self._finish)
        elif self._finish == "MAX_TOKENS":
            yield Stop(reason="max_tokens")
        else:  # STOP comes with calls too
            yield Stop(reason="tool_calls" if calls else "end")

    def _calls(self, calls: Iterable[dict[str, Any]]) -> Iterator[ProviderEvent]:
        *whole, last = *calls, None
        for at, call in enumerate(call for call in (*whole, last) if call):
            draft = Draft(id=text(call.get("id")), name=text(call.get("name")))
            draft.add(call.get("args"))
            yield draft.call(cut=self._finish == "MAX_TOKENS" and at == len(whole) - 1)


def _usage(tokens: dict[str, Any]) -> Usage:
    thoughts = count(tokens.get("thoughtsTokenCount"))
    return Usage(
        input=count(tokens.get("promptTokenCount")),
        output=count(tokens.get("candidatesTokenCount")) + thoughts,
        cached=count(tokens.get("cachedContentTokenCount")),
        reasoning=thoughts,
    )
