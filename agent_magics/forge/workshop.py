"""The forge of one session: what it offers to the model, to the loop and to the commands."""

from __future__ import annotations

import threading
from collections.abc import Callable, Sequence
from typing import Any, Literal

from agent_magics.errors import ToolError, UsageError
from agent_magics.forge import names, shown
from agent_magics.forge.approvals import Approvals
from agent_magics.forge.desk import Desk
from agent_magics.forge.doors import Asks, Generator, Request, Sandboxed
from agent_magics.forge.draft import draft_from
from agent_magics.forge.function import ConfinedFunction
from agent_magics.forge.making import Maker, TurnSoFar
from agent_magics.forge.one_tool import MakeOneTool
from agent_magics.forge.registry import Registry
from agent_magics.forge.rules import DESCRIPTION, PARAMETERS, RULES
from agent_magics.forge.shelf import Shelf
from agent_magics.ports import Provider
from agent_magics.talk import JSON, Event, ToolCall, TurnBegan
from agent_magics.tools.threads import in_thread
from agent_magics.tools.tool import Tool
from agent_magics.tools.toolbox import Toolbox

Making = Literal["on", "auto", "off"]
"""How tools come to be made: by ``make_tool``; also when the model names one that nobody wrote; not at
all."""

MAKE_TOOL = "make_tool"

PATIENCE = 10.0
"""Seconds that the first tool waits to hear how well this machine confines."""


class Workshop:
    """Ties the forge to one session.

    Parameters
    ----------
    toolbox : Toolbox
        The session's tools; made and kept ones are put in here.
    asks : Asks
        Who decides about a tool.
    sandbox : Sandboxed
        Where generated code runs.
    registries : sequence of Registry
        Where tools are kept; new ones in the first.
    approvals : Approvals
        What a person approved.
    generator : Generator, optional
        Who writes, if not the planner.
    writer : Generator, optional
        Who writes where there is no planner either, for ``/make``.
    planner : callable
        Who plans, as ``provider:model``: the author of a source that comes with ``make_tool``.
    making : {"on", "auto", "off"}
        How tools come to be made.
    allows : callable
        Which kept tools may be offered, by name.
    mask : callable
        Takes secrets out of a prompt before it is kept beside a tool.
    opted_in : bool
        Whether tools are made although nothing but a process of its own holds them.
    """

    def __init__(
        self,
        *,
        toolbox: Toolbox,
        asks: Asks,
        sandbox: Sandboxed,
        registries: Sequence[Registry],
        approvals: Approvals,
        generator: Generator | None = None,
        writer: Generator | None = None,
        planner: Callable[[], str] = lambda: "",
        making: Making = "on",
        allows: Callable[[str], bool] = lambda name: True,
        mask: Callable[[str], str] = lambda text: text,
        opted_in: bool = False,
    ) -> None:
        self.sandbox = sandbox
        self._toolbox = toolbox
        self._planner = planner
        self._generator = generator
        self._spare = writer
        self._making: Making = making
        self._mask = mask
        self._opted_in = opted_in
        self._confines = False
        self._found = threading.Event()
        desk = Desk(asks, sandbox)
        self.shelf = Shelf(registries, approvals, toolbox, sandbox, desk, allows)
        self._maker = Maker(shelf=self.shelf, desk=desk, sandbox=sandbox, taken=self._taken)

    # -- for the session -------------------------------------------------------------------------

    def open(self) -> None:
        """Offer ``make_tool`` and what is kept; answer for names that nobody wrote, if that is wanted."""
        if self._making != "off":
            self._toolbox.add(self._make_tool())
        if self._making == "auto":
            self._toolbox.missing = self.missing
        threading.Thread(target=self._find_level, name="agent-sandbox", daemon=True).start()
        self.shelf.refresh()

    def _find_level(self) -> None:
        """Finding out how well this machine confines takes a moment; no turn should wait for it."""
        try:
            self._confines = self.sandbox.level in ("A", "B") or self._opted_in
        finally:
            self._found.set()

    def _offer(self) -> None:
        """Offer what is kept; nothing, and no making, where generated code is known not to be confined."""
        if self._confines or not self._found.is_set():
            self.shelf.refresh()
        else:
            self._toolbox.remove(MAKE_TOOL)
            self._toolbox.missing = None
            self.shelf.clear()

    async def _require_confinement(self) -> None:
        await in_thread(lambda: self._found.wait(PATIENCE))
        if not self._confines:
            raise ToolError(
                "This machine does not confine generated code, so no tools are made here.",
                "Nothing but limits would hold it (see /status).",
                "Go on without it; the user can allow it with Session(isolation=...).",
            )

    def write_with(self, generator: Generator | None) -> Generator | None:
        """Change who writes; None means whoever plans. Returns who wrote before."""
        before, self._generator = self._generator, generator
        return before

    def watch(self, event: Event) -> None:
        """A view of the session's events: every turn begins with what is kept then, and with new attempts."""
        if isinstance(event, TurnBegan):
            self._maker.turn = TurnSoFar(prompt=self._mask(event.prompt))
            self._offer()

    async def missing(self, call: ToolCall) -> Tool | dict[str, JSON] | None:
        """The tool of a name that nobody has written yet; what the model is told if there is none."""
        if self._generator is None or names.problem(call.name, self._taken(call.name)):
            return None
        turn = self._maker.turn
        await self._require_confinement()
        request = Request(name=call.name, goal=turn.prompt, arguments=dict(call.arguments))
        told = await self._maker.generate(request, self._generator, anyway=True, at_once=False)
        if "error" in told:
            return told
        return self._toolbox.resolve(call.name)

    # -- for commands ----------------------------------------------------------------------------

    def make_one(self, description: str) -> Provider:
        """A planner that makes one tool and says what came of it; ``/make`` runs a turn with it.

        Raises
        ------
        UsageError
            If there is no description.
        """
        if not description.strip():
            raise UsageError("There is nothing to make.", "", "Say what: `/make count the vowels of a text`.")
        return MakeOneTool(description, self.listing)

    def listing(self) -> str:
        """The kept tools as a Markdown table."""
        return shown.listing(self.shelf)

    def describe(self, name: str) -> str:
        """One tool: versions, uses, source, as Markdown."""
        return shown.tool(self.shelf, name)

    def roll_back(self, name: str, version: int) -> str:
        """Offer another version of a tool; it is asked about if that one was never approved."""
        registry = self._registry_of(name)
        kept = registry.use(name, version)
        self.shelf.offer(kept)
        return f"`{name}` is at version {version} again."

    def diff(self, name: str, old: int, new: int) -> str:
        """What changed from one version to another."""
        return f"```diff\n{self._registry_of(name).diff(name, old, new)}\n```"

    def delete(self, name: str) -> str:
        """Take a tool out, with its versions and its approvals."""
        self._registry_of(name).delete(name)
        self.shelf.approvals.withdraw(name)
        self.shelf.refresh()
        return f"`{name}` is deleted."

    def function(self, name: str) -> ConfinedFunction:
        """An approved tool as a plain Python function, each call of it still confined.

        Raises
        ------
        UsageError
            If there is no such tool.
        """
        if self.shelf.find(name) is None:
            raise UsageError(f"There is no tool {name!r}.", "", "`/registry` lists them.")
        return ConfinedFunction(name, self.shelf, self.sandbox)

    def made(self) -> str:
        """The name of the tool that was kept last in the running or last turn; empty if there is none."""
        done = [name for name in self._maker.turn.attempts if self.shelf.find(name) is not None]
        return done[-1] if done else ""

    # -- inside ----------------------------------------------------------------------------------

    def _registry_of(self, name: str) -> Registry:
        found = self.shelf.find(name)
        if found is None:
            raise UsageError(f"There is no tool {name!r}.", "", "`/registry` lists them.")
        return found[0]

    def _taken(self, name: str) -> list[str]:
        """Names and aliases that are no generated tool's."""
        return [name] if name in self._toolbox and not self.shelf.offers(name) else []

    def _writer(self, request: Request) -> Generator | None:
        """A call without a name is ``/make``'s own: nobody has planned it who could write."""
        return self._generator or (None if request.name else self._spare)

    def _make_tool(self) -> Tool:
        async def make_tool(**arguments: Any) -> dict[str, JSON]:
            await self._require_confinement()
            anyway, first = bool(arguments.get("anyway")), arguments.get("call")
            if arguments.get("source"):
                draft = draft_from(arguments, self._planner())
                return await self._maker.make(draft, first=first, anyway=anyway)
            request = Request(
                name=str(arguments.get("name", "")),
                description=str(arguments.get("description", "")),
                goal=self._maker.turn.prompt,
                arguments=first,
            )
            return await self._maker.generate(request, self._writer(request), anyway=anyway)

        return Tool(
            name=MAKE_TOOL,
            description=DESCRIPTION + RULES,
            handler=make_tool,
            parameters=PARAMETERS,
            asks_itself=True,
        )
