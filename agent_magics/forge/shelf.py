"""The tools that are kept, as one session offers and calls them.

What is offered is read anew when a turn begins, so that a tool made in another notebook is there too. What is
called is read anew at the call: the files decide, not what this process remembers. A tool whose text is not
the approved one is checked, tried and asked about before it runs.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any

from agent_magics.errors import ToolError
from agent_magics.forge import schema
from agent_magics.forge.approvals import Approvals
from agent_magics.forge.desk import Decided, Desk
from agent_magics.forge.doors import Sandboxed
from agent_magics.forge.draft import Draft, unanswered
from agent_magics.forge.pipeline import Inspected, Rejected, inspect, kinds, may_probe_first, probe, run
from agent_magics.forge.registry import Kept, Origin, Registry
from agent_magics.sandbox.outcome import Outcome
from agent_magics.talk import JSON, ToolCall
from agent_magics.tools.running import running_call
from agent_magics.tools.threads import in_thread
from agent_magics.tools.tool import Tool
from agent_magics.tools.toolbox import Toolbox

PRINTED = 2_000
"""Characters of what a tool printed that the model is told."""

CHANGED = "Its text is not the one that was approved: it was changed, or it came with this project."


class Shelf:
    """The kept tools of one session.

    Parameters
    ----------
    registries : sequence of Registry
        Where tools are looked for; the first that has a name wins, and new ones are saved in the first.
    approvals : Approvals
        What was approved.
    toolbox : Toolbox
        What the session offers.
    sandbox : Sandboxed
        Where calls run.
    desk : Desk
        Where a person decides.
    allows : callable
        Which tools may be offered, by name.
    """

    def __init__(
        self,
        registries: Sequence[Registry],
        approvals: Approvals,
        toolbox: Toolbox,
        sandbox: Sandboxed,
        desk: Desk,
        allows: Callable[[str], bool] = lambda name: True,
    ) -> None:
        self.registries = tuple(registries)
        self.approvals = approvals
        self._toolbox = toolbox
        self._sandbox = sandbox
        self._desk = desk
        self._allows = allows
        self._offered: dict[str, Tool] = {}
        self._offered_as: dict[str, tuple[str, bool]] = {}
        self._once: dict[str, Draft] = {}
        self._allowed: set[str] = set()  # hashes that a setting let pass in this turn

    # -- what there is ---------------------------------------------------------------------------

    def find(self, name: str) -> tuple[Registry, Kept] | None:
        """Where a tool is kept, and how it reads now."""
        for registry in self.registries:
            if (kept := registry.read(name)) is not None:
                return registry, kept
        return None

    def __iter__(self) -> Iterator[Kept]:
        names = sorted({name for registry in self.registries for name in registry.names()})
        for name in names:
            if (found := self.find(name)) is not None:
                yield found[1]

    def drafts(self) -> list[Draft]:
        """What there is already, for whoever is about to write the same again."""
        return [kept.draft for kept in self]

    def refresh(self) -> None:
        """Offer what is kept now. Tools of the catalog are never replaced."""
        self._once.clear()
        self._allowed.clear()
        kept = {each.draft.name: each for each in self if self._allows(each.draft.name)}
        for name in [name for name in self._offered if name not in kept]:
            self._withdraw(name)
        for each in kept.values():
            self.offer(each)

    def clear(self) -> None:
        """Offer nothing any more."""
        for name in list(self._offered):
            self._withdraw(name)

    def offer(self, kept: Kept) -> None:
        """Put one tool into the toolbox."""
        name = kept.draft.name
        if name in self._toolbox and self._toolbox.resolve(name) is not self._offered.get(name):
            return  # a catalog tool has this name by now
        known = self.approvals.covers(kept.draft) or self._is_own(kept)
        offered_as = kept.draft.sha256, known
        if self._offered_as.get(name) != offered_as or name not in self._toolbox:
            self._offered[name] = self._toolbox.add(self._tool(kept.draft, known=known))
            self._offered_as[name] = offered_as

    def lend(self, draft: Draft) -> None:
        """Offer a tool for one call."""
        self._once[draft.name] = draft
        self._offered_as.pop(draft.name, None)
        self._offered[draft.name] = self._toolbox.add(self._tool(draft, known=True))

    def offers(self, name: str) -> bool:
        """Whether the toolbox has the tool of that name from here."""
        return name in self._offered

    def save(self, draft: Draft, origin: Origin, by: str) -> Kept:
        """Keep an approved tool. The approval comes first: a tool without one would be asked about again."""
        self._remember(draft, by)
        kept = self.registries[0].save(draft, origin)
        self.offer(kept)
        return kept

    def permits(self, draft: Draft) -> bool:
        """Whether exactly this text may run: a person approved it, or a setting let it pass in this turn."""
        return draft.sha256 in self._allowed or self.approvals.covers(draft)

    def _remember(self, draft: Draft, by: str) -> None:
        """Only what a person said is remembered beyond the turn."""
        if by == "policy":
            self._allowed.add(draft.sha256)
        else:
            self.approvals.add(draft)

    def _withdraw(self, name: str) -> None:
        self._toolbox.remove(name)
        self._offered.pop(name, None)
        self._offered_as.pop(name, None)

    def _is_own(self, kept: Kept) -> bool:
        """Whether it lies in the user's own folder, not in a project's: then its words may reach the
        model."""
        return kept.folder.is_relative_to(self.registries[0].root)

    def _tool(self, draft: Draft, *, known: bool) -> Tool:
        async def handle(**arguments: Any) -> Any:
            return await self.call(draft.name, arguments)

        parameters = draft.parameters if known else _without_words(draft.parameters)
        objects = _objects(draft)
        return Tool(
            name=draft.name,
            description=draft.description if known else "A tool that lies in this project; not approved yet.",
            handler=handle,
            parameters=parameters,
            generated=True,
            parallel_safe=True,
            read_only=not draft.capabilities,
            brings_data=bool(draft.capabilities or objects),  # else it computes from what the model wrote
            objects=objects,
        )

    # -- one call --------------------------------------------------------------------------------

    async def call(self, name: str, arguments: Mapping[str, Any]) -> Any:
        """Call a tool as it is kept now; asked about first if this text was never approved."""
        if (lent := self._once.pop(name, None)) is not None:
            self._withdraw(name)
            if (found := self.find(name)) is not None:
                self.offer(found[1])
            return _answer(await run(lent, arguments, self._sandbox))
        found = await in_thread(lambda: self.find(name))
        if found is None:
            self._withdraw(name)
            raise ToolError(f"The tool {name!r} is no longer there.")
        registry, kept = found
        draft = kept.draft
        if not self.permits(draft):
            decided = await self._ask_again(kept, arguments)
            if decided.decision == "reject":
                return dict(decided.refusal)
            draft = decided.inspected.draft
        outcome = await run(draft, arguments, self._sandbox)
        await in_thread(lambda: registry.count(name, failed=not outcome.ok))
        return _answer(outcome)

    async def _ask_again(self, kept: Kept, arguments: Mapping[str, Any]) -> Decided:
        """A text that nobody approved goes through every stage and before a person, like a new one."""
        try:
            inspected = await inspect(unanswered(kept.draft), self._sandbox, earlier=kept.draft)
        except Rejected as rejected:
            raise ToolError(
                f"{kept.draft.name} was changed on disk, and the {rejected.stage} rejects it: {rejected}"
            ) from rejected
        _require_fit(inspected, arguments)
        waiting = running_call()
        call = ToolCall(id=waiting.id if waiting else "", name=kept.draft.name, arguments=_shown(arguments))
        before = self.approvals.source_of(kept.draft.name)
        decided = await self._desk.decide(inspected, call, before=before, reason=CHANGED, earlier=kept.draft)
        if decided.decision == "approve":
            await self._settle(decided, kept)
        return decided

    async def _settle(self, decided: Decided, kept: Kept) -> None:
        """After a yes to a text from the disk: remember it; an edited one becomes a new version."""
        draft = decided.inspected.draft
        if not may_probe_first(draft, self._sandbox):
            await probe(draft, decided.inspected.objects, self._sandbox)
        if draft.sha256 == kept.draft.sha256:
            self._remember(draft, decided.by)
        else:
            origin = Origin(prompt=kept.origin.prompt, author=draft.author, at=time.time())
            self.save(draft, origin, decided.by)


def _answer(outcome: Outcome) -> Any:
    """What the model is told of one call."""
    if outcome.error is not None:
        raise ToolError(outcome.error.message)
    if outcome.stdout.strip():
        value = outcome.value
        whole = dict(value) if isinstance(value, dict) else {"result": value}  # pyright: ignore[reportUnknownVariableType, reportUnknownArgumentType]
        return {**whole, "printed": outcome.stdout[:PRINTED]}
    return outcome.value


def _objects(draft: Draft) -> frozenset[str]:
    try:
        return frozenset(kinds(draft))
    except (
        SyntaxError,
        ValueError,
        RecursionError,
        MemoryError,
    ):  # edited: the check will say it at the call
        return frozenset()


def _shown(arguments: Mapping[str, Any]) -> dict[str, JSON]:
    """Arguments for a card: data by its kind and size, everything else as it is."""
    plain = (str, int, float, bool, list, dict, type(None))
    return {
        name: value if isinstance(value, plain) else f"<{type(value).__name__} {getattr(value, 'shape', '')}>"
        for name, value in arguments.items()
    }


def _require_fit(inspected: Inspected, arguments: Mapping[str, Any]) -> None:
    """The schema may have changed on disk since the model was told of it."""
    described = schema.Described(
        parameters=dict(inspected.draft.parameters), objects=frozenset(inspected.objects)
    )
    told: dict[str, JSON] = {**arguments, **{name: {} for name in inspected.objects if name in arguments}}
    if problems := schema.problems_of(told, described):
        raise ToolError(f"The tool was changed meanwhile and takes other arguments: {'; '.join(problems)}.")


def _without_words(parameters: Mapping[str, JSON]) -> dict[str, JSON]:
    """Types and names only: words that came with a project are no instructions for a model."""
    properties = parameters.get("properties", {})
    kept = {name: {"type": each["type"]} if "type" in each else {} for name, each in properties.items()}
    return {"type": "object", "properties": kept, "required": list(parameters.get("required", []))}
