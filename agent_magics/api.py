"""The Python API: the session with its usual parts found by themselves.

The bare session in ``agent`` is handed everything. This one looks providers up by name, takes its settings
from the environment, and asks where asking is possible: in the running cell when a notebook has installed
its ``Front``, at the terminal when there is one, and otherwise nobody, which counts as "no".
"""

from __future__ import annotations

import os
from collections.abc import Generator, Iterable, Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import Any, Literal, cast, get_args

from agent_magics.agent.budget import Budget
from agent_magics.agent.commands import export, facts, forget, key, remember
from agent_magics.agent.idle import MINUTES
from agent_magics.agent.otel import OpenTelemetry
from agent_magics.agent.policy import Approve, Phase
from agent_magics.agent.remembering import Remembering
from agent_magics.agent.replay import Replay
from agent_magics.agent.session import Session as BareSession
from agent_magics.agent.waiting import PlainWaiter, Waiter
from agent_magics.errors import ConfigError, UsageError
from agent_magics.forge.workshop import MAKE_TOOL, Making
from agent_magics.front import Front, current_front, front_session
from agent_magics.one_text import extract
from agent_magics.ports import Asker, Memories, Store, View, Workbench
from agent_magics.providers import dotenv, prices
from agent_magics.providers.registry import Registry
from agent_magics.providers.vault import Vault
from agent_magics.store.in_memory import MemoryStore
from agent_magics.talk import Approval, ApprovalAsked, Turn
from agent_magics.tool_making import Level, generator_for, kept_names, open_workshop
from agent_magics.tools.allowed import Allowed
from agent_magics.tools.builtin.forget import forget_tool
from agent_magics.tools.builtin.more import more_tool
from agent_magics.tools.builtin.remember import remember_tool
from agent_magics.tools.tool import Tool
from agent_magics.tools.tool import tool as as_tool
from agent_magics.ui.files import looks

__all__ = ["Session", "approve_by_default", "current_session", "extract", "run"]

Planner = Literal["native", "json", "classic"]


class NobodyToAsk:
    """The asker of last resort: says no, and says why."""

    async def ask(self, request: ApprovalAsked) -> Approval:
        return Approval(decision="reject", by="policy", comment="there is nobody to ask here")


class Session(BareSession):
    """A conversation with a model that can use tools.

    Parameters
    ----------
    provider : str or object
        ``"name"``, ``"name:model"``, ``"auto"`` (the default: what is configured, installed or reachable,
        in the order that ``%agent`` names), or any object with ``fetch(messages, tools)``.
    model : str, optional
        The model, where ``provider`` names none. Any name is accepted.
    base_url, api_key, headers, timeout
        Passed to the provider. ``timeout`` is in seconds and counts from event to event, not in all.
    tools : iterable of Tool or function, or "all"
        What the model may call, besides the catalog's own.
    phase : {"plan", "default", "accept_edits", "trusted", "bypass"}
        How far the agent is trusted.
    approve : {"ask", "always", "never"}, optional
        What happens where a tool asks. Default: ``$AGENT_MAGICS_APPROVE``, else ``"ask"``.
    max_rounds : int
        Rounds of tool calls in a turn; then the model is asked for a final answer.
    budget, session_budget : Budget, optional
        What a turn may use in dollars, tokens, requests and seconds, and what all of them together may. A
        turn that reaches its limit ends with what it had; see :class:`Budget`.
    planner : {"native", "json", "classic"}, optional
        How tools are called: by the vendor's own tool calling, by JSON under a schema, by keyword rules.
    tool_making : {"on", "auto", "off"}
        Whether the model may write tools, with ``make_tool``; ``"auto"`` also when it names one that nobody
        has written. They run confined, and a person approves each of them.
    generator : str or object, optional
        Who writes them, if not whoever plans: a provider, or ``"demo"`` for recipes that need no model.
    isolation : {"auto", "A", "B", "C", "D"}
        The level at which they run. ``"auto"`` is A or B, whichever this machine gives; where it gives
        neither no tools are made. Naming C or D is the opt-in to less; each card then says so.
    system_prompt : str
        Takes the place of the built-in rules.
    context : str
        How much of earlier turns the model is sent: ``"full"`` (compacted when its window fills up),
        ``"replies"`` (prompts and replies only) or ``"last:N"`` (the last N of these).
    cwd : path, optional
        The folder that relative paths are meant from; default: the process's.
    allowed_tools, disallowed_tools : iterable of str
        Offer only these; never offer those.
    store : "default" or Store, optional
        Where the conversation outlives the process: ``"default"`` is the user's own store, which notebooks
        use too. Without one it ends with the process.
    resume : str
        The id of a stored session to go on with, or the beginning of it; implies ``store="default"``.
    replay : path, optional
        A notebook or a JSON file whose turns are played, with nothing sent and nothing run.
    replay_mode : {"only", "auto"}
        Whether a turn that it does not hold is an error, or is run.
    notebook : str
        The notebook's path or name, which a list of sessions shows.
    idle_minutes : float
        After so many minutes without a turn it gives back workers, a local model's server and sockets; the
        next turn brings them again. 0 for never.
    otel : bool or OpenTelemetry
        Tell turns to OpenTelemetry: ``True`` for the tracer that the process has set up.
    asker, workbench, waiter, front
        Parts of your own; see :mod:`agent_magics.ports` and
        :class:`~agent_magics.front.Front`.
    options
        Whatever else the provider's factory takes.

    Examples
    --------
    >>> with Session(provider="stub") as session:
    ...     turn = session.ask("hello")
    >>> turn.stop
    'done'
    """

    def __init__(
        self,
        provider: str | Any = "",
        *,
        model: str | None = None,
        base_url: str | None = None,
        api_key: str | None = None,
        headers: Mapping[str, str] | None = None,
        timeout: float | None = None,
        tools: Iterable[Any] | Literal["all"] = (),
        phase: Phase = "default",
        approve: Approve | None = None,
        max_rounds: int = 25,
        budget: Budget | None = None,
        session_budget: Budget | None = None,
        planner: Planner | None = None,
        tool_making: Making = "on",
        generator: str | Any | None = None,
        isolation: Level = "auto",
        system_prompt: str = "",
        context: str = "full",
        cwd: str | Path | None = None,
        allowed_tools: Iterable[str] | None = None,
        disallowed_tools: Iterable[str] = (),
        asker: Asker | None = None,
        workbench: Workbench | None = None,
        store: Store | Literal["default"] | None = None,
        resume: str = "",
        replay: str | Path = "",
        replay_mode: Literal["only", "auto"] = "only",
        notebook: str = "",
        waiter: Waiter | None = None,
        front: Front | None = None,
        idle_minutes: float = MINUTES,
        otel: bool | OpenTelemetry = False,
        **options: Any,
    ) -> None:
        front = front or current_front() or _front_outside()
        self.cwd = Path(cwd or Path.cwd()).resolve()
        super().__init__(
            provider=provider or "auto",
            providers=Registry(),
            options=_given(
                model=model,
                base_url=base_url,
                api_key=api_key,
                headers=dict(headers) if headers else None,
                timeout=timeout,
                planner=planner,
            )
            | options,
            asker=asker or front.asker,
            workbench=workbench or front.workbench,
            store=_store(store or ("default" if resume else None)),
            resume=resume,
            notebook=notebook,
            approve=approve or approve_by_default(),
            phase=phase,
            max_rounds=max_rounds,
            budget=budget,
            session_budget=session_budget,
            price=prices.cost,
            system_prompt=system_prompt,
            context=context,
            waiter=waiter or front.waiter,
            idle_minutes=idle_minutes,
        )
        dotenv.entries(self.cwd)  # whether a key of it is used or not, nobody shall see it
        self.remembering = self._remember(self.past.store)
        self.commands.add(key.command(Vault()))
        self.commands.add(export.command(looks))
        if replay:
            path = export.located(self, str(replay))
            self.replay = Replay(paths=[path], otherwise=lambda: self.provider, mode=replay_mode)
        if otel:
            self._trace(OpenTelemetry() if otel is True else otel)
        allowed = Allowed.of(allowed_tools, disallowed_tools)
        self._fill(front.tools, tools, allowed)
        self._making: Making = tool_making if allowed.has(MAKE_TOOL) else "off"
        self.forge = open_workshop(
            self,
            making=self._making,
            generator=generator,
            cwd=self.cwd,
            isolation=isolation,
            allows=allowed.has,
        )

    def write_tools_with(self, generator: str | Any | None) -> None:
        """Change who writes missing tools: a provider, ``"demo"`` for recipes, None for whoever plans.

        Raises
        ------
        UnknownProvider
            If there is none of that name.
        """
        self.forge.write_with(self._writer(generator))

    @contextmanager
    def tools_written_by(self, generator: str | Any | None) -> Generator[None]:
        """Change who writes missing tools for as long as the block runs; with None, nothing is changed."""
        if not generator:
            yield
            return
        before = self.forge.write_with(self._writer(generator))
        try:
            yield
        finally:
            self.forge.write_with(before)

    def _writer(self, generator: str | Any | None) -> Any:
        if isinstance(generator, str) and generator and generator != "demo":
            generator = self.providers.build(generator)  # at once: a wrong name is told before the turn
        return generator_for(self, generator, self._making)

    def _remember(self, store: object) -> Remembering:
        """The facts: kept where the conversation is, else for as long as this session lives."""

        def turns() -> Iterator[Turn]:
            yield from self.conversation.turns
            if self.turn is not None:
                yield self.turn

        remembering = Remembering(
            store if isinstance(store, Memories) else MemoryStore(),
            notebook=lambda: self.past.info.notebook or self.id,
            turns=turns,
            toolbox=self.toolbox,
        )
        self.context.sections["facts"] = remembering.section
        for module in (facts, remember, forget):
            self.commands.add(module.command(remembering))
        return remembering

    def _trace(self, view: OpenTelemetry) -> None:
        """Tell turns to OpenTelemetry, as those of this conversation unless the view knows better."""
        view.conversation = view.conversation or (lambda: self.id)
        self.subscribe(view)

    def _fill(self, lent: Iterable[Tool], tools: Iterable[Any] | Literal["all"], allowed: Allowed) -> None:
        """Put the tools in: the front end's, those given here, and the catalog's, as far as allowed."""
        if isinstance(tools, str) and tools != "all":
            raise UsageError(
                f"tools={tools!r} is not known.",
                "It is 'all', or a list of tools.",
                "For example tools=[my_tool].",
            )
        own = () if isinstance(tools, str) else tuple(tools)
        offered = [
            *lent,
            *(each if isinstance(each, Tool) else as_tool(each) for each in own),
            more_tool(self.results),
            remember_tool(self.remembering.remember, self.remembering.why_remember_asks),
            forget_tool(self.remembering.forget, self.remembering.why_forget_asks),
        ]
        allowed.check({each.name for each in offered} | {MAKE_TOOL, *kept_names(self.cwd)})
        for each in offered:
            if allowed.has(each.name):
                self.toolbox.add(each)


def _store(wanted: Store | str | None) -> Store | None:
    if not isinstance(wanted, str):
        return wanted
    if wanted != "default":
        raise UsageError(
            f"store={wanted!r} is not known.",
            "It is 'default', or an object that keeps facts.",
            'For example store="default".',
        )
    from agent_magics.stores import default_store

    return default_store()


def _given(**keywords: Any) -> dict[str, Any]:
    """Those keywords that were given at all; for the others the provider has its own defaults."""
    return {name: value for name, value in keywords.items() if value is not None}


def _front_outside() -> Front:
    """Outside a notebook: whoever sits at the terminal that this program runs in, if somebody does."""
    from agent_magics.terminal import Terminal, is_here, questions

    if not is_here():
        return Front(asker=NobodyToAsk(), waiter=PlainWaiter())
    terminal = Terminal(questions)
    return Front(asker=terminal, waiter=terminal)


def approve_by_default() -> Approve:
    """What ``$AGENT_MAGICS_APPROVE`` says; ``"ask"`` if it says nothing.

    Raises
    ------
    ConfigError
        If it says something else than ``ask``, ``always`` or ``never``.
    """
    said = os.environ.get("AGENT_MAGICS_APPROVE", "").strip() or "ask"
    if said not in get_args(Approve):
        raise ConfigError(
            f"AGENT_MAGICS_APPROVE={said!r} is not known.",
            f"It may be {', '.join(get_args(Approve))}.",
            "Set it to one of these, or unset it: then you are asked.",
        )
    return cast("Approve", said)


_own: BareSession | None = None


def current_session() -> BareSession:
    """The session that ``%%agent`` talks to; outside a notebook, one that is made when first asked for."""
    global _own
    if (session := front_session()) is not None:
        return session
    if _own is None:
        _own = Session()
    return _own


def run(prompt: str, *, on_event: View | None = None, **options: Any) -> Turn:
    """Run one turn in a session of its own.

    Parameters
    ----------
    prompt : str
        What to ask.
    on_event : callable, optional
        Called with every event.
    options
        Keywords of :class:`Session`.

    Examples
    --------
    >>> run("hello", provider="stub").stop
    'done'
    """
    with Session(**options) as session:
        return session.ask(prompt, on_event=on_event)
