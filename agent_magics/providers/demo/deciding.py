"""The rules, in the order in which they are tried. The first that has a move makes it.

Pure: a situation in, one move out. What a rule needs to know about earlier steps it reads from the messages.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import Any, cast

from agent_magics.providers.demo import making, reporting
from agent_magics.providers.demo.admitting import admit
from agent_magics.providers.demo.calculating import work_out
from agent_magics.providers.demo.case import Call, Case, Move, Say
from agent_magics.providers.demo.chatting import talk
from agent_magics.providers.demo.course import Course
from agent_magics.providers.demo.following import is_follow_up, question_of
from agent_magics.providers.demo.frames import look_at_data, worth
from agent_magics.providers.demo.memory import mind_facts
from agent_magics.providers.demo.planning import plan
from agent_magics.providers.demo.reading import Done, Situation
from agent_magics.providers.demo.words import STOP, stem, words

MORE = "more"


def decide(situation: Situation) -> Move:
    """The next move in a situation."""
    case = Case(situation=situation, question=question_of(situation))
    move = next(move for rule in RULES if (move := rule(case)))
    if not case.is_resolved:
        return move
    return replace(
        move, because=(f"After what was said before I read this as: {case.question[:300]}.", *move.because)
    )


def accept_refusal(case: Case) -> Move | None:
    """A refused call is not repeated, nor is what it was for tried in another way."""
    refused = next((done for done in case.situation.now.done if done.outcome.refused), None)
    if refused is None or refused.name == making.MAKE:
        return None
    told = (
        f"Understood: `{refused.name}` was not allowed, so I leave it there and don't try it in another way."
    )
    if said := refused.outcome.comment:
        more = f"You wrote: “{reporting.escaped(said)}” To rules that is only text; put it into a new prompt."
    else:
        more = f"> {reporting.escaped(refused.outcome.error)}"
    because = "The call was refused. That is an answer, and it ends the matter."
    return Say(text=f"{told}\n\n{more}", because=(because,))


def read_on(case: Case) -> Move | None:
    """*Show me more*: the next page of the last result that was cut."""
    asked = set(map(stem, words(case.passage.clean)))
    done = case.situation.done(MORE)
    if done:
        return Say(
            text=reporting.told(MORE, done.outcome.value)
            if done.outcome.ok
            else reporting.failed(MORE, done.outcome)
        )
    if (
        not asked & {stem("more"), stem("rest"), stem("continue")}
        or len(asked) > 8
        or case.situation.tool(MORE) is None
    ):
        return None
    earlier = [done for exchange in case.situation.past for done in exchange.done]
    cut = next((done for done in reversed(earlier) if done.outcome.handle), None)
    if cut is None:
        return None
    pages = [
        done for done in earlier if done.name == MORE and done.arguments.get("handle") == cut.outcome.handle
    ]
    return Call(
        name=MORE,
        arguments={"handle": cut.outcome.handle, "page": len(pages) + 1},
        because=(f"The result of `{cut.name}` was cut; I read on under its handle.",),
    )


def read_row(case: Case) -> Move | None:
    """*And for vans?*: a row of the last result is answered from that result."""
    if not is_follow_up(case.situation.now.prompt) or case.situation.now.done or not case.situation.past:
        return None
    asked = {stem(word) for word in words(case.situation.now.prompt) if word not in STOP and word != "same"}
    for done in reversed(case.situation.past[-1].done):
        for name, value in _rows(done).items():
            if asked and asked == {stem(word) for word in words(name)}:
                text = f"In that result, {reporting.escaped(name)} has **{reporting.short(value)}**."
                return Say(text=text, because=(f"The last result of `{done.name}` has a row for it.",))
    return None


def use_tools(case: Case) -> Move | None:
    """Follow the plan, if there is one."""
    stages = plan(case)
    return Course(stages, case).move() if stages else None


def calculate(case: Case) -> Move | None:
    """Sums need no tool."""
    found = work_out(case.passage.open)
    return Say(text=found.told, because=("A sum: I work it out.",)) if found else None


def _rows(done: Done) -> dict[str, Any]:
    value = worth(done.outcome.value) if done.outcome.ok else None
    return (
        {str(name): each for name, each in cast("dict[Any, Any]", value).items()}
        if isinstance(value, dict)
        else {}
    )


RULES: tuple[Callable[[Case], Move | None], ...] = (
    accept_refusal,
    talk,
    mind_facts,
    read_on,
    read_row,
    look_at_data,
    use_tools,
    calculate,
    admit,
)
"""From what is certain to what is left when nothing else fits."""
