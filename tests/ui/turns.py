"""Events and turns to show."""

from __future__ import annotations

from typing import Any

from agent_magics.talk import (
    ApprovalAsked,
    ApprovalGiven,
    Decision,
    Event,
    ReplyReceived,
    RequestSent,
    ToolCall,
    ToolCalled,
    ToolResult,
    ToolReturned,
    TurnBegan,
    TurnEnded,
    Usage,
)

SOURCE = "def area(r):\n    return 3.14 * r * r\n"


def began(model: str = "m-1") -> TurnBegan:
    return TurnBegan(turn="t", prompt="p", provider="x", model=model, at=0.0)


def sent(step: int = 0) -> RequestSent:
    return RequestSent(step=step, provider="x", model="m-1", at=0.0)


def replied(
    text: str = "", thinking: str = "", *calls: ToolCall, step: int = 0, **more: Any
) -> ReplyReceived:
    fields: dict[str, Any] = {
        "stop": "tool_calls" if calls else "end",
        "usage": Usage(input=100, output=20),
    } | more
    return ReplyReceived(step=step, text=text, thinking=thinking, calls=calls, seconds=1.0, at=0.0, **fields)


def call(id_: str = "c1", name: str = "inspect", **arguments: Any) -> ToolCall:
    return ToolCall(id=id_, name=name, arguments=arguments or {"name": "trips"})


def started(of: ToolCall) -> ToolCalled:
    return ToolCalled(call=of, shown=of.name, at=0.0)


def returned(
    id_: str = "c1",
    text: str = '{"result": 7, "ok": true}',
    *,
    ok: bool = True,
    **more: Any,
) -> ToolReturned:
    brief = str(more.pop("brief", "7"))
    result = ToolResult(ok=ok, text=text, size=len(text), brief=brief)
    return ToolReturned(id=id_, result=result, seconds=0.012, at=0.0, **more)


def asked(of: ToolCall | None = None, id_: str = "7f3a", kind: str = "catalog", **more: Any) -> ApprovalAsked:
    fields: dict[str, Any] = {"source": SOURCE, "reason": "It runs code.", "sha256": "9f2c41d7" * 8} | more
    of = of or call()
    return ApprovalAsked(
        id=id_,
        call=of,
        tool=of.name,
        kind="generated" if kind == "generated" else "catalog",
        at=0.0,
        **fields,
    )


def answered(
    decision: Decision = "approve", by: str = "you", comment: str = "", id_: str = "7f3a"
) -> ApprovalGiven:
    return ApprovalGiven(
        id=id_, call_id="c1", decision=decision, by=by, comment=comment, sha256="", seconds=0.0, at=0.0
    )


def ended(reply: str = "", stop: str = "done", error: str = "") -> TurnEnded:
    return TurnEnded(
        stop=stop, reply=reply, usage=Usage(input=100, output=20), seconds=3.2, at=0.0, error=error
    )


def with_a_call(*between: Event) -> list[Event]:
    """A turn that thinks, calls a tool and answers."""
    one = call()
    return [
        began(),
        sent(),
        replied("", "Look first. Then answer.", one, thought=6.2),
        started(one),
        *between,
        returned(),
        sent(1),
        replied("It has **7** rows.", step=1),
        ended("It has **7** rows."),
    ]
