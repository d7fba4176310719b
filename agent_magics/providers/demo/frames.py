"""The rule for data: look before you compute.

A name that the question speaks of is first looked for among ``variables``, then looked at with ``inspect``;
only then is code composed, from the columns seen, and handed to ``run_python``, which asks a person. Each
step is skipped where its tool isn't offered. Without ``run_python`` the code is shown instead.
"""

from __future__ import annotations

from dataclasses import replace
from typing import Any, cast

from agent_magics.providers.demo import frame_questions, reporting
from agent_magics.providers.demo.case import Call, Case, Move, Say
from agent_magics.providers.demo.figures import figure
from agent_magics.providers.demo.frame_questions import FrameQuestion
from agent_magics.providers.demo.outcomes import Outcome, literal_value
from agent_magics.providers.demo.pandas_code import Code, NoSuchColumn, answers, columns_as_said, compose
from agent_magics.providers.demo.tables import Variable, columns, variables
from agent_magics.providers.loose import obj
from agent_magics.talk import JSON

VARIABLES, INSPECT, RUN = "variables", "inspect", "run_python"
MOST = 5
"""Tables that are looked at to find one that a question fits."""

_SAID = ("value", "result", "repr", "output", "printed", "displayed", "stdout")


def look_at_data(case: Case) -> Move | None:
    """Answer a question about variables or tables, if the notebook's tools are there and this is one."""
    if not any(case.situation.tool(name) for name in (VARIABLES, INSPECT, RUN)) and not _was_looking(case):
        return None
    question = frame_questions.read(case.passage, _known(case))
    if question is None:
        return None
    if move := _listing(case, question):
        return move
    placed = _placed(case, question)
    if not isinstance(placed, FrameQuestion):
        return placed
    return _inspecting(case, placed) or _computing(case, placed)


def _listing(case: Case, question: FrameQuestion) -> Move | None:
    """See what there is: when that is the question, or when the question's name must be found or checked."""
    listed = case.situation.done(VARIABLES)
    if listed is None:
        if case.situation.tool(VARIABLES) is None or (
            question.frame and question.kind not in ("list", "look")
        ):
            return None
        return Call(
            name=VARIABLES, arguments={}, because=("A question about data: I see first what there is.",)
        )
    if not listed.outcome.ok:
        return Say(text=reporting.failed(VARIABLES, listed.outcome))
    there = variables(listed.outcome.value)
    if question.kind == "list":
        return Say(text=_told_variables(there), because=("The list is the answer.",))
    if question.frame and question.frame not in [variable.name for variable in there]:
        return Say(text=f"There is no variable `{question.frame}`. {_told_variables(there)}")
    return None


def _placed(case: Case, question: FrameQuestion) -> FrameQuestion | Move:
    """The question with its table: the one that it names, or the first that has what it asks for."""
    if question.frame:
        return question
    tables = _tables(case)
    if len(tables) == 1 or case.situation.tool(INSPECT) is None:
        tables = tables[:1]
    for table in tables[:MOST]:
        there = replace(question, frame=table)
        looked = case.situation.done(INSPECT, name=table)
        if len(tables) == 1 or (
            looked and looked.outcome.ok and answers(there, columns(looked.outcome.value))
        ):
            return there
        if looked is None:
            return _look(table)
    return Say(text=f"I see no table with “{question.words}” in it. Name one, for example: “… in `df`”.")


def _look(frame: str) -> Call:
    because = f"I look at `{frame}` before I say or compute anything about it."
    return Call(name=INSPECT, arguments={"name": frame}, because=(because,))


def _inspecting(case: Case, question: FrameQuestion) -> Move | None:
    frame = question.frame
    looked = case.situation.done(INSPECT, name=frame)
    if looked is None:
        if case.situation.tool(INSPECT) is None:
            return None
        return _look(frame)
    if not looked.outcome.ok:
        return Say(
            text=reporting.failed(INSPECT, looked.outcome), because=("Without a look there is no answer.",)
        )
    if question.kind == "look":
        return Say(text=_told_look(frame, looked.outcome.value), because=("What was seen is the answer.",))
    return None


def _computing(case: Case, question: FrameQuestion) -> Move:
    """Compose code from the columns seen; run it, or take its result."""
    looked = case.situation.done(INSPECT, name=question.frame)
    seen = columns(looked.outcome.value) if looked else []
    if question.kind == "look":
        return Say(text=f"To look at `{question.frame}` I need the tool `{INSPECT}`, which is not offered.")
    try:
        code = compose(question, seen or columns_as_said(question))
    except NoSuchColumn as problem:
        return Say(
            text=f"In `{question.frame}`: {problem}", because=("The columns seen don't fit the question.",)
        )
    ran = case.situation.done(RUN)
    if ran is None:
        if not case.situation.tools:
            return Say(text=_only_code(code, "No tool may be called now"))
        because = f"From the columns seen I compose: {code.code}"
        return Call(
            name=RUN, arguments={"code": code.code}, because=(because, "It asks a person before it runs.")
        )
    if ran.outcome.unknown:
        return Say(text=_only_code(code, f"There is no tool `{RUN}` here"))
    if not ran.outcome.ok:
        return Say(text=reporting.failed(RUN, ran.outcome), because=("The code failed; I stop there.",))
    return Say(
        text=_told_result(question, code, ran.outcome), because=("The code has run; I tell its result.",)
    )


def _told_result(question: FrameQuestion, code: Code, outcome: Outcome) -> str:
    """The result of composed code, as a sentence or a table."""
    if question.kind == "plot":
        return f"The {code.what} is drawn, with `{code.code}`."
    value = worth(outcome.value)
    if isinstance(value, int | float) and not isinstance(value, bool):
        return f"The {code.what} in `{question.frame}` is **{figure(value)}**."
    return f"The {code.what} in `{question.frame}`:\n\n{_table(question, code, value)}"


def _table(question: FrameQuestion, code: Code, value: JSON) -> str:
    if not isinstance(value, dict):
        return reporting.block(value)
    told = cast("dict[Any, Any]", value)
    group = question.by or (question.words if question.kind == "counts" else "")
    if told and all(isinstance(each, dict) for each in told.values()):
        return reporting.table([{group: name, **each} for name, each in told.items()])
    heading = "rows" if question.kind == "counts" else code.what.split(" by ")[0]
    return reporting.table([{group: name, heading: each} for name, each in told.items()])


def worth(value: JSON) -> JSON:
    """What the code is worth, out of whatever ``run_python`` wraps it in."""
    told = obj(value)
    inner = next((told[name] for name in _SAID if told.get(name) not in (None, "")), value) if told else value
    return literal_value(inner)


def _told_variables(there: list[Variable]) -> str:
    if not there:
        return "The notebook has no variables yet."
    rows: list[dict[str, JSON]] = [
        {"variable": variable.name, "what it is": variable.about} for variable in there
    ]
    count = f"{len(there)} {'variable' if len(there) == 1 else 'variables'}"
    return f"The notebook has {count}:\n\n{reporting.table(rows)}"


def _told_look(name: str, value: JSON) -> str:
    told = obj(value)
    seen = columns(value)
    if not told or not seen:
        return f"This is in `{name}`:\n\n{reporting.block(value)}"
    rows = told.get("rows")
    size = f" with {figure(rows)} rows and {len(seen)} columns" if isinstance(rows, int) else ""
    listed = told.get("columns")
    records = [obj(each) for each in cast("list[Any]", listed)] if isinstance(listed, list) else []
    shown = records if all(records) and records else [{"name": each.name, "type": each.type} for each in seen]
    head = f"\n\nIt begins:\n\n{reporting.fenced(str(told['head']))}" if told.get("head") else ""
    kind = reporting.escaped(str(told.get("type", "table")))
    return f"`{name}` is a **{kind}**{size}:\n\n{reporting.table(shown)}{head}"


def _only_code(code: Code, why: str) -> str:
    source = reporting.fenced(code.code, "python")
    return f"{why}, so I can't compute it. This line would give the {code.what}:\n\n{source}"


def _tables(case: Case) -> list[str]:
    listed = case.situation.done(VARIABLES)
    return [each.name for each in variables(listed.outcome.value) if each.is_table] if listed else []


def _known(case: Case) -> frozenset[str]:
    """The names of variables that any listing or look has shown."""
    done = [*case.situation.now.done, *(each for exchange in case.situation.past for each in exchange.done)]
    listed = [
        each.name
        for one in done
        if one.name == VARIABLES and one.outcome.ok
        for each in variables(one.outcome.value)
    ]
    looked = [str(one.arguments.get("name")) for one in done if one.name == INSPECT and one.outcome.ok]
    return frozenset([*listed, *looked])


def _was_looking(case: Case) -> bool:
    return any(done.name in (VARIABLES, INSPECT, RUN) for done in case.situation.now.done)
