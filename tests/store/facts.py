"""Facts of small turns, as the loop tells them."""

from __future__ import annotations

from collections.abc import Iterable

from agent_magics.talk import (
    ApprovalAsked,
    ApprovalGiven,
    HistoryFact,
    Noticed,
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


def texts(facts: Iterable[HistoryFact]) -> list[str]:
    """The texts of these notes; nothing else may be among them."""
    told: list[str] = []
    for fact in facts:
        assert isinstance(fact, Noticed)
        told.append(fact.text)
    return told


def note(text: str = "hello") -> Noticed:
    return Noticed(text=text, at=1.0)


def a_turn(
    name: str = "t", prompt: str = "What is in the file?", reply: str = "Ten lines."
) -> list[HistoryFact]:
    """A turn with one tool call that was approved: ten facts."""
    call = ToolCall(id=f"{name}-c", name="read_file", arguments={"path": "a.txt", "lines": 10})
    usage = Usage(input=900, output=40)
    given = {"thinking": "", "usage": usage, "seconds": 1.0, "at": 3.0}
    return [
        TurnBegan(turn=name, prompt=prompt, provider="p", model="m", at=1.0, cell="c1"),
        RequestSent(step=0, provider="p", model="m", at=2.0),
        ReplyReceived(step=0, text="Let me look.", calls=(call,), stop="tool_calls", **given),
        ToolCalled(call=call, shown="read_file", at=4.0),
        ApprovalAsked(
            id="a", call=call, tool="read_file", kind="catalog", reason="", source="", sha256="0", at=5.0
        ),
        ApprovalGiven(id="a", call_id=call.id, decision="approve", by="you", sha256="0", seconds=1.0, at=6.0),
        ToolReturned(id=call.id, result=ToolResult(ok=True, text='{"lines": 10}'), seconds=2.0, at=7.0),
        RequestSent(step=1, provider="p", model="m", at=8.0),
        ReplyReceived(step=1, text=reply, calls=(), stop="end", **given),
        TurnEnded(stop="done", reply=reply, usage=usage + usage, seconds=9.0, at=10.0),
    ]
