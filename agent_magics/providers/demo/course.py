"""Following a plan: which stages are done, what the next one is, and the answer when none is left.

The plan is made anew for every request, and so is the position in it: each stage looks for its own call among
those that were made since the prompt.
"""

from __future__ import annotations

from collections.abc import Iterator

from agent_magics.providers.demo import making, reporting
from agent_magics.providers.demo.case import Call, Case, Move, Say
from agent_magics.providers.demo.figures import figure
from agent_magics.providers.demo.finishing import Finish
from agent_magics.providers.demo.fitting import fitted, number_in
from agent_magics.providers.demo.outcomes import Outcome
from agent_magics.providers.demo.planning import Plan, Stage
from agent_magics.providers.demo.reading import Done
from agent_magics.providers.demo.recipes import Job
from agent_magics.providers.demo.shape import kind
from agent_magics.providers.demo.words import joined
from agent_magics.talk import JSON


class Course:
    """One plan on its way.

    Parameters
    ----------
    plan : tuple of Stage or Finish
        What is to be done, in order.
    case : Case
        The request.
    """

    def __init__(self, plan: Plan, case: Case) -> None:
        self._plan = plan
        self._case = case
        self._calls: Iterator[Done] = iter(case.situation.now.done)
        self._told: list[str] = []
        self._notes: list[str] = []
        self._value: JSON = None

    def move(self) -> Move:
        """The next call, or the answer."""
        for stage in self._plan:
            move = self._finish(stage) if isinstance(stage, Finish) else self._advance(stage)
            if move:
                return move
        return Say(text="\n\n".join([*self._told, *self._note()]), because=("Every stage has its result.",))

    def _finish(self, finish: Finish) -> Say | None:
        value = number_in(self._value)
        if value is None:
            self._told.append(f"{finish.name} it can't be: the result is no number.")
            return None
        self._value = finish.work(value)
        self._told.append(f"{finish.name}: **{figure(self._value)}**.")
        return None

    def _advance(self, stage: Stage) -> Move | None:
        arguments = self._arguments(stage)
        if stage.missing:
            return _ask_for(stage)
        situation, name = self._case.situation, stage.tool.name
        offered = situation.tool(name) and not _is_redefined(stage, self._case)
        if offered or (not situation.tools and situation.done(name)):
            return self._use(stage, name, arguments)
        if stage.job:
            return self._make(stage, stage.job, arguments)
        return self._use(stage, name, arguments)

    def _use(self, stage: Stage, name: str, arguments: dict[str, JSON]) -> Move | None:
        """Call a tool that is there, or take its result."""
        done = self._next_call(name)
        if done is None:
            if not self._case.situation.tools:
                return self._without_tools(stage, arguments)
            return Call(name=name, arguments=arguments, because=_because(stage, name, arguments))
        if done.outcome.ok:
            self._take(stage, name, arguments, done.outcome)
            return None
        if done.outcome.unknown and stage.job:
            return self._compute(stage.job, arguments, f"There is no tool `{name}` here.")
        return Say(
            text=_and(self._told, reporting.failed(name, done.outcome)),
            because=("A tool failed; I stop there.",),
        )

    def _make(self, stage: Stage, job: Job, arguments: dict[str, JSON]) -> Move | None:
        """Have a missing tool written, and use it; without one, compute."""
        situation = self._case.situation
        tried = situation.done(making.MAKE)
        if not (situation.tools or tried):
            return self._without_tools(stage, arguments)
        if not (situation.tool(making.MAKE) or tried):
            if _is_redefined(stage, self._case):
                return self._compute(job, arguments, f"`{stage.tool.name}` was made for another definition.")
            return self._use(stage, stage.tool.name, arguments)
        match making.ask(job.draft, situation):
            case Call() as call:
                return call if situation.tools else self._without_tools(stage, arguments)
            case making.Made(name=name):
                return self._use(stage, name, arguments)
            case making.GaveUp(why=why, refused=True):
                comment = f" You wrote: “{reporting.escaped(why.rstrip('.'))}”." if why else ""
                return self._compute(job, arguments, f"The tool was rejected, so there is none.{comment}")
            case making.GaveUp(why=why):
                said = reporting.escaped(why.rstrip("."))
                return self._compute(job, arguments, f"No tool could be made; the check said: “{said}”.")

    def _without_tools(self, stage: Stage, arguments: dict[str, JSON]) -> Move | None:
        if stage.job is None:
            text = f"This needs the tool `{stage.tool.name}`, and no tool may be called now."
            return Say(text=_and(self._told, text))
        return self._compute(stage.job, arguments, "No tool may be called now.")

    def _compute(self, job: Job, arguments: dict[str, JSON], why: str) -> Say | None:
        """The recipe's own answer, with a note that no tool gave it."""
        try:
            value = job.work(**arguments)
        except (ValueError, OverflowError, TypeError) as error:
            return Say(text=_and(self._told, f"{why} The rules can't compute it either: {error}."))
        self._value = value
        self._told.append(job.tell(value, arguments))
        self._notes.append(why)
        return None

    def _note(self) -> list[str]:
        """Which answers no tool gave, and why, in one line."""
        if not self._notes:
            return []
        reasons = " ".join(dict.fromkeys(self._notes))
        return [f"*{reasons} This was computed by the demonstration's own rules.*"]

    def _take(self, stage: Stage, name: str, arguments: dict[str, JSON], outcome: Outcome) -> None:
        self._value = outcome.plain
        told = _as_job(stage.job, arguments, self._value) if stage.job else ""
        self._told.append(told or reporting.told(name, outcome.value))

    def _next_call(self, name: str) -> Done | None:
        return next((done for done in self._calls if done.name == name), None)

    def _arguments(self, stage: Stage) -> dict[str, JSON]:
        """The stage's arguments with the earlier result in the hole, as the type that the schema wants."""
        if not stage.hole:
            return stage.arguments
        schema = stage.tool.properties.get(stage.hole, {})
        return {
            **stage.arguments,
            stage.hole: fitted(self._value, stage.hole, kind(schema), self._case.question),
        }


def _ask_for(stage: Stage) -> Say:
    wanted = [_described(stage, name) for name in stage.missing]
    example = " ".join(f"{name}=…" for name in stage.missing)
    text = f"For `{stage.tool.name}` I need {joined(wanted)}. Say it for example as `{example}`."
    return Say(
        text=text, because=(f"`{stage.tool.name}` fits, but the prompt lacks {joined(list(stage.missing))}.",)
    )


def _described(stage: Stage, name: str) -> str:
    schema = stage.tool.properties.get(name, {})
    about = str(schema.get("description") or "")
    return f"`{name}` ({kind(schema)}{': ' + about if about else ''})"


def _because(stage: Stage, name: str, arguments: dict[str, JSON]) -> tuple[str, ...]:
    given = ", ".join(f"{key} = {reporting.short(value)}" for key, value in arguments.items()) or "nothing"
    source = f" `{stage.hole}` is the earlier result." if stage.hole else ""
    return (f"The prompt speaks of `{name}`; I call it with {given}.{source}",)


def _is_redefined(stage: Stage, case: Case) -> bool:
    """Whether the offered tool of that name was made for another definition of the same word."""
    offered = case.situation.tool(stage.tool.name)
    origin = stage.job.origin if stage.job else ""
    return offered is not None and bool(origin) and origin not in offered.description


def _as_job(job: Job, arguments: dict[str, JSON], value: JSON) -> str:
    """The result as the recipe tells it, if it is such a result."""
    told = dict(zip(job.draft.parameters["required"], arguments.values(), strict=False)) | arguments
    if job.conversion and number_in(value) is None:
        return ""
    try:
        return job.tell(number_in(value) if job.conversion else value, told)
    except (TypeError, ValueError, AttributeError):
        return ""  # another tool of the same purpose that answers in another form


def _and(told: list[str], text: str) -> str:
    return "\n\n".join([*told, text])
