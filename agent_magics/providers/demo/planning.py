"""A question, planned as stages: which tool, with what, and whose result goes into which.

*Convert 30 celsius to fahrenheit and round it* says two things one after the other; *how many words are in
the title of page X* says them inside out: the title first, then its words. Either way the result of a stage
fills the hole in the next. A stage may use a tool that is offered, or one that a recipe could write.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from itertools import pairwise

from agent_magics.providers.demo import recipes
from agent_magics.providers.demo.arguments import fill
from agent_magics.providers.demo.candidates import SOURCES, TARGETS
from agent_magics.providers.demo.case import Case
from agent_magics.providers.demo.finishing import Finish, finish
from agent_magics.providers.demo.matching import Mention, converts, mentions
from agent_magics.providers.demo.parts import requests
from agent_magics.providers.demo.passage import Passage
from agent_magics.providers.demo.reading import Tool
from agent_magics.providers.demo.recipes import Job
from agent_magics.providers.demo.words import STOP, meaning, words
from agent_magics.talk import JSON

_INSIDE = re.compile(r"\b(?:of|in|from|for|on|at)\b", re.IGNORECASE)
_UNITS = SOURCES | TARGETS | {"unit", "units"}
_NEXT_TO = re.compile(r"\b(?:and|then)\b|[,;]", re.IGNORECASE)


@dataclass(frozen=True, kw_only=True)
class Stage:
    """One call of a plan.

    Parameters
    ----------
    tool : Tool
        The tool; where ``job`` is given and it isn't offered, the one that the recipe would write.
    arguments : dict
        What the text gives.
    hole : str
        The parameter that takes the result of the stage before.
    missing : tuple of str
        Required parameters that nothing was found for.
    job : Job, optional
        A recipe that does the same.
    """

    tool: Tool
    arguments: dict[str, JSON]
    hole: str = ""
    missing: tuple[str, ...] = ()
    job: Job | None = None


Plan = tuple[Stage | Finish, ...]


def plan(case: Case) -> Plan:
    """The stages of the case's question; empty if the rules see no tool in it."""
    whole = _stages(case.passage, case)
    parts = requests(case.question, case.lexicon, case.situation.tools)
    if len(parts) < 2:
        return whole
    stages: list[Stage | Finish] = []
    for part in parts:
        found = _stages(Passage.of(part), case, earlier=bool(stages))
        touch = None if found or not stages else finish(part)
        if not found and touch is None:
            return whole
        stages += (touch,) if touch else found
    return tuple(stages)


def _stages(passage: Passage, case: Case, *, earlier: bool = False) -> tuple[Stage, ...]:
    job = recipes.understand(passage, case.lexicon, case.today)
    if job and job.conversion:
        return _conversion(job, case, earlier)
    found = _nested(mentions(passage, case.situation.tools, case.lexicon), passage)
    stages: list[Stage] = []
    for mention in found:
        nested = bool(stages)
        said = passage.bare[mention.at : mention.end]
        filled = fill(
            mention.tool, passage, case.lexicon, earlier=earlier or nested, nested=nested, said=said
        )
        if len(filled.missing) > 1 and not (mention.is_certain or filled.arguments):
            continue  # "write a poem" is not meant for write(path, content)
        same = job if job and _does(mention.tool, job) else None
        stages.append(
            Stage(
                tool=mention.tool,
                arguments=filled.arguments,
                hole=filled.hole,
                missing=filled.missing,
                job=same,
            )
        )
    if job and not any(stage.job for stage in stages):
        return _with_job(stages, job, earlier)
    return tuple(stages) or (_converting_on(passage, case) if earlier else ())


def _converting_on(passage: Passage, case: Case) -> tuple[Stage, ...]:
    """*… and convert the temperature to fahrenheit*: the value is an earlier result."""
    named = [unit.name for unit, _, _ in case.lexicon.mentions(passage.bare)]
    for tool in case.situation.tools:
        pair = converts(tool, case.lexicon)
        if pair and pair[1] in named and tool.required:
            return (Stage(tool=tool, arguments={}, hole=tool.required[0]),)
    return ()


def _conversion(job: Job, case: Case, earlier: bool) -> tuple[Stage, ...]:
    """A conversion goes to a tool that does just this, to one that converts anything, or to its recipe."""
    if job.hole and not earlier:
        return ()
    question = Passage.of(job.question)
    for tool in case.situation.tools:
        if (
            converts(tool, case.lexicon) == job.conversion
            and tool.required
            and job.origin in tool.description
        ):
            takes = tool.required[0]
            given = dict(zip([takes], job.arguments.values(), strict=False))
            return (Stage(tool=tool, arguments=given, hole="" if given else takes, job=job),)
    for tool in case.situation.tools:
        filled = fill(tool, question, case.lexicon, earlier=earlier)
        if _converts_anything(tool) and not filled.missing:
            return (Stage(tool=tool, arguments=filled.arguments, hole=filled.hole, job=job),)
    return (stage_of(job),)


def _with_job(stages: list[Stage], job: Job, earlier: bool) -> tuple[Stage, ...]:
    """A recipe's stage, behind the tools that give it its text where the question names such."""
    if stages and (job.hole or job.vague):
        return (*stages, stage_of(job, hole=job.hole or next(iter(job.draft.parameters["required"]))))
    if job.hole and not earlier:
        return tuple(stages)
    return (stage_of(job),)


def stage_of(job: Job, hole: str = "") -> Stage:
    """The stage of a recipe's own tool."""
    hole = hole or job.hole
    tool = Tool(name=job.draft.name, description=job.draft.description, parameters=job.draft.parameters)
    given = {name: value for name, value in job.arguments.items() if name != hole}
    return Stage(tool=tool, arguments=given, hole=hole, job=job)


def _nested(found: list[Mention], passage: Passage) -> list[Mention]:
    """Mentions in the order of their calls: *the words of the title* calls for the title first."""
    if len(found) < 2:
        return found
    found = [mention for mention in found if mention.weight >= 2] or found[:1]
    between = [passage.bare[first.end : second.at] for first, second in pairwise(found)]
    inside = between and all(_INSIDE.search(text) and not _NEXT_TO.search(text) for text in between)
    return found[::-1] if inside else found


def _does(tool: Tool, job: Job) -> bool:
    """Whether the tool's name says what the recipe's does."""
    senses = {meaning(word) for word in words(f"{tool.name} {tool.description}")}
    return {meaning(word) for word in words(job.draft.name) if word not in STOP} <= senses


def _converts_anything(tool: Tool) -> bool:
    said = {meaning(word) for word in words(f"{tool.name} {tool.description}")}
    units = [name for name in tool.properties if set(words(name)) & _UNITS]
    return meaning("convert") in said and len(units) >= 2
