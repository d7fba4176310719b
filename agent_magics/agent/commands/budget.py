"""``/budget``: what a turn and the session may cost, and what was used."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Any

from agent_magics.agent.budget import LIMITS, Budget, Spent, amount
from agent_magics.agent.commands.command import Command
from agent_magics.errors import UsageError

if TYPE_CHECKING:
    from agent_magics.agent.session import Session

USAGE = "[session] [usd | tokens | rounds | seconds] [N | off]"


def run(session: Session, words: str) -> str:
    match words.split():
        case []:
            return _shown(session)
        case ["session", *rest]:
            session.session_budget = _changed(session.session_budget, rest)
        case rest:
            session.budget = _changed(session.budget, rest)
    return _shown(session)


def _changed(budget: Budget, words: list[str]) -> Budget:
    match words:
        case ["off"]:
            return Budget()
        case [name, "off"] if name in LIMITS:
            return _with(budget, name, None)
        case [name, number] if name in LIMITS:
            return _with(budget, name, _number(name, number))
        case _:
            raise UsageError(
                f"/budget can't take {' '.join(words)!r}.",
                "It takes what is limited, and how much of it; without them it shows what was used.",
                f"It is written /budget {USAGE}, for example `/budget usd 0.50`.",
            )


def _with(budget: Budget, name: str, value: float | None) -> Budget:
    changes: dict[str, Any] = {name: value}
    return replace(budget, **changes)


def _number(name: str, text: str) -> float:
    try:
        number = float(text.removeprefix("$"))
    except ValueError:
        raise UsageError(
            f"{text!r} is no number.", f"It counts {LIMITS[name]}.", f"For example `/budget {name} 10`."
        ) from None
    return int(number) if number.is_integer() else number


def _shown(session: Session) -> str:
    turns = session.conversation.turns
    last = session.spent_in(turns[-1]) if turns else Spent()
    all_ = session.spent
    rows = [
        f"| {LIMITS[name]} | {_cell(name, last)} | {_limit(session.budget, name)} "
        f"| {_cell(name, all_)} | {_limit(session.session_budget, name)} |"
        for name in LIMITS
    ]
    head = ["| | last turn | a turn may | session | the session may |", "|:--|--:|--:|--:|--:|"]
    return "\n".join([*head, *rows, "", f"Change it: `/budget {USAGE}`."])


def _cell(name: str, spent: Spent) -> str:
    text = amount(name, getattr(spent, name))
    if name == "usd" and spent.unpriced:
        return f"at least {text}, the rest is unknown" if spent.usd else "unknown"
    return text


def _limit(budget: Budget, name: str) -> str:
    limit = getattr(budget, name)
    return "no limit" if limit is None else f"**{amount(name, limit)}**"


COMMAND = Command(
    name="budget",
    usage=USAGE,
    summary="What a turn and the session may cost (dollars, tokens, requests, seconds), and what was used.",
    run=run,
)
