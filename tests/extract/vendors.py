"""Every vendor with a JSON mode of its own, at a scripted server: who to build, and how it says a text."""

from __future__ import annotations

import json
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

from agent_magics.ports import Provider
from agent_magics.providers import Registry
from agent_magics.providers.settings import Settings
from agent_magics.providers.vertex import Vertex
from tests.providers.servers import END, SSE_HEAD, Chunk, Step, answer, sse

PROPS = {"default_generation_settings": {"n_ctx": 4096}}
KEY = "planted-extract-key-0123456789"


@dataclass(frozen=True, kw_only=True)
class Vendor:
    """``say(text, stop)`` is an answer on the wire; ``stop`` is ``end``, ``cut`` or ``refused``.

    ``schema`` finds what the body of a request asks for; ``first`` comes before the first answer.
    """

    build: Callable[[str], Provider]
    say: Callable[[str, str], Sequence[Step]]
    schema: Callable[[Any], Any]
    refuses: bool = True
    first: tuple[Sequence[Step], ...] = ()


def pieces(text: str) -> list[str]:
    return [text[at : at + 7] for at in range(0, len(text), 7)]


def chat(text: str, stop: str) -> Sequence[Step]:
    finish = {"end": "stop", "cut": "length", "refused": "content_filter"}[stop]
    choices = [{"delta": {"content": piece}} for piece in pieces(text)]
    payloads = [{"choices": [{"index": 0, **choice}]} for choice in choices]
    payloads.append({"choices": [{"index": 0, "delta": {}, "finish_reason": finish}]})
    return sse(*payloads, {"choices": [], "usage": {"prompt_tokens": 5, "completion_tokens": 3}})


def responses(text: str, stop: str) -> Sequence[Step]:
    kind = "refusal" if stop == "refused" else "output_text"
    payloads: list[Any] = [{"type": f"response.{kind}.delta", "delta": piece} for piece in pieces(text)]
    response: dict[str, Any] = {"status": "completed", "usage": {"input_tokens": 5, "output_tokens": 3}}
    if stop == "cut":
        response |= {"status": "incomplete", "incomplete_details": {"reason": "max_output_tokens"}}
    payloads.append({"type": f"response.{response['status']}", "response": response})
    return sse(*payloads, done=False)


def messages(text: str, stop: str) -> Sequence[Step]:
    reason = {"end": "end_turn", "cut": "max_tokens", "refused": "refusal"}[stop]
    deltas = [
        {"type": "content_block_delta", "index": 0, "delta": {"type": "text_delta", "text": piece}}
        for piece in pieces(text)
    ]
    return sse(
        {"type": "message_start", "message": {"usage": {"input_tokens": 5}}},
        {"type": "content_block_start", "index": 0, "content_block": {"type": "text", "text": ""}},
        *deltas,
        {"type": "message_delta", "delta": {"stop_reason": reason}, "usage": {"output_tokens": 3}},
        {"type": "message_stop"},
        done=False,
    )


def gemini(text: str, stop: str) -> Sequence[Step]:
    finish = {"end": "STOP", "cut": "MAX_TOKENS", "refused": "SAFETY"}[stop]
    payloads: list[Any] = [{"candidates": [{"content": {"parts": [{"text": one}]}}]} for one in pieces(text)]
    usage = {"promptTokenCount": 5, "candidatesTokenCount": 3}
    payloads.append({"candidates": [{"finishReason": finish}], "usageMetadata": usage})
    return sse(*payloads, done=False)


def ollama(text: str, stop: str) -> Sequence[Step]:
    lines: list[Any] = [{"message": {"content": piece}, "done": False} for piece in pieces(text)]
    reason = "length" if stop == "cut" else "stop"
    lines.append({"done": True, "done_reason": reason, "prompt_eval_count": 5, "eval_count": 3})
    return [SSE_HEAD, *(Chunk(json.dumps(line).encode() + b"\n") for line in lines), END]


class _SignedIn:
    """Google's credentials, still good."""

    valid = True
    token = "ya29.planted"


def _vertex(model: str) -> Callable[[str], Provider]:
    return lambda url: Vertex(Settings(model=model, base_url=url), _SignedIn())


def _at(spec: str, **options: Any) -> Callable[[str], Provider]:
    return lambda url: Registry().build(spec, base_url=url, api_key=KEY, **options)


def _chat_schema(body: Any) -> Any:
    return body["response_format"]["json_schema"]["schema"]


def _claude_schema(body: Any) -> Any:
    return body["output_config"]["format"]["schema"]


def _gemini_schema(body: Any) -> Any:
    return body["generationConfig"]["responseJsonSchema"]


VENDORS = {
    "openai chat": Vendor(build=_at("openai:gpt-4o", api="chat"), say=chat, schema=_chat_schema),
    "openai responses": Vendor(
        build=_at("openai:gpt-6.1-terra", api="responses"),
        say=responses,
        schema=lambda body: body["text"]["format"]["schema"],
    ),
    "anthropic": Vendor(build=_at("anthropic:claude-sonnet-5-5"), say=messages, schema=_claude_schema),
    "gemini": Vendor(build=_at("gemini:gemini-3.8-flash"), say=gemini, schema=_gemini_schema),
    "ollama": Vendor(
        build=_at("ollama:qwen3"), say=ollama, schema=lambda body: body["format"], refuses=False
    ),
    "llama server": Vendor(build=_at("llama"), say=chat, schema=_chat_schema, first=(answer(200, PROPS),)),
    "vertex claude": Vendor(build=_vertex("claude-sonnet-5-5"), say=messages, schema=_claude_schema),
    "vertex gemini": Vendor(build=_vertex("gemini-3.8-flash"), say=gemini, schema=_gemini_schema),
}
