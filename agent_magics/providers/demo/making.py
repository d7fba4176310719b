"""Asking for a tool that is missing.

Where ``make_tool`` is offered it gets a draft: name, description, schema, source and an example. What the
checks reject comes back with a reason; a name that is taken is changed, anything else is not guessed at.
Where it isn't offered the tool is called by its name all the same: the loop may write it by itself, and if
not, its answer says that there is none.
"""

from __future__ import annotations

import re
from dataclasses import dataclass

from agent_magics.providers.demo.case import Call
from agent_magics.providers.demo.reading import Done, Situation
from agent_magics.providers.demo.recipes import Draft
from agent_magics.providers.loose import obj

MAKE = "make_tool"
ATTEMPTS = 3
"""Tries in all, unless the result names another limit."""

_ANYWAY = "The tools that were named do nearly this, but not this; so I ask for it all the same."
_NAME_TAKEN = re.compile(
    r"\bname\b.{0,80}\b(?:taken|exists|in use|reserved|builtin|built-in|keyword|alias|collid\w+|clash\w*)"
    r"|\b(?:already exists|already (?:taken|there)|name collision|is an? (?:builtin|keyword|alias|catalog))",
    re.IGNORECASE | re.DOTALL,
)
_LIMIT = re.compile(r"\battempts?\s+\d+\s*(?:of|/)\s*(?P<limit>\d+)", re.IGNORECASE)
_LAST = re.compile(
    r"\b(?:no (?:more )?attempts (?:are )?left|last attempt|final|0 attempts left|attempts left: 0)\b",
    re.IGNORECASE,
)


@dataclass(frozen=True, kw_only=True)
class Made:
    """The tool is there under this name."""

    name: str


@dataclass(frozen=True, kw_only=True)
class GaveUp:
    """There will be no tool, and why; ``refused`` if a person or a policy said no."""

    why: str
    refused: bool = False


def ask(draft: Draft, situation: Situation) -> Call | Made | GaveUp:
    """The next step towards the tool of ``draft``."""
    tries = [done for done in situation.now.done if done.name == MAKE and _is_for(done, draft)]
    if not tries:
        return _make(_free(draft, situation))
    last = tries[-1]
    if last.outcome.ok:
        told = obj(last.outcome.value)
        name = told.get("name") or told.get("tool")
        return Made(name=name if isinstance(name, str) else str(last.arguments.get("name", draft.name)))
    if last.outcome.refused:
        return GaveUp(why=last.outcome.comment, refused=True)
    if _is_similar(last, situation):
        return _make(draft, _ANYWAY, anyway=True)
    return _repaired(draft, tries, last.outcome.error)


def _repaired(draft: Draft, tries: list[Done], reason: str) -> Call | GaveUp:
    if len(tries) >= _limit(reason) or _LAST.search(reason) or not _NAME_TAKEN.search(reason):
        return GaveUp(why=reason)
    taken = {str(done.arguments.get("name")) for done in tries}
    return _make(
        draft.renamed(_other_name(draft.name, taken)), f"The check said: {reason[:200]} I change the name."
    )


def _make(draft: Draft, *because: str, anyway: bool = False) -> Call:
    because = because or (f"No tool does this, and {MAKE} is offered: I write `{draft.name}` from a recipe.",)
    arguments = {**draft.arguments(), "anyway": True} if anyway else draft.arguments()
    return Call(name=MAKE, arguments=arguments, because=because)


def _is_similar(last: Done, situation: Situation) -> bool:
    """Whether it was only said that there is a tool much like it, and a way past that is offered."""
    tool = situation.tool(MAKE)
    told = obj(last.outcome.value)
    offered = tool is not None and "anyway" in tool.properties
    return offered and bool(told.get("similar")) and "anyway" not in last.arguments


def _free(draft: Draft, situation: Situation) -> Draft:
    """The draft under a name that no offered tool has."""
    taken = {tool.name for tool in situation.tools}
    return draft if draft.name not in taken else draft.renamed(_other_name(draft.name, taken))


def _other_name(name: str, taken: set[str]) -> str:
    return next(other for number in range(2, 1_000) if (other := f"{name[:46]}_{number}") not in taken)


def _is_for(done: Done, draft: Draft) -> bool:
    name = str(done.arguments.get("name", ""))
    return name == draft.name or re.sub(r"_\d+$", "", name) == draft.name[:46]


def _limit(reason: str) -> int:
    match = _LIMIT.search(reason)
    return int(match["limit"]) if match else ATTEMPTS
