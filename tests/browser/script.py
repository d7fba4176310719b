"""Scripted turns: what a provider and a loop would say, as events with the pause before each."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterator

from agent_magics.talk import (
    Approval,
    ApprovalAsked,
    ApprovalGiven,
    Event,
    Noticed,
    ReplyReceived,
    RequestSent,
    Saying,
    StageDone,
    Thinking,
    ToolCall,
    ToolCalled,
    ToolMade,
    ToolResult,
    ToolReturned,
    TurnBegan,
    TurnEnded,
    Usage,
)

Played = tuple[float, Event]

MODEL = "claude-sonnet-5"
AT = 1_796_000_000.0
TOOL = "mph_to_furlongs_per_fortnight"

THINKING = """The user wants the `trips` speeds in furlongs per fortnight. I should look at the frame first \
rather than guess the column names.

A mile is 8 furlongs. A fortnight is 14 days = 336 hours. So 1 mph = 8 × 336 = 2,688 furlongs per fortnight. \
No tool in the list does that conversion; a small one is worth having because the same conversion is asked \
for every row, and the user may want it again.

I'll write `mph_to_furlongs_per_fortnight(mph)`, have it probed with 65 mph (expect 174,720), then call it \
for the three means."""

INSPECTED = """DataFrame trips: 1,284 rows × 4 columns
  vehicle   object    3 distinct: van, car, bicycle
  date      datetime  2026-01-03 … 2026-11-28
  miles     float64   mean 11.82, min 0.4, max 214.0
  mph       float64   mean 31.07, min 3.1, max 78.4
mean mph by vehicle: van 34.2, car 41.5, bicycle 11.8"""

SOURCE = '''def mph_to_furlongs_per_fortnight(mph: float, digits: int = 0) -> float:
    """Convert a speed from miles per hour to furlongs per fortnight.

    Parameters
    ----------
    mph : float
        Speed in miles per hour; must be finite and not negative.
    digits : int
        Decimal places to round to.
    """
    FURLONGS_PER_MILE = 8
    HOURS_PER_FORTNIGHT = 14 * 24
    if not (0 <= mph < float("inf")):
        raise ValueError(f"mph must be finite and >= 0, not {mph!r}")
    return round(mph * FURLONGS_PER_MILE * HOURS_PER_FORTNIGHT, digits)
'''

FACTS = (
    ("First call", "`mph=34.2`"),
    ("Probe", "`mph=65` → `174720.0` in 31 ms"),
    ("May use", "nothing outside itself: no files, network, processes or clock"),
    ("Isolation", "level A: a process of its own, confined by the kernel; 60 s, 64 MB"),
    ("Schema", "`mph` number ≥ 0, required; `digits` integer = 0"),
)

ANSWER = """The mean speeds in `trips`, converted with the new tool (1 mph = **2,688** furlongs per \
fortnight):

| vehicle | trips | mph | furlongs/fortnight |
|:--|--:|--:|--:|
| car | 611 | 41.5 | 111,552 |
| van | 402 | 34.2 | 91,930 |
| bicycle | 271 | 11.8 | 31,718 |

The factor is $8 \\times 14 \\times 24 = 2688$. To keep the column in the notebook:

```python
trips["fpf"] = trips["mph"] * 2688
trips.groupby("vehicle")["fpf"].mean().round()
```

Two things to know before you use these numbers:

- 14 trips have `mph` above 75; they look like GPS jumps and raise the car mean by about 0.6 mph.
- The mean is per *trip*, not weighted by distance.
"""

STAGES = (("check", 0.004), ("compile", 0.001), ("schema", 0.002), ("probe", 2.4))
CALLS = ((34.2, 91929.6), (41.5, 111552.0), (11.8, 31718.4))


def began(prompt: str = "How fast are my trips, by vehicle, in furlongs per fortnight?") -> Iterator[Played]:
    yield 0.0, TurnBegan(turn="t1", prompt=prompt, provider="anthropic", model=MODEL, at=AT)


def reply(
    step: int,
    text: str = "",
    thinking: str = "",
    calls: tuple[ToolCall, ...] = (),
    *,
    usage: Usage,
    thought: float = 0.0,
) -> Iterator[Played]:
    """One step: the request, its thinking and text in small pieces, the whole reply."""
    yield 0.0, RequestSent(step=step, provider="anthropic", model=MODEL, at=AT)
    for at in range(0, len(thinking), 14):
        yield 0.01, Thinking(text=thinking[at : at + 14])
    for at in range(0, len(text), 18):
        yield 0.01, Saying(text=text[at : at + 18])
    yield (
        0.0,
        ReplyReceived(
            step=step,
            text=text,
            thinking=thinking,
            calls=calls,
            stop="tool_calls" if calls else "end",
            usage=usage,
            seconds=2.0,
            at=AT,
            thought=thought,
        ),
    )


def called(
    call: ToolCall, result: object, brief: str = "", seconds: float = 0.003, ok: bool = True
) -> Iterator[Played]:
    """A call that runs and returns."""
    yield 0.0, ToolCalled(call=call, shown=call.name, at=AT)
    text = json.dumps(
        {**(result if isinstance(result, dict) else {"result": result}), "ok": ok}, ensure_ascii=False
    )
    yield (
        0.1,
        ToolReturned(
            id=call.id,
            result=ToolResult(ok=ok, text=text, size=len(text), brief=brief),
            seconds=seconds,
            at=AT,
        ),
    )


def asked(
    call: ToolCall, kind: str = "generated", source: str = SOURCE, reason: str = "", **more: object
) -> ApprovalAsked:
    return ApprovalAsked(
        id="7f3a",
        call=call,
        tool=str(more.get("tool", TOOL)),
        kind="generated" if kind == "generated" else "catalog",
        reason=reason,
        source=source,
        sha256=hashlib.sha256(source.encode()).hexdigest(),
        facts=more.get("facts", FACTS),  # type: ignore[arg-type]
        at=AT,
    )


def given(request: ApprovalAsked, approval: Approval) -> ApprovalGiven:
    return ApprovalGiven(
        id=request.id,
        call_id=request.call.id,
        decision=approval.decision,  # type: ignore[arg-type]
        by=approval.by,
        comment=approval.comment,
        sha256=request.sha256,
        seconds=approval.seconds,
        at=AT,
    )


def stopped() -> TurnEnded:
    return TurnEnded(stop="cancelled", reply="", usage=Usage(input=1800, output=100), seconds=4.0, at=AT)


def until_approval() -> Iterator[Played]:
    """The turn up to the request for approval."""
    inspect = ToolCall(id="c1", name="inspect", arguments={"name": "trips"})
    make = ToolCall(
        id="c2", name="make_tool", arguments={"name": TOOL, "description": "mph to furlongs per fortnight"}
    )
    yield from began()
    yield from reply(0, thinking=THINKING, calls=(inspect,), usage=Usage(input=700, output=140), thought=6.2)
    yield from called(inspect, INSPECTED, "1,284 × 4", 0.012)
    yield from reply(1, calls=(make,), usage=Usage(input=900, output=160))
    yield 0.0, ToolCalled(call=make, shown="make_tool", at=AT)
    for stage, seconds in STAGES:
        yield 0.1, StageDone(id="c2", tool=TOOL, stage=stage, ok=True, seconds=seconds)
    yield 0.0, asked(make)


def after_approval() -> Iterator[Played]:
    """What the script says when the tool was approved."""
    yield 0.0, ToolMade(id="c2", name=TOOL, version=1, sha256="9f2c41d7", source=SOURCE, at=AT)
    made = ToolResult(ok=True, text=json.dumps({"tool": TOOL, "version": 1, "ok": True}))
    yield 0.05, ToolReturned(id="c2", result=made, seconds=2.5, at=AT)
    calls = tuple(
        ToolCall(id=f"d{at}", name=TOOL, arguments={"mph": mph}) for at, (mph, _) in enumerate(CALLS)
    )
    yield from reply(2, calls=calls, usage=Usage(input=1800, output=120))
    for call, (_, value) in zip(calls, CALLS, strict=True):
        yield from called(call, value, f"{value:,}")
    yield from reply(3, ANSWER, usage=Usage(input=2100, output=398))
    yield 0.0, TurnEnded(stop="done", reply=ANSWER, usage=Usage(input=5500, output=818), seconds=24.2, at=AT)


def after_rejection(request: ApprovalAsked, comment: str) -> Iterator[Played]:
    """What the loop says when it was rejected."""
    error = f"The user rejected this call: {comment}" if comment else "The user rejected this call."
    result = ToolResult(ok=False, text=json.dumps({"error": error, "ok": False}), brief=error)
    yield 0.0, ToolReturned(id=request.call.id, result=result, seconds=1.0, at=AT)
    yield from reply(2, "Then I can't convert them.", usage=Usage(input=1800, output=12))
    usage = Usage(input=3400, output=312)
    yield 0.0, TurnEnded(stop="done", reply="Then I can't convert them.", usage=usage, seconds=9.1, at=AT)


def furlongs() -> Iterator[Played]:
    """The whole turn of the design's pictures."""
    yield from until_approval()
    yield from after_approval()


HOSTILE = (
    """<script>window.pwned = 1</script> <img src=x onerror="window.pwned = 2">

<button data-commandlinker-command="runmenu:run-all" class="jupyter-button">Approve</button>
<div class="agm-ask" style="position:fixed;inset:0;background:red">over everything</div>

[one](javascript:window.pwned=3) [two](data:text/html,<script>alert(4)</script>) ![pixel](http://127.0.0.1:9/p.png)

$\\href{javascript:alert(5)}{x}$ and $\\class{agm-ask}{y}$ and \\(\\style{position:fixed;inset:0}{z}\\)

| a **broken | table |
|--|
| `unclosed | *cells

**unclosed *emphasis [and link](http://

"""
    + "x" * 200
    + """ 👩‍🔬🚲 \x1b[31mred\x1b[0m \x1b]8;;javascript:alert(6)\x07link\x1b]8;;\x07

~~~html" onload="window.pwned=7
<svg onload=alert(8)>
~~~

The end of the hostile answer.
"""
)

FORMULAS = (
    """Before $x^2$.

$$\\raise{300pt}{\\text{Approved by you}}$$

$$\\begin{matrix} a \\\\[-400pt] \\text{Approved} \\end{matrix}$$

$\\Huge\\Huge{\\overset{\\overset{\\overset{a}{b}}{c}}{d}}$ $\\rlap{\\hspace{-50em} over}$

"""
    + "$"
    + "M" * 400
    + "$"
)


def hostile() -> Iterator[Played]:
    """A turn in which whoever speaks tries to act."""
    bad = ToolCall(
        id="c1", name=HOSTILE[:60], arguments={HOSTILE[:40]: HOSTILE, "small": "<b onclick=alert(1)>"}
    )
    yield from began(HOSTILE)
    yield from reply(0, HOSTILE, HOSTILE, (bad,), usage=Usage(input=10, output=10))
    yield from called(bad, HOSTILE, HOSTILE[:80])
    yield 0.0, Noticed(text=HOSTILE, at=AT)
    yield from reply(1, HOSTILE, usage=Usage(input=10, output=10))
    yield (
        0.0,
        TurnEnded(stop="provider_error", reply=HOSTILE, usage=Usage(), seconds=1.0, at=AT, error=HOSTILE),
    )


def formulas() -> Iterator[Played]:
    yield from began()
    yield from reply(0, FORMULAS, usage=Usage(input=10, output=10))
    yield 0.0, TurnEnded(stop="done", reply=FORMULAS, usage=Usage(), seconds=1.0, at=AT)


def wide() -> Iterator[Played]:
    """Long words, names, paths and cells everywhere, up to a request for approval."""
    word = "unbreakable" * 20
    call = ToolCall(id="c1", name=word, arguments={word: word, "path": f"/{word}/{word}"})
    table = f"| {word} | b |\n|--|--|\n| 1 | {word} |\n"
    text = f"{word} `{word}`\n\n{table}\n```\n{word}{word}\n```\n\n- {word}\n"
    yield from began()
    yield from reply(0, text, word, (call,), usage=Usage(input=10, output=10))
    yield 0.0, ToolCalled(call=call, shown=word, at=AT)
    yield 0.0, asked(call, "catalog", f"x = '{word}'\n", word, tool=word, facts=((word, word),))


def answering() -> Iterator[Played]:
    """The turn of the pictures in the middle of its answer, approved."""
    for pause, event in until_approval():
        yield pause, event
        if isinstance(event, ApprovalAsked):
            yield 0.0, given(event, Approval(decision="approve", by="you"))
    half = ANSWER[: ANSWER.index(" 14 \\times")]
    for pause, event in after_approval():
        if not isinstance(event, Saying | TurnEnded) and not (
            isinstance(event, ReplyReceived) and event.text
        ):
            yield pause, event
    yield 0.0, Saying(text=half)


def catalog() -> Iterator[Played]:
    """A tool of the catalog asks."""
    command = "rm -rf build/\nls -la | sort -k5 -n\n"
    call = ToolCall(id="c1", name="execute", arguments={"command": command, "cwd": "~/trips", "timeout": 60})
    yield from began("clean up and tell me what is in the data folder")
    yield from reply(0, "I'll look at the folder first.", calls=(call,), usage=Usage(input=800, output=90))
    yield 0.0, ToolCalled(call=call, shown="execute", at=AT)
    yield 0.0, asked(call, "catalog", command, "It runs a command on this machine.", tool="execute", facts=())


def states() -> Iterator[Played]:
    """Calls that went in every way a call can go, and a turn that was stopped."""
    yield from began("clean up and tell me what is in the data folder")
    calls = (
        ToolCall(id="c1", name="read", arguments={"path": "data/trips.csv", "lines": "1-40"}),
        ToolCall(id="c2", name="web_fetch", arguments={"url": "https://example.org/units"}),
        ToolCall(id="c3", name="execute", arguments={"command": "rm -rf build/"}),
        ToolCall(id="c4", name="plot", arguments={"x": "mph"}),
        ToolCall(id="c5", name="run_python", arguments={"code": "trips.plot()"}),
    )
    yield from reply(
        0,
        thinking="The folder first. Then the rest.",
        calls=calls,
        usage=Usage(input=9000, output=120),
        thought=3.1,
    )
    yield from called(calls[0], "vehicle,date,miles,mph\n" * 200, "40 lines", 0.006)
    yield from called(calls[1], {"error": "timed out after 10 s"}, "timed out after 10 s", 10.0, ok=False)
    yield 0.0, ToolCalled(call=calls[2], shown="execute", at=AT)
    request = asked(calls[2], "catalog", "rm -rf build/", tool="execute", facts=())
    yield 0.0, given(request, Approval(decision="reject", by="you", comment="not now, ask me first"))
    yield (
        0.0,
        ToolReturned(id="c3", result=ToolResult(ok=False, text='{"error": "rejected"}'), seconds=0.0, at=AT),
    )
    yield 0.0, ToolCalled(call=calls[3], shown="plot?", at=AT)
    unknown = 'unknown tool: "plot". Available: inspect, show, variables'
    missing = ToolResult(
        ok=False, text=json.dumps({"error": unknown}), brief="unknown tool, did you mean show?"
    )
    yield 0.0, ToolReturned(id="c4", result=missing, seconds=0.0, at=AT)
    yield 0.0, ToolCalled(call=calls[4], shown="run_python", at=AT)
    left = ToolResult(ok=False, text='{"error": "The call was stopped before it had a result."}')
    yield 0.0, ToolReturned(id="c5", result=left, seconds=2.2, at=AT, stopped=True)
    said = "The build folder is still there; I had read the first 40 lines of `trips.csv` and"
    yield from reply(1, said, usage=Usage(input=0, output=0))
    yield 0.0, Noticed(text="run_python was left behind; its result was discarded.", at=AT)
    usage = Usage(input=9000, output=120)
    yield 0.0, TurnEnded(stop="cancelled", reply=said, usage=usage, seconds=64.2, at=AT)


def failed() -> Iterator[Played]:
    """A provider without a key."""
    error = (
        "No API key for 'anthropic'.\nLooked in $ANTHROPIC_API_KEY and the keyring; both are empty.\n"
        "Set it with `%agent /key anthropic`, or run without one: `%agent /provider demo`."
    )
    yield from began("hello")
    yield 0.0, TurnEnded(stop="provider_error", reply="", usage=Usage(), seconds=3.0, at=AT, error=error)


BLOCKS = (
    "# A heading\n\nwith text",
    "## Another\n\n- one\n- two\n  - inner\n  - list\n\n- loose",
    "1. first\n2. second",
    "> a quotation\n> of two lines",
    "| a | b |\n|--|--:|\n| 1 | 2 |",
    "```python\nx = 1\n```",
    "$$\\frac{a}{b}$$",
    "---",
    "### Third\n\n#### Fourth",
)


def every_block() -> Iterator[Played]:
    """An answer with every kind of block, each after a piece that is long enough to be frozen before it."""
    yield from began()
    yield 0.0, RequestSent(step=0, provider="anthropic", model=MODEL, at=AT)
    text = "".join(f"{PARAGRAPH}\n\n{block}\n\n" for block in BLOCKS)
    for block in BLOCKS:
        yield 0.0, Saying(text=f"{PARAGRAPH}\n\n")
        yield 0.0, Saying(text=f"{block}\n\n")
    usage = Usage(input=700, output=140)
    yield (
        0.0,
        ReplyReceived(step=0, text=text, thinking="", calls=(), stop="end", usage=usage, seconds=1.0, at=AT),
    )
    yield 0.0, TurnEnded(stop="done", reply=text, usage=usage, seconds=1.0, at=AT)


PARAGRAPH = "A paragraph of ordinary words that is long enough to be worth a place of its own. " * 16


def streaming(minutes: float = 3.0) -> Iterator[Played]:
    """A call with a long result, three paragraphs, and then words that go on and on."""
    look = ToolCall(id="c1", name="inspect", arguments={"name": "trips"})
    yield from began()
    yield from reply(0, thinking=THINKING, calls=(look,), usage=Usage(input=700, output=140), thought=6.2)
    yield from called(look, "\n".join(f"row {number}" for number in range(60)), "60 rows", 0.012)
    yield 0.0, RequestSent(step=1, provider="anthropic", model=MODEL, at=AT)
    for number in range(3):
        yield 0.0, Saying(text=f"Part {number}. {PARAGRAPH}\n\n")
    for number in range(int(minutes * 60 / 0.05)):
        yield 0.05, Saying(text=f"word{number} " + "\n\n" * (number % 40 == 39))
