"""One notebook's agent: its session, and what a magic does with it.

This is the composition root: it puts bridge, pump, asker, workbench and cell together with the session.
"""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import replace
from functools import cached_property
from typing import TYPE_CHECKING, Any

from agent_magics import doctor
from agent_magics.agent.budget import Budget
from agent_magics.agent.commands.command import Command
from agent_magics.api import Session, approve_by_default
from agent_magics.errors import BindingError, TurnFailed
from agent_magics.front import Front
from agent_magics.notebook.asking import CellAsker
from agent_magics.notebook.bridge import Bridge
from agent_magics.notebook.cell import Cell, CellWaiter
from agent_magics.notebook.endings import ANSWERED, lines
from agent_magics.notebook.frontend import Frontend
from agent_magics.notebook.guests import Guests
from agent_magics.notebook.lasting import Lasting
from agent_magics.notebook.lines import ask_by_input
from agent_magics.notebook.progress import CellProgress
from agent_magics.notebook.pump import Pump
from agent_magics.notebook.python_tool import python_tool
from agent_magics.notebook.replaying import Replaying
from agent_magics.notebook.stopped import TurnStopped
from agent_magics.notebook.workbench import NotebookWorkbench
from agent_magics.providers.parts import picture
from agent_magics.talk import Turn
from agent_magics.tools.builtin.inspect import inspect_tool
from agent_magics.tools.builtin.variables import variables_tool

if TYPE_CHECKING:
    from agent_magics.extract.extraction import Extraction
    from agent_magics.ports import Provider


class Notebook:
    """The agent of one running shell.

    Parameters
    ----------
    shell
        The running IPython shell.
    settings
        The magics' traits, such as ``provider`` and ``approve``.
    """

    def __init__(self, shell: Any, settings: Any) -> None:
        self.shell = shell
        self.settings = settings
        self.bridge = Bridge(shell)
        self.bridge.install()
        pump = Pump(self.bridge)
        self.workbench = NotebookWorkbench(shell, pump)
        self.asker = CellAsker(pump, ask_by_input)
        frontend = Frontend(shell)
        self.cell = Cell(frontend, pump, self.asker, settings)
        self.lasting = Lasting(frontend, shell.user_ns, settings)
        self._guests = Guests()
        self._replaying = Replaying(settings)
        self._hidden = frozenset(shell.user_ns_hidden)
        self._session: Session | None = None

    # -- the session -----------------------------------------------------------------------------

    @cached_property
    def front(self) -> Front:
        """What sessions made in this notebook are lent."""
        tools = (
            variables_tool(self.workbench, self._hidden),
            inspect_tool(self.workbench),
            python_tool(self.shell),
        )
        return Front(
            asker=self.asker,
            workbench=self.workbench,
            waiter=CellWaiter(self.cell),
            tools=tools,
            progress=CellProgress if self.cell.shows_pages else None,
        )

    @property
    def session(self) -> Session:
        """The session of this notebook's cells; made when it is first needed."""
        if self._session is None:
            self._session = Session(
                self.settings.provider,
                approve=self.settings.approve or None,
                max_rounds=self.settings.max_rounds,
                budget=Budget(usd=self.settings.budget),
                generator=self.settings.generator or None,
                idle_minutes=self.settings.idle_minutes,
                context=self.settings.context,
                front=self.front,
                store=self.lasting.store,
            )
            self._furnish(self._session)
        return self._session

    def _furnish(self, session: Session) -> None:
        self.lasting.furnish(session)
        session.idle.add(self._guests.rest)
        session.status["front end"] = self._frontend_said
        session.commands.add(doctor.command(self._frontend_said))
        for name in ("approve", "reject"):
            session.commands.add(
                Command(
                    name=name,
                    usage="[ID]",
                    summary=f"{name.capitalize()} the call that waits under this id; without an id, show it.",
                    run=lambda _, words, name=name: self._answered(name, words),
                )
            )

    def _answered(self, name: str, words: str) -> str:
        return self.asker.typed(name, words)

    def _frontend_said(self) -> str:
        return self.cell.frontend_said

    def configure(self, names: Collection[str]) -> None:
        """Let the session follow the traits of these names.

        Raises
        ------
        AgentMagicsError
            If one can't be followed; the session stays as it is.
        """
        if self._session is None:
            return
        if "provider" in names:
            self._session.provider = self.settings.provider or "auto"
        if "generator" in names:
            self._session.write_tools_with(self.settings.generator)
        if "approve" in names:
            self._session.policy.approve = self.settings.approve or approve_by_default()
        if "max_rounds" in names:
            self._session.max_rounds = self.settings.max_rounds
        if "budget" in names:
            self._session.budget = replace(self._session.budget, usd=self.settings.budget)
        if "idle_minutes" in names:
            self._session.idle.minutes = self.settings.idle_minutes
        if "context" in names:
            self._session.context.policy = self.settings.context
        self.lasting.follow(self._session, set(names))

    def close(self) -> None:
        """Give everything back."""
        self.bridge.uninstall()
        if self._session is not None:
            self._session.close()
        self._guests.close()

    # -- one cell --------------------------------------------------------------------------------

    def turn(self, prompt: str, values: dict[str, Any]) -> Turn:
        """Run one turn in the running cell.

        Parameters
        ----------
        prompt : str
            What to ask.
        values : dict
            The options of the magic's line; see :mod:`agent_magics.notebook.options`.

        Raises
        ------
        TurnStopped
            If it was interrupted or stopped: the cells that follow should not run.
        BindingError
            If it can't bind what ``--into`` or ``--schema`` asked for.
        TurnFailed
            If it failed, and ``--strict`` asks for that.
        """
        session = self.session
        extraction = self._extraction(values)

        def asked() -> Provider:
            provider = self._guests.provider(session, values)
            return extraction.holding(provider) if extraction else provider

        provider = self._replaying.provider(session, values, asked, paced=self.cell.mode != "none")
        images = [picture(path) for path in values.get("image", ())]
        replaces = self.lasting.replaces(session)

        def begin(view: Any) -> Any:
            return session.start(
                prompt,
                view,
                cell=self.cell.id,
                provider=provider,
                max_rounds=values.get("max-rounds"),
                budget=_budget(values),
                images=images,
                replaces=replaces,
                into=values.get("into", ""),
                judge=extraction,
            )

        screen = self.cell.screen(session.cancel)
        try:
            with session.tools_written_by(self._guests.generator(session, values)):
                turn = self.cell.show(screen, begin, session.cancel)
        finally:
            if screen.turn is not None:
                self.shell.user_ns["_turn"] = screen.turn
            self.lasting.ended(session, screen.turn, screen.display)
        if turn.stop == "cancelled":
            raise TurnStopped
        self._bind(turn, values.get("into", ""), extraction)
        if turn.stop not in ANSWERED and self._strict(values):
            raise TurnFailed(*lines(turn))
        return turn

    def _extraction(self, values: dict[str, Any]) -> Extraction | None:
        if "schema" not in values:
            return None
        from agent_magics.extract.extraction import Extraction
        from agent_magics.extract.schema import Schema

        return Extraction(Schema.of(values["schema"], namespace=self.shell.user_ns))

    def _bind(self, turn: Turn, into: str, extraction: Extraction | None) -> None:
        if not (into or extraction):
            return
        if turn.stop not in ANSWERED or (extraction and not extraction.done):
            what, why, _ = lines(turn)
            bound = f"{into!r} was not bound" if into else "There is no value"
            raise BindingError(f"{bound}: {what}", why, "Run the cell again; what was bound before is kept.")
        if into:
            self.shell.user_ns[into] = extraction.value if extraction else turn.reply

    def _strict(self, values: dict[str, Any]) -> bool:
        return values.get("strict") or self.settings.strict or self.cell.mode == "none"


def _budget(values: dict[str, Any]) -> Budget:
    """The limits of one cell, from the options of its line."""
    return Budget(
        usd=values.get("budget"),
        tokens=values.get("max-total-tokens"),
        seconds=values.get("max-seconds"),
    )
