"""A turn with everything that a trace can show, for looking at."""

from __future__ import annotations

from typing import Any

from agent_magics.agent.commands.trace import of_all, of_one
from agent_magics.talk import Approval, CallRecord, Retry, Stage, Step, ToolCall, ToolResult, Turn, Usage
from agent_magics.talk.trace import trace
from agent_magics.ui.trace import bundle

T = 1_790_000_000.0


def call(id_: str, name: str, at: float, seconds: float, *, ok: bool = True, **more: Any) -> CallRecord:
    result = ToolResult(ok=ok, text="{}")
    named = ToolCall(id=id_, name=name)
    return CallRecord(call=named, shown=name, result=result, at=T + at, seconds=seconds, **more)


def stage(name: str, at: float, seconds: float, detail: str = "") -> Stage:
    return Stage(tool="leagues", name=name, ok=True, detail=detail, seconds=seconds, at=T + at)


MADE = call(
    "d",
    "make_tool",
    7.75,
    2.9,
    made="leagues",
    approval=Approval(decision="approve", by="you", seconds=6.2, at=T + 10.3),
    stages=(
        stage("check", 7.8, 0.35, "12 lines"),
        stage("compile", 8.15, 0.08),
        stage("schema", 8.24, 0.03, "km"),
        stage("probe", 8.3, 1.9, "26.2 → 5.4"),
        stage("save", 16.6, 0.1, "version 1"),
    ),
)
OVERLOADED = Retry(after=0.4, delay=1.5, why="HTTP 529: overloaded")
TURN = Turn(
    id="t",
    prompt="How far do the trips go in leagues, and which vehicle is the fastest?",
    provider="openai",
    model="gpt-5-mini",
    began=T,
    seconds=21.4,
    stop="done",
    usage=Usage(input=10_500, output=700),
    steps=(
        Step(
            at=T + 0.02,
            seconds=2.4,
            first=0.9,
            usage=Usage(input=1800, output=120),
            calls=(
                call("a", "variables", 2.45, 0.012),
                call("b", "inspect", 2.45, 0.3),
                call("c", "web_lookup", 2.46, 1.1, ok=False),
            ),
        ),
        Step(
            at=T + 3.6,
            seconds=4.1,
            first=2.9,
            retries=(OVERLOADED,),
            usage=Usage(input=2600, output=340),
            calls=(MADE,),
        ),
        Step(
            at=T + 16.9,
            seconds=1.4,
            first=0.6,
            usage=Usage(input=3000, output=60),
            calls=(call("e", "leagues", 18.4, 0.02), call("f", "run_python", 18.5, 0.4)),
        ),
        Step(at=T + 19.0, seconds=2.4, first=0.5, usage=Usage(input=3100, output=180)),
    ),
)
SHORT = Turn(
    id="s",
    prompt="Hello there.",
    provider="demo",
    model="rules",
    began=T,
    seconds=0.9,
    stop="done",
    usage=Usage(input=20, output=4),
    steps=(Step(at=T, seconds=0.9, first=0.1, usage=Usage(input=20, output=4)),),
)


def price(provider: str, model: str, usage: Usage) -> float:
    return 0.0 if provider == "demo" else (usage.input * 1.25 + usage.output * 10) / 1e6


def shown() -> tuple[dict[str, Any], dict[str, Any]]:
    """One turn, and both."""
    one, short = trace(TURN, price, number=2), trace(SHORT, price, number=1)
    return bundle([one], of_one(one)), bundle([short, one], of_all([short, one]))
