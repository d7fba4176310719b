"""``/compare``: one goal, several planners or providers, side by side.

Each of them gets the conversation as it stands, and nothing that they say becomes part of it. They run one
after the other with the session's own tools; what asks, asks as usual.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING

from agent_magics.agent.background import background
from agent_magics.agent.commands.command import Command
from agent_magics.errors import UsageError
from agent_magics.ports import Provider
from agent_magics.talk import CallRecord, Turn

if TYPE_CHECKING:
    from agent_magics.agent.session import Session

USAGE = "A B ... -- GOAL"
PLANNERS = ("native", "json", "classic")
_CELL = 240


def run(session: Session, words: str) -> str:
    specs, goal = _read(words)
    turns: list[Turn] = []
    providers: list[Provider] = []
    try:
        # All are built before one is run: a name that is not known costs nobody a minute.
        providers += [_build(session, spec) for spec in specs]
        turns += [session.ask(goal, provider=each, aside=True) for each in providers]
    finally:
        for each in providers:
            background.submit(each.aclose())
    return "\n\n".join([_table(specs, turns), *_whole_answers(specs, turns)])


def _read(words: str) -> tuple[list[str], str]:
    before, dashes, goal = f" {words} ".partition(" -- ")
    specs = before.split()
    if not dashes or not goal.strip() or len(specs) < 2:
        raise UsageError(
            "/compare needs at least two planners or providers, and a goal.",
            f"It is written /compare {USAGE}; each is native, json, classic, NAME or NAME:MODEL.",
            "For example `/compare demo llama -- How many kilometres are 26.2 miles?`.",
        )
    return specs, goal.strip()


def _build(session: Session, spec: str) -> Provider:
    if spec in PLANNERS:
        return session.build(planner=spec)
    return session.build(spec, planner=None)


def _table(specs: Sequence[str], turns: Sequence[Turn]) -> str:
    rows: dict[str, Iterable[str]] = {
        "model": (f"{turn.provider}:{turn.model}".rstrip(":") for turn in turns),
        "answer": map(_answer, turns),
        "steps": (_steps(turn.calls) for turn in turns),
        "ended": (turn.stop.replace("_", " ") for turn in turns),
        "rounds": (str(len(turn.steps)) for turn in turns),
        "tokens": (f"{turn.usage.total:,}" if turn.usage.total else "unknown" for turn in turns),
        "time": (f"{turn.seconds:.1f} s" for turn in turns),
    }
    head = ["", *(f"`{spec}`" for spec in specs)]
    lines = [[f"**{name}**", *cells] for name, cells in rows.items()]
    return "\n".join(map(_line, [head, [":--"] * len(head), *lines]))


def _line(cells: Sequence[str]) -> str:
    return f"| {' | '.join(cell.replace('|', chr(92) + '|') for cell in cells)} |"


def _answer(turn: Turn) -> str:
    said = " ".join((turn.reply or turn.error).split())
    return said if len(said) <= _CELL else f"{said[:_CELL]}…"


def _steps(calls: Sequence[CallRecord]) -> str:
    return ", ".join(f"{number}. {_step(call)}" for number, call in enumerate(calls, 1)) or "none"


def _step(call: CallRecord) -> str:
    name = call.shown.replace("`", "'")
    if call.approval and call.approval.decision == "reject":
        return f"`{name}` rejected"
    return f"`{name}` {'ok' if call.ok else 'failed'}"


def _whole_answers(specs: Sequence[str], turns: Sequence[Turn]) -> list[str]:
    """The answers that are too long or too rich for a cell of the table."""
    return [
        f"**`{spec}`**\n\n{turn.reply}"
        for spec, turn in zip(specs, turns, strict=True)
        if len(turn.reply) > _CELL or "\n" in turn.reply.strip()
    ]


COMMAND = Command(
    name="compare",
    usage=USAGE,
    summary="One goal on several planners or providers, side by side; the conversation stays as it is.",
    run=run,
)
