"""Turns of many shapes, and what they take in a saved notebook."""

from __future__ import annotations

import json

import nbformat

from agent_magics.talk import CallRecord, Step, ToolCall, ToolResult, Turn
from agent_magics.ui.settled import bundle

LINKED = "Some words, as answers have them, with `code`, **bold** and a [link](https://x.org). "
PARAGRAPH = "Some words, as answers have them, with `code` and **bold**. " * 4 + LINKED + "\n\n"
TABLE = "| name | a | b | c |\n|:--|--:|--:|--:|\n" + "".join(
    f"| row {row} | {row} | {2 * row} | {3 * row} |\n" for row in range(300)
)
CODE = "```python\n" + "def f(x):\n    return [y * 2 for y in x if y > 0]  # twice\n" * 200 + "```\n"
LIST = "".join(f"- item {number} of a long list\n" for number in range(500))
SMALL = "It has **7** rows and 4 columns; `mph` is the only one with missing values (3 of 7)."


def _turn(text: str, *calls: CallRecord, thinking: str = "") -> Turn:
    before = (Step(thinking=thinking, calls=calls, stop="tool_calls"),) if calls or thinking else ()
    steps = (*before, Step(text=text, stop="end"))
    return Turn(id="0123456789ab", prompt="How big is df?", model="m-1", steps=steps, reply=text, stop="done")


def _call(number: int, size: int, code: str = "") -> CallRecord:
    text = json.dumps({"result": ("word " * size)[:size], "ok": True})
    call = ToolCall(id=f"c{number}", name="run_python", arguments={"code": code or f"df.head({number})"})
    return CallRecord(call=call, shown="run_python", result=ToolResult(ok=True, text=text, size=len(text)))


SHAPES = {
    "a short answer": _turn(SMALL),
    "three calls": _turn(SMALL, *(_call(number, 400, CODE[10:400]) for number in range(3))),
    "a page": _turn(PARAGRAPH * 8, thinking="First this, then that. " * 40),
    "a long report": _turn(PARAGRAPH * 600),
    "a table of 300 rows": _turn(TABLE),
    "400 lines of code": _turn(CODE),
    "a list of 500": _turn(LIST),
    "25 long results": _turn("Done.", *(_call(number, 15_000) for number in range(25))),
}
"""What answers are like."""

EXTREMES = {
    "3,000 links": _turn((LINKED * 5 + "\n\n") * 600),
    "1,000 rows of one letter": _turn("| a | b | c |\n|--|--|--|\n" + "| 1 | 2 | 3 |\n" * 1_000),
    "1,000 headings": _turn("# a\n" * 1_000),
    "1,000 formulas": _turn("".join(f"$x_{number}$ " for number in range(1_000))),
    "12 calls": _turn(SMALL, *(_call(number, 1) for number in range(12))),
    "25 calls with next to nothing": _turn("Done.", *(_call(number, 1) for number in range(25))),
}
"""What answers are not like: all markup, and hardly any text. Measured, but not promised."""


def text_of(turn: Turn) -> int:
    """Bytes of the turn's own text: the prompt, and what was thought, said, asked for and returned."""
    texts = [turn.prompt]
    for step in turn.steps:
        texts += [step.text, step.thinking]
        for call in step.calls:
            texts += [json.dumps(dict(call.arguments)), call.result.text if call.result else ""]
    return sum(len(text.encode()) for text in texts)


def grown(turn: Turn) -> int:
    """Bytes by which a saved notebook grows with this turn in a cell's output."""
    cell = nbformat.v4.new_code_cell(f"%%agent\n{turn.prompt}")
    book = nbformat.v4.new_notebook(cells=[cell])
    before = len(nbformat.writes(book).encode())
    cell.outputs = [nbformat.v4.new_output("display_data", data=bundle(turn))]
    return len(nbformat.writes(book).encode()) - before
