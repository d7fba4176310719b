"""Making one tool: from a draft, or from a wish, to a tool that is kept; or the reason why not."""

from __future__ import annotations

import time
from collections import Counter
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace

from agent_magics.errors import ProviderError, ToolError
from agent_magics.forge.desk import Decided, Desk
from agent_magics.forge.doors import Generator, Request, Sandboxed
from agent_magics.forge.draft import Draft
from agent_magics.forge.likeness import alike
from agent_magics.forge.pipeline import Inspected, Rejected, inspect, may_probe_first, probe, run, stage
from agent_magics.forge.registry import Kept, Origin
from agent_magics.forge.shelf import Shelf
from agent_magics.forge.values import brief, materials
from agent_magics.talk import JSON, ToolCall, ToolMade, Usage
from agent_magics.tools.running import RunningCall, running_call
from agent_magics.tools.threads import in_thread

ATTEMPTS = 3

Told = dict[str, JSON]


@dataclass(kw_only=True)
class TurnSoFar:
    """What was tried in the running turn."""

    prompt: str = ""
    attempts: Counter[str] = field(default_factory=Counter[str])
    rejected: list[tuple[Draft, Told]] = field(default_factory=list[tuple[Draft, Told]])
    named: set[str] = field(default_factory=set[str])


class Maker:
    """Makes tools for one session.

    Parameters
    ----------
    shelf : Shelf
        Where they are kept.
    desk : Desk
        Where a person decides.
    sandbox : Sandboxed
        Where they are probed.
    taken : callable
        Names that a new tool can't have.
    """

    def __init__(
        self, *, shelf: Shelf, desk: Desk, sandbox: Sandboxed, taken: Callable[[str], list[str]]
    ) -> None:
        self.turn = TurnSoFar()
        self._shelf = shelf
        self._desk = desk
        self._sandbox = sandbox
        self._taken = taken

    async def make(
        self,
        draft: Draft,
        *,
        first: Mapping[str, JSON] | None = None,
        anyway: bool = False,
        at_once: bool = True,
    ) -> Told:
        """Take a draft all the way; what comes back is what the model is told.

        Parameters
        ----------
        first : mapping, optional
            Arguments of its first call.
        anyway : bool
            Whether to make it although there is a tool like it.
        at_once : bool
            Whether the first call is made here, as soon as it is approved.
        """
        if (refusal := self._was_rejected(draft)) is not None:
            return refusal
        if not anyway and (hint := await self._similar(draft)) is not None:
            return hint
        self.turn.attempts[draft.name] += 1
        if self.turn.attempts[draft.name] > ATTEMPTS:
            return {
                "error": f"{draft.name} had its {ATTEMPTS} attempts in this turn; no more attempts are left."
            }
        try:
            return await self._make(draft, first, at_once)
        except Rejected as rejected:
            return self._failed(draft, rejected)

    async def generate(
        self, request: Request, generator: Generator | None, *, anyway: bool = False, at_once: bool = True
    ) -> Told:
        """Have the generator write a tool, and again with the reason, until it passes or the attempts are
        used."""
        if generator is None:
            return {"error": "The source is missing: write it, and call make_tool again with `source`."}
        failures: list[tuple[Draft, str]] = []
        while True:
            label = request.name or "tool"
            try:
                draft = await stage(
                    label, "draft", lambda: _written(generator, request, failures), lambda: _took(generator)
                )
            except Rejected as rejected:
                return {"error": f"No draft came: {rejected}"}
            if request.name:
                draft = replace(draft, name=request.name)
            told = await self.make(draft, first=request.arguments, anyway=anyway, at_once=at_once)
            if "stage" not in told or self.turn.attempts[draft.name] >= ATTEMPTS:
                return told
            failures.append((draft, str(told["error"])))

    # -- inside ----------------------------------------------------------------------------------

    async def _make(self, draft: Draft, first: Mapping[str, JSON] | None, at_once: bool) -> Told:
        found = self._shelf.find(draft.name)
        earlier = found[1].draft if found else None
        inspected = await inspect(draft, self._sandbox, taken=self._taken(draft.name), earlier=earlier)
        call = ToolCall(id=_running().id, name=draft.name, arguments=dict(first or {}))
        decided = await self._desk.decide(
            inspected, call, before=earlier.source if earlier else "", earlier=earlier
        )
        if decided.decision == "reject":
            self.turn.rejected.append((draft, dict(decided.refusal)))
            return dict(decided.refusal)
        inspected, first = await self._probed(decided.inspected), first if at_once else None
        if decided.decision == "once":
            return await self._once(inspected.draft, first)
        kept = await stage(draft.name, "save", lambda: self._save(inspected.draft, decided.by))
        return await self._told(kept, inspected, decided, first)

    async def _probed(self, inspected: Inspected) -> Inspected:
        """What could not be probed before the approval is probed now."""
        draft = inspected.draft
        if may_probe_first(draft, self._sandbox):
            return inspected
        returned = await stage(draft.name, "probe", lambda: probe(draft, inspected.objects, self._sandbox))
        return replace(inspected, draft=replace(draft, examples=returned))

    async def _save(self, draft: Draft, by: str) -> tuple[Kept, str]:
        origin = Origin(prompt=self.turn.prompt, author=draft.author, at=time.time())
        kept = await in_thread(lambda: self._shelf.save(draft, origin, by))
        made = ToolMade(
            id=_running().id,
            name=draft.name,
            version=kept.version,
            sha256=draft.sha256,
            source=draft.source,
            schema=dict(draft.parameters),
            at=time.time(),
        )
        _running().emit(made)
        return kept, f"version {kept.version}"

    async def _told(
        self, kept: Kept, inspected: Inspected, decided: Decided, first: Mapping[str, JSON] | None
    ) -> Told:
        draft = kept.draft
        told: Told = {"made": draft.name, "name": draft.name, "version": kept.version}
        if draft.examples:
            told["tried"] = f"{brief(dict(draft.examples[0].arguments))} → {brief(draft.examples[0].returns)}"
        if draft.author == "you":
            told["edited"] = "The user changed the source before approving it."
            told["source"] = draft.source
        if inspected.tests:
            told["tests"] = inspected.tests
        if first is None:
            return {**told, "next": f"It is there from now on: call {draft.name}."}
        return {**told, "result": await self._first(draft, first)}

    async def _once(self, draft: Draft, first: Mapping[str, JSON] | None) -> Told:
        """Run once keeps nothing: it is called now, or lent for one call."""
        told: Told = {
            "name": draft.name,
            "kept": False,
            "note": "The user allowed one call; nothing was kept.",
        }
        if first is not None:
            return {**told, "result": await self._first(draft, first)}
        self._shelf.lend(draft)
        return {**told, "next": f"Call {draft.name} now; it is there for one call."}

    async def _first(self, draft: Draft, first: Mapping[str, JSON]) -> JSON:
        objects = {name: kind for name, kind in _kinds(draft).items() if name in first}
        if objects:
            return f"Call {draft.name} by its name: it takes variables of the notebook."
        outcome = await run(draft, materials(first, {}), self._sandbox)
        return {"error": outcome.error.message} if outcome.error is not None else outcome.value

    def _failed(self, draft: Draft, rejected: Rejected) -> Told:
        tries = self.turn.attempts[draft.name]
        left = ATTEMPTS - tries
        what = f"Attempt {tries} of {ATTEMPTS} at {draft.name}: the {rejected.stage} rejected it. {rejected}"
        after = "Mend it and call make_tool again." if left else "No attempts are left; go on without it."
        return {"error": f"{what} {after}", "stage": rejected.stage, "attempts_left": left}

    def _was_rejected(self, draft: Draft) -> Told | None:
        """A person's no is final for the turn, also under another name."""
        for other, refusal in self.turn.rejected:
            if other.name == draft.name or alike(draft, [other]):
                return {**refusal, "final": "The user rejected this tool in this turn already."}
        return None

    async def _similar(self, draft: Draft) -> Told | None:
        """Near-duplicates are named once, before anything is written or asked."""
        others = await in_thread(self._shelf.drafts)
        near = [each for each in alike(draft, others) if each.name not in self.turn.named]
        if not near or any(each.name == draft.name for each in others):
            return None
        self.turn.named |= {each.name for each in near}
        listed = [{"name": each.name, "description": each.description} for each in near]
        return {
            "error": "There is a tool that does nearly this. Use it, or call make_tool with anyway=true.",
            "similar": listed,
        }


def _kinds(draft: Draft) -> dict[str, str]:
    from agent_magics.forge.pipeline import kinds

    return kinds(draft)


def _running() -> RunningCall:
    call = running_call()
    if call is None:
        raise ToolError("A tool can only be made in a turn: use /make, or ask for it.")
    return call


def _took(generator: Generator) -> tuple[str, Usage]:
    """Who wrote, and the tokens of it, where a model did."""
    usage = getattr(generator, "usage", Usage())
    return (generator.author if usage.total else ""), usage


async def _written(
    generator: Generator, request: Request, failures: list[tuple[Draft, str]]
) -> tuple[Draft, str]:
    try:
        return await generator.write(request, failures), f"by {generator.author}"
    except (ToolError, ProviderError) as error:
        raise Rejected("draft", " ".join(str(error).split("\n"))) from error
