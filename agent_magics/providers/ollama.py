"""``ollama``: models that Ollama runs, on this machine or another.

Its own protocol, JSON one a line: it tells thinking apart, where its copy of OpenAI's protocol may not.
https://docs.ollama.com/api/chat
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from agent_magics.errors import ConfigError
from agent_magics.providers import failures
from agent_magics.providers.addresses import ollama_url
from agent_magics.providers.calls import Draft
from agent_magics.providers.choose import ollama_models
from agent_magics.providers.loose import count, items, obj, text
from agent_magics.providers.parts import parts_of, plain
from agent_magics.providers.remote import Remote
from agent_magics.providers.schemas import grammar_form
from agent_magics.providers.settings import Settings, Vendor, settings
from agent_magics.providers.sse import Lines
from agent_magics.talk import JSON, Message, ProviderEvent, Saying, Stop, Thinking, ToolSpec, Usage

VENDOR = Vendor(name="ollama", url="", keys=("OLLAMA_API_KEY",), endings=("/api/chat", "/api", "/v1"))


def ollama(model: str | None = None, **options: Any) -> Ollama:
    """A model of Ollama's; without a name, the one that was used last on this machine."""
    address = str(options.pop("base_url", None) or ollama_url())
    address = address if "://" in address else ollama_url(address)
    known = [] if model else ollama_models()
    if not (model or known):
        raise ConfigError(
            "Which model of Ollama?",
            f"None was named, and none was found at {ollama_url()}.",
            "Name one (`ollama:MODEL`), and get it with `ollama pull MODEL`.",
        )
    return Ollama(settings(VENDOR, model or known[0], {**options, "base_url": address}, local=True))


def encode(
    settings: Settings,
    messages: Sequence[Message],
    tools: Sequence[ToolSpec],
    schema: Mapping[str, JSON] | None = None,
) -> dict[str, JSON]:
    """The body of a streamed request."""
    names = {call["id"]: call["name"] for one in messages for call in items(one.get("tool_calls"))}
    body: dict[str, JSON] = {
        "model": settings.model,
        "messages": [_message(message, names) for message in messages],
        "stream": True,
    }
    if tools:
        body["tools"] = list(tools)
    if schema is not None:
        body["format"] = grammar_form(schema)
    if settings.effort:
        # Only gpt-oss knows levels; a model that can't think refuses either, so silence is the default.
        levels = settings.model.startswith("gpt-oss")
        body["think"] = settings.effort if levels and settings.effort != "none" else settings.effort != "none"
    options = {"num_predict": settings.max_tokens, "temperature": settings.temperature}
    if given := {name: value for name, value in options.items() if value is not None}:
        body["options"] = given
    return body


def _message(message: Message, names: Mapping[str, str]) -> Message:
    said: Message = {"role": message["role"], "content": plain(message.get("content"))}
    if message["role"] == "tool":
        said["tool_name"] = names.get(message["tool_call_id"], "")
    if calls := items(message.get("tool_calls")):
        said["tool_calls"] = [
            {"function": {"name": call["name"], "arguments": call.get("arguments") or {}}} for call in calls
        ]
    parts = list(parts_of(message.get("content")))
    if pictures := [part["data"] for part in parts if part.get("type") == "image"]:
        said["images"] = pictures
        said["content"] = plain([part for part in parts if part.get("type") != "image"])
    return said


@dataclass(kw_only=True)
class OllamaReply:
    """One streamed answer, read line by line. Pure."""

    vendor: str = "ollama"
    complete: bool = False
    _calls: list[Draft] = field(default_factory=list[Draft])
    _last: dict[str, Any] = field(default_factory=dict[str, Any])

    def read(self, payload: dict[str, Any]) -> Iterator[ProviderEvent]:
        if error := payload.get("error"):  # also in the middle, under HTTP 200
            raise failures.in_stream(self.vendor, error)
        message = obj(payload.get("message"))
        if thought := text(message.get("thinking")):
            yield Thinking(text=thought)
        if said := text(message.get("content")):
            yield Saying(text=said)
        for call in map(obj, items(message.get("tool_calls"))):
            function = obj(call.get("function"))
            draft = Draft(id=text(call.get("id")), name=text(function.get("name")))
            draft.add(function.get("arguments"))
            self._calls.append(draft)
        if payload.get("done") is True:
            self._last = payload
            self.complete = True

    def end(self) -> Iterator[ProviderEvent]:
        if not self.complete:
            raise failures.dropped(self.vendor, "The stream ended before it said that it was done.")
        cut = self._last.get("done_reason") == "length"
        for draft in self._calls:
            yield draft.call(cut=cut and draft is self._calls[-1])
        if "eval_count" in self._last or "prompt_eval_count" in self._last:
            yield Usage(
                input=count(self._last.get("prompt_eval_count")), output=count(self._last.get("eval_count"))
            )
        yield Stop(reason="max_tokens" if cut else "tool_calls" if self._calls else "end")


class Ollama(Remote):
    """A model behind Ollama's ``/api/chat``."""

    _frames = Lines
    holds = "grammar"

    def __init__(self, settings: Settings) -> None:
        super().__init__(settings, name="ollama")

    def _url(self) -> str:
        return f"{self._settings.base_url}/api/chat"

    def _headers(self) -> dict[str, str]:
        key = self._settings.key
        return {"authorization": f"Bearer {key.value}"} if key else {}

    def _body(
        self, messages: Sequence[Message], tools: Sequence[ToolSpec], schema: Mapping[str, JSON] | None
    ) -> dict[str, JSON]:
        return encode(self._settings, messages, tools, schema)

    def _reply(self) -> OllamaReply:
        return OllamaReply()
