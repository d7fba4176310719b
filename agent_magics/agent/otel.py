"""Turns as OpenTelemetry spans, by the GenAI semantic conventions.

One turn is a trace: ``invoke_agent`` holds a ``chat MODEL`` for each provider call and an ``execute_tool
NAME`` for each tool call. Two kinds of spans of our own stand below a tool: ``approval NAME``, while a person
was asked, and ``stage NAME`` of a tool that was made. A span that is current where the turn was asked for is
the parent of all.

What anybody said is left out unless it is asked for. Keys never get here: events are masked before they are
told.

The conventions are those of https://github.com/open-telemetry/semantic-conventions-genai (2026; their status
is "development"). The package ``opentelemetry`` is the extra ``otel``; it is imported with the first
:class:`OpenTelemetry`.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping, Sequence
from typing import TYPE_CHECKING, Any

from agent_magics.errors import ConfigError
from agent_magics.talk import (
    ApprovalGiven,
    Event,
    ReplyReceived,
    StageDone,
    ToolCalled,
    ToolReturned,
    TurnBegan,
    TurnEnded,
    Usage,
)

if TYPE_CHECKING:
    from opentelemetry.trace import Span, TracerProvider

AGENT = "agent_magics"
_NAMES = {"gemini": "gcp.gemini", "vertex": "gcp.vertex_ai"}
"""Providers that the conventions call otherwise."""

_FINISH = {"end": "stop", "tool_calls": "tool_calls", "max_tokens": "length", "refusal": "content_filter"}
_FAILED = frozenset({"provider_error", "context_full", "halted"})

Value = str | int | float | bool | Sequence[str]


class OpenTelemetry:
    """A view that tells turns to OpenTelemetry; for ``Session.subscribe``, or ``Session(otel=...)``.

    Parameters
    ----------
    tracer_provider : opentelemetry.trace.TracerProvider, optional
        Where spans go; by default the process's own, as the environment has set it up.
    content : bool
        Whether prompts, replies, arguments and results are told too. They may hold anything.
    conversation : str or callable
        The session's id, or what returns it.

    Raises
    ------
    ConfigError
        If OpenTelemetry is not installed.

    Examples
    --------
    >>> from agent_magics import Session
    >>> from opentelemetry.sdk.trace import TracerProvider
    >>> with Session(provider="stub", otel=OpenTelemetry(TracerProvider())) as session:
    ...     turn = session.ask("hello")
    """

    def __init__(
        self,
        tracer_provider: TracerProvider | None = None,
        *,
        content: bool = False,
        conversation: str | Callable[[], str] = "",
    ) -> None:
        try:
            from opentelemetry import trace
        except ImportError:
            raise ConfigError(
                "OpenTelemetry is not installed.",
                "It comes with the extra 'otel'.",
                "pip install 'agent-magics[otel]'",
            ) from None
        self._api = trace
        self._tracer = trace.get_tracer(AGENT, tracer_provider=tracer_provider)
        self._content = content
        self.conversation = conversation
        self._turn: Span | None = None
        self._began: TurnBegan | None = None
        self._tools: dict[str, Span] = {}

    def __call__(self, event: Event, /) -> None:
        match event:
            case TurnBegan():
                self._begin(event)
            case ReplyReceived():
                self._reply(event)
            case ToolCalled():
                self._call(event)
            case ToolReturned():
                self._result(event)
            case ApprovalGiven():
                self._part(f"approval {self._name(event.call_id)}", event.call_id, event, _approval(event))
            case StageDone():
                self._part(f"stage {event.stage}", event.id, event, _stage(event))
            case TurnEnded():
                self._end(event)
            case _:
                pass

    # -- the turn --------------------------------------------------------------------------------

    def _begin(self, event: TurnBegan) -> None:
        id_ = self.conversation if isinstance(self.conversation, str) else self.conversation()
        self._began, self._tools = event, {}
        attributes = {
            "gen_ai.operation.name": "invoke_agent",
            "gen_ai.agent.name": AGENT,
            **_model(event.provider, event.model),
            "gen_ai.conversation.id": id_,
            "agent_magics.turn.id": event.turn,
            "agent_magics.cell.id": event.cell,
        }
        self._turn = self._tracer.start_span(
            f"invoke_agent {AGENT}", attributes=_told(attributes), start_time=_time(event.at)
        )

    def _end(self, event: TurnEnded) -> None:
        if self._turn is None or self._began is None:
            return
        self._turn.set_attributes(_told({**_usage(event.usage), "agent_magics.turn.stop": event.stop}))
        if self._content:
            self._turn.set_attributes(
                {
                    "gen_ai.input.messages": _message("user", self._began.prompt),
                    "gen_ai.output.messages": _message("assistant", event.reply, event.stop),
                }
            )
        if event.stop in _FAILED:
            self._failed(self._turn, event.stop, event.error.split("\n")[0])
        for span in self._tools.values():  # none is left open, whatever happened
            span.end(_time(event.at))
        self._turn.end(_time(event.at))
        self._turn, self._tools = None, {}

    # -- its parts -------------------------------------------------------------------------------

    def _reply(self, event: ReplyReceived) -> None:
        if self._turn is None or self._began is None:
            return
        model = self._began.model
        attributes: dict[str, Value] = {
            "gen_ai.operation.name": "chat",
            **_model(self._began.provider, model),
            "gen_ai.request.stream": True,
            "gen_ai.response.finish_reasons": [_FINISH.get(event.stop, event.stop)],
            "gen_ai.response.time_to_first_chunk": event.first,
            **_usage(event.usage),
            "agent_magics.retries": len(event.retries),
        }
        if self._content:
            attributes["gen_ai.output.messages"] = _answer(event)
        span = self._start(
            f"chat {model}".rstrip(), self._turn, event.at - event.seconds, attributes, client=True
        )
        if event.stop == "failed":
            self._failed(span, "failed", "the request failed")
        span.end(_time(event.at))

    def _call(self, event: ToolCalled) -> None:
        if self._turn is None:
            return
        attributes: dict[str, Value] = {
            "gen_ai.operation.name": "execute_tool",
            "gen_ai.tool.name": event.shown,
            "gen_ai.tool.call.id": event.call.id,
            "gen_ai.tool.type": "function",
        }
        if self._content:
            attributes["gen_ai.tool.call.arguments"] = _json(dict(event.call.arguments))
        self._tools[event.call.id] = self._start(
            f"execute_tool {event.shown}", self._turn, event.at, attributes
        )

    def _result(self, event: ToolReturned) -> None:
        span = self._tools.pop(event.id, None)
        if span is None:
            return
        if self._content:
            span.set_attribute("gen_ai.tool.call.result", event.result.text)
        if not event.result.ok:
            self._failed(span, "stopped" if event.stopped else "tool_error", "the call failed")
        span.end(_time(event.at))

    def _part(
        self, name: str, call: str, event: ApprovalGiven | StageDone, attributes: Mapping[str, Value]
    ) -> None:
        parent = self._tools.get(call)
        if parent is None:
            return
        said = event.comment if isinstance(event, ApprovalGiven) else event.detail
        if self._content and said:
            attributes = {**attributes, "agent_magics.detail": said}
        span = self._start(name, parent, event.at - event.seconds, attributes)
        if isinstance(event, StageDone) and not event.ok:
            self._failed(span, "rejected", "the stage rejected it")
        span.end(_time(event.at))

    def _name(self, call: str) -> str:
        span = self._tools.get(call)
        return str(getattr(span, "name", "")).removeprefix("execute_tool ")

    def _start(
        self,
        name: str,
        parent: Span,
        at: float,
        attributes: Mapping[str, Value],
        *,
        client: bool = False,
    ) -> Span:
        kinds = self._api.SpanKind
        return self._tracer.start_span(
            name,
            context=self._api.set_span_in_context(parent),
            kind=kinds.CLIENT if client else kinds.INTERNAL,
            attributes=_told(attributes),
            start_time=_time(at),
        )

    def _failed(self, span: Span, kind: str, said: str) -> None:
        span.set_attribute("error.type", kind)
        span.set_status(self._api.Status(self._api.StatusCode.ERROR, said))


def _model(provider: str, model: str) -> dict[str, Value]:
    return {"gen_ai.provider.name": _NAMES.get(provider, provider), "gen_ai.request.model": model}


def _usage(usage: Usage) -> dict[str, Value]:
    """Tokens. A model that told none is not said to have used none."""
    if not usage.total:
        return {}
    return {
        "gen_ai.usage.input_tokens": usage.input,
        "gen_ai.usage.output_tokens": usage.output,
        "gen_ai.usage.cache_read.input_tokens": usage.cached,
        "gen_ai.usage.reasoning.output_tokens": usage.reasoning,
    }


def _approval(event: ApprovalGiven) -> dict[str, Value]:
    return {"agent_magics.approval.decision": event.decision, "agent_magics.approval.by": event.by}


def _stage(event: StageDone) -> dict[str, Value]:
    provider, _, model = event.model.partition(":")
    wrote = _model(provider, model) if event.usage.total else {}
    return {"agent_magics.stage.tool": event.tool, **wrote, **_usage(event.usage)}


def _told(attributes: Mapping[str, Value]) -> dict[str, Value]:
    """What there is to tell: no empty names, no zero times."""
    return {name: value for name, value in attributes.items() if value not in ("", 0.0) or value is False}


def _message(role: str, text: str, finish: str = "") -> str:
    message: dict[str, Any] = {"role": role, "parts": [{"type": "text", "content": text}]}
    return _json([message | ({"finish_reason": _FINISH.get(finish, "stop")} if finish else {})])


def _answer(event: ReplyReceived) -> str:
    parts: list[dict[str, Any]] = [{"type": "text", "content": event.text}] if event.text else []
    parts += [
        {"type": "tool_call", "id": call.id, "name": call.name, "arguments": dict(call.arguments)}
        for call in event.calls
    ]
    return _json(
        [{"role": "assistant", "parts": parts, "finish_reason": _FINISH.get(event.stop, event.stop)}]
    )


def _json(value: Any) -> str:
    return json.dumps(value, ensure_ascii=False, default=str)


def _time(at: float) -> int:
    """Nanoseconds since the epoch."""
    return int(at * 1e9)
