"""``agent-magics`` in a process of its own, with providers that a test needs; run as a script.

    python program.py ask -p scripted:approval "go"

The model's name says what the scripted provider plays.
"""

from __future__ import annotations

import asyncio
import signal
import sys
from typing import Any

import agent_magics
from agent_magics import tool
from agent_magics.cli import main
from agent_magics.errors import Halt, Unreachable
from agent_magics.front import Front, install
from agent_magics.talk import Saying, Stop, ToolCall
from agent_magics.testing import Hang, ScriptedProvider

REMOVE = ToolCall(id="c1", name="remove", arguments={"path": "a\u202etxt.exe", "note": "x\x1b[2Jy"})

SCRIPTS: dict[str, list[Any]] = {
    "two-steps": [
        [Saying(text="Let me add."), ToolCall(id="c1", name="add", arguments={"a": 1, "b": 2})],
        "It is 3.",
    ],
    "hang": [[Saying(text="Once upon"), Hang()], "Hello again!"],
    "sleep": [ToolCall(id="c1", name="sleep"), "Hello again!"],
    "approval": [REMOVE, REMOVE, "Done."],
    "failure": [[Saying(text="Half an"), Unreachable("No connection.", "The cable is out.", "Plug it in.")]],
    "truncated": [[Saying(text="Too lo"), Stop(reason="max_tokens")]],
    "refusal": [[Saying(text="I won't."), Stop(reason="refusal")]],
    "window": [[Stop(reason="context_full")]],
    "halt": [ToolCall(id="c1", name="halt")],
    "circle": [*[ToolCall(id="c1", name="add", arguments={"a": 1, "b": 2})] * 4, "That is all."],
    "long": [[Saying(text="word ")] * 200_000],
    "echo": [lambda messages: messages[-1]["content"]],
    "codes": ["\x1b[2J\x1b]0;title\x07plain"],
}


@tool
def add(a: int, b: int) -> int:
    return a + b


@tool
def halt() -> None:
    raise Halt("Enough.")


@tool
def sleep() -> None:
    import threading

    print("asleep", file=sys.stderr, flush=True)
    threading.Event().wait(60)


@tool(asks=True)
def remove(path: str, note: str) -> str:
    return f"removed {len(path)} characters"


@agent_magics.provider("scripted")
def scripted(model: str = "", **options: Any) -> ScriptedProvider:
    return ScriptedProvider(SCRIPTS[model])


def impatient() -> int:
    """A question that waits for half a second only."""
    from agent_magics.cli.screen import answer_and_progress
    from agent_magics.terminal import Terminal

    terminal = Terminal(answer_and_progress())
    with agent_magics.Session("scripted:approval", asker=terminal, waiter=terminal) as session:
        session.permission.patience = 0.5
        session.ask("go")
    return 0


def script() -> int:
    """A program of somebody's own, which prints the reply itself."""
    with agent_magics.Session("scripted:approval", tools=[remove]) as session:
        print(f"reply: {session.ask('go').reply}")
        session.provider = "scripted:approval"
        print(f"awaited: {asyncio.run(session.ask_async('go')).calls[0].approval}")
    return 0


if __name__ == "__main__":
    signal.signal(signal.SIGINT, signal.default_int_handler)  # in the background of a shell it is ignored
    if sys.argv[1:] == ["script"]:
        sys.exit(script())
    lent = Front(asker=None, waiter=None, tools=(add, halt, sleep, remove))  # type: ignore[arg-type]  # pyright: ignore[reportArgumentType]
    install(lambda: lent, None)
    sys.exit(impatient() if sys.argv[1:] == ["impatient"] else main())
