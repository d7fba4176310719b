"""The session: what a person holds.

A session bundles a conversation, a provider, a toolbox, a policy and commands, and runs one turn at a time
on the background loop. Everything that a magic does is a method here.
"""

from __future__ import annotations

import asyncio
import contextvars
import copy
from collections.abc import AsyncIterator, Callable, Iterable, Sequence
from concurrent.futures import Future
from contextlib import suppress
from dataclasses import replace
from typing import Any, Self

from agent_magics import masking
from agent_magics.agent.background import background
from agent_magics.agent.budget import Budget, Ledger, Meter, Spent
from agent_magics.agent.commands.table import Commands
from agent_magics.agent.context import Context
from agent_magics.agent.idle import MINUTES, Idle
from agent_magics.agent.lasting import Lasting
from agent_magics.agent.line import Asked
from agent_magics.agent.loop import TurnRun, run_turn, tell_unbegun
from agent_magics.agent.past import Past, Place, new_id
from agent_magics.agent.permission import PATIENCE, Permission
from agent_magics.agent.policy import Approve, Phase, Policy
from agent_magics.agent.replay import Replay
from agent_magics.agent.room import compact_now
from agent_magics.agent.rounds import Caps
from agent_magics.agent.secrecy import IN_THE_PROMPT, Secrecy
from agent_magics.agent.slot import Slot
from agent_magics.agent.telling import Telling
from agent_magics.agent.waiting import GRACE, PlainWaiter, Waiter, wait_until
from agent_magics.errors import SessionError, UsageError
from agent_magics.ports import Asker, Judge, Provider, Providers, Store, View, Workbench
from agent_magics.talk import Event, Image, ToolSpec, Turn
from agent_magics.talk.text import whole
from agent_magics.talk.trace import Price, unknown
from agent_magics.tools.result import Results
from agent_magics.tools.tool import Tool
from agent_magics.tools.toolbox import Toolbox

_inside: contextvars.ContextVar[bool] = contextvars.ContextVar("agent_magics_inside_a_turn", default=False)


class Session(Lasting):
    """A conversation with a model that can use tools.

    This is the bare session, made of parts that are handed in. Use ``agent_magics.Session``, which finds the
    usual parts by itself and takes the same keywords.

    Parameters
    ----------
    provider : str or Provider
        ``"name"``, ``"name:model"``, ``"auto"``, or an object with ``fetch``.
    providers : Providers
        Where names are looked up.
    options : dict
        Keywords for the provider's factory (``base_url``, ``api_key``, ...).
    asker : Asker
        Who is asked for approvals.
    tools : iterable of Tool
        What the model may call.
    workbench : Workbench, optional
        The user's namespace and main thread.
    store : Store, optional
        Where facts outlive the process.
    resume : str
        The id of a stored session to go on with.
    notebook : str
        The notebook's path or name, by which its session is found again.
    approve : {"ask", "always", "never"}
        What happens where a tool asks.
    phase : {"plan", "default", "accept_edits", "trusted", "bypass"}
        How far the agent is trusted; see :class:`~agent_magics.agent.policy.Policy`.
    max_rounds : int
        Rounds of tool calls in a turn.
    system_prompt : str
        Takes the place of the built-in rules.
    context : str
        How much of earlier turns the model is sent: ``"full"``, ``"replies"`` (prompts and replies only) or
        ``"last:N"`` (the last N of these).
    budget, session_budget : Budget, optional
        What a turn may use, and all of them together.
    price : callable, optional
        ``(provider, model, usage)`` -> US dollars, ``None`` where that is not known.
    patience : float
        Seconds that a question waits for its answer.
    waiter : Waiter, optional
        How :meth:`ask` and :meth:`ask_async` wait.
    idle_minutes : float
        After so many minutes without a turn it gives back workers, a local model's server and sockets; the
        next turn brings them again. 0 for never.

    Attributes
    ----------
    past : Past
        What happened so far: the conversation, and how it is stored, changed and exchanged for another.
    notices : list of str
        What the reader is told in the next turn.
    idle : Idle
        What is given back when nobody talks to the session.
    replay : Replay or None
        Plays turns that are recorded, where there is one; ``provider`` answers the others, if it may.
    toolbox : Toolbox
        The tools; may be changed between turns.
    policy : Policy
        What is allowed.
    context : Context
        What the model is sent.
    status : dict of str to callable
        Further lines of ``/status``: label -> what renders its text.
    commands : Commands
        The slash commands.
    """

    def __init__(
        self,
        *,
        provider: str | Any,
        providers: Providers,
        asker: Asker,
        options: dict[str, Any] | None = None,
        tools: Iterable[Tool] = (),
        workbench: Workbench | None = None,
        store: Store | None = None,
        resume: str = "",
        notebook: str = "",
        approve: Approve = "ask",
        phase: Phase = "default",
        max_rounds: int = 25,
        system_prompt: str = "",
        context: str = "full",
        budget: Budget | None = None,
        session_budget: Budget | None = None,
        price: Price = unknown,
        patience: float = PATIENCE,
        waiter: Waiter | None = None,
        idle_minutes: float = MINUTES,
    ) -> None:
        if max_rounds < 1:
            raise UsageError(
                f"max_rounds={max_rounds!r} is not a number of rounds.", "It must be at least 1."
            )
        past, policy = Past(store, Place(notebook=notebook)), Policy(approve=approve, phase=phase)
        super().__init__(past, policy, Context(system_prompt, context))
        self.providers = providers
        self.toolbox = Toolbox(tools, workbench=workbench)
        self.commands = Commands()
        self.results = Results()
        self.max_rounds = max_rounds
        self.budget = budget or Budget()
        self.session_budget = session_budget or Budget()
        self.price = price
        self.replay: Replay | None = None
        self._ledger = Ledger(price)
        masking.guard_logs()
        self._emit = Secrecy(self._tell)
        self.permission = Permission(self.policy, asker, self._emit, patience)
        self._waiter = waiter or PlainWaiter()
        self.idle = Idle(idle_minutes, self._line)
        self._closed = False
        self._slot = Slot(providers, provider, options or {}, self._line)
        self.idle.add(self._slot.rest)
        if resume:
            self.resume(resume)

    # -- parts -----------------------------------------------------------------------------------

    @property
    def provider(self) -> Provider:
        """The model that answers; set it to a name, ``name:model`` or an object to change it."""
        return self._slot.provider

    @provider.setter
    def provider(self, provider: str | Any) -> None:
        self.use(provider)

    def use(self, provider: str | Any, **options: Any) -> Provider:
        """Change the provider, keeping the conversation.

        Parameters
        ----------
        provider : str or object
            ``"name"``, ``"name:model"``, ``"auto"``, or an object with ``fetch``.
        options
            Keywords for its factory. When there are none, those given to the session, as far as they are
            for this provider: another one gets no address and no key.

        Raises
        ------
        UnknownProvider
            If there is none of that name; the session keeps the one it has.
        """
        return self._slot.use(provider, **options)

    def build(self, spec: str = "", **options: Any) -> Provider:
        """A provider for single turns, to be given to :meth:`ask`: the session's own with other options, or
        another. Whoever asks for it closes it."""
        return self._slot.build(spec, **options)

    @property
    def spec(self) -> str:
        """What names the provider: ``auto``, ``name`` or ``name:model``."""
        return self._slot.spec

    @property
    def why(self) -> str:
        """One sentence: why this model."""
        return self._slot.why

    @property
    def spent(self) -> Spent:
        """What this session has used so far: its conversation, and all else that it ran."""
        return self._ledger.total(self.conversation.turns)

    def spent_in(self, turn: Turn) -> Spent:
        """What a turn of this session has used; estimated for a model that tells no tokens."""
        return self._ledger.of(turn)

    # -- turns -----------------------------------------------------------------------------------

    def ask(
        self,
        prompt: str,
        *,
        on_event: View | None = None,
        cell: str = "",
        provider: Provider | None = None,
        images: Sequence[Image] = (),
        aside: bool = False,
    ) -> Turn:
        """Run one turn and wait for it.

        Parameters
        ----------
        prompt : str
            What to ask; not blank.
        on_event : callable, optional
            Called with every event of this turn, in order, on the agent's thread.
        provider : Provider, optional
            Who answers in this turn only.
        images : sequence of Image
            Pictures that belong to the prompt.
        aside : bool
            Whether to run it on a copy of the conversation, and to keep and store nothing of it.

        Returns
        -------
        Turn
            Also when it failed: see ``stop`` and ``error``.

        Raises
        ------
        UsageError
            If the prompt is blank.
        SessionError
            If the session is closed, or this is called from inside a turn.
        KeyboardInterrupt
            If it is interrupted; the turn was cancelled and is kept, marked so.
        """
        asked = Asked()
        given: dict[str, Any] = {"cell": cell, "provider": provider, "images": images, "aside": aside}
        return self._waiter.wait(
            lambda view: self._start(asked, prompt, (on_event, view), **given), asked.cancel
        )

    async def ask_async(self, prompt: str, *, on_event: View | None = None, cell: str = "") -> Turn:
        """Run one turn, awaited from any event loop; cancelling the await cancels the turn."""
        asked = Asked()
        return await self._waiter.attend(
            lambda view: self._start(asked, prompt, (on_event, view), cell=cell), asked.cancel
        )

    async def stream(self, prompt: str) -> AsyncIterator[Event]:
        """Run one turn and yield its events; ``TurnEnded`` is the last. Leaving early cancels the turn."""
        loop, events = asyncio.get_running_loop(), asyncio.Queue[Event | None]()

        def pass_on(event: Event | None) -> None:
            with suppress(RuntimeError):  # the loop is closed: nobody listens any more
                loop.call_soon_threadsafe(events.put_nowait, event)

        asked = Asked()
        future = self._start(asked, prompt, (pass_on,))
        future.add_done_callback(lambda _: pass_on(None))
        try:
            while (event := await events.get()) is not None:
                yield event
        finally:
            if not future.done():
                asked.cancel()
                await asyncio.wait((asyncio.wrap_future(future),), timeout=GRACE)
        future.result()

    def start(
        self,
        prompt: str,
        *views: View | None,
        cell: str = "",
        provider: Provider | None = None,
        max_rounds: int | None = None,
        budget: Budget | None = None,
        images: Sequence[Image] = (),
        replaces: str = "",
        into: str = "",
        judge: Judge | None = None,
    ) -> Future[Turn]:
        """Start one turn, watched by ``views``, and return its future at once.

        ``provider``, ``max_rounds``, ``budget`` and ``judge`` (who decides whether the answer will do) hold
        for this turn only. With ``replaces`` it takes the place of an earlier turn and sees only those above
        it; ``into`` notes the variable that its reply is bound to. A turn that is started while another one
        runs waits for it.
        """
        given: dict[str, Any] = {
            "cell": cell,
            "provider": provider,
            "max_rounds": max_rounds,
            "budget": budget,
            "replaces": replaces,
            "into": into,
            "judge": judge,
        }
        return self._start(Asked(), prompt, views, images=images, **given)

    def cancel(self) -> None:
        """Stop the turn that runs, and those that wait: within half a second it ends as ``cancelled``, with
        all that it had."""
        self._line.cancel()

    stop = cancel

    def subscribe(self, view: View) -> Callable[[], None]:
        """Have every event of every turn passed to ``view``, in order, on the agent's thread.

        A view that raises is logged and dropped. What is returned removes it again.
        """
        return self._tell.subscribe(view)

    def dispatch(self, line: str, *, on_event: View | None = None) -> Turn | str | None:
        """One cell or line: blank is nothing, a leading ``/`` a command, everything else a turn.

        Returns
        -------
        Turn, str or None
            The turn, or the command's Markdown, or nothing.
        """
        if not line.strip():
            return None
        if line.lstrip().startswith("/"):
            return self.command(line)
        return self.ask(line, on_event=on_event)

    def command(self, line: str) -> str:
        """Run a slash command and return its Markdown.

        Raises
        ------
        UsageError
            If there is no such command, or it can't take these words.
        """
        masking.look_around()
        try:
            return masking.masked(self.commands.run(self, line.strip()))
        finally:
            if not self.busy:  # a turn keeps it when it ends
                self.past.see(self.context.kept())
            self.idle.begin()

    def compact(self) -> str:
        """Make room in what the model is sent, now; returns what was done, or nothing.

        Old results are shortened, then the model sums up the middle. The turns stay as they are.

        Raises
        ------
        SessionError
            If this is called from inside a turn.
        """
        return compact_now(self, self._line)

    def specs(self) -> list[ToolSpec]:
        """The tools as the model is told of them."""
        return self.toolbox.specs()

    # -- life ------------------------------------------------------------------------------------

    def close(self) -> None:
        """Cancel what runs and give back sockets and processes. A closed session takes no more turns."""
        if self._closed:
            return
        self._closed = True
        self.cancel()
        self.idle.close()
        closing = self._slot.close()
        if closing is not None and not background.inside():
            wait_until(closing, limit=GRACE)

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def __repr__(self) -> str:
        return f"<Session {self.id} {self._slot}, {len(self.conversation.turns)} turns>"

    # -- inside ----------------------------------------------------------------------------------

    def _check(self, prompt: str) -> None:
        if self._closed:
            raise SessionError("This session is closed.", "close() was called.", "Make a new Session.")
        if inside_turn():
            raise SessionError(
                "A turn can't be started from inside a turn.",
                "A tool, a hook or the agent's own loop called the session; waiting for it would never end.",
                "Return the value to the model and let it go on.",
            )
        if not prompt.strip():
            raise UsageError(
                "There is no prompt.", "The cell or line is blank.", "Write what you want to know."
            )

    def _start(
        self,
        asked: Asked,
        prompt: str,
        views: tuple[View | None, ...],
        *,
        cell: str = "",
        provider: Provider | None = None,
        max_rounds: int | None = None,
        budget: Budget | None = None,
        images: Sequence[Image] = (),
        replaces: str = "",
        into: str = "",
        aside: bool = False,
        judge: Judge | None = None,
    ) -> Future[Turn]:
        self._check(prompt)
        masking.look_around()
        said = masking.masked(whole(prompt))
        if not self.busy and (parted := self.past.part()):
            self.notices.append(parted)
        here = self.conversation
        answers = provider or self.replay or self.provider
        run = TurnRun(
            id=new_id(),
            prompt=said,
            provider=answers,
            toolbox=self.toolbox,
            context=copy.copy(self.context) if aside else self.context,
            conversation=replace(here, turns=[*here.turns]) if aside else here,
            permit=self.permission,
            results=self.results,
            emit=self._emit,
            caps=Caps(max_rounds=max_rounds or self.max_rounds),
            meter=self._meter(answers, budget),
            cell=cell,
            images=tuple(images),
            replaces=replaces,
            into=into,
            notices=() if said == whole(prompt) else (IN_THE_PROMPT,),
            judge=judge,
        )
        watching = [view for view in views if view]
        self._line.join(asked)
        going = background.submit(
            self._line.go(asked, lambda: self._run(run, watching), lambda: _taken_back(run, watching))
        )
        going.add_done_callback(lambda _: self.idle.begin())  # also after a turn that never began
        return going

    def _meter(self, provider: Provider, budget: Budget | None) -> Meter:
        meter = Meter((budget or Budget()).over(self.budget), self.session_budget, self.price)
        meter.check_price(provider)
        return meter

    async def _run(self, run: TurnRun, views: list[View]) -> Turn:
        if self._closed:
            return _taken_back(run, views)
        _inside.set(True)
        if isinstance(run.provider, Replay):
            run = await run.provider.prepared(run)
        remove = [self.subscribe(view) for view in views]
        self.policy.new_turn()
        self._tell.keeping = run.conversation is self.conversation
        if self._tell.keeping:
            run.notices, self.notices[:] = (*run.notices, *self.notices), []
        run.meter.begin(self.spent if self.session_budget else Spent())
        try:
            await run_turn(run)
        finally:
            self._tell.keeping = True
            for each in remove:
                each()
        assert self.turn is not None
        if not self.turn.origin:  # what is played from a file was paid before
            self._ledger.keep(run.id, run.meter.spent)
        self.past.see(self.context.kept())
        return self.turn


def inside_turn() -> bool:
    """Whether the caller is part of a turn (a tool, a hook), so that waiting for another would never end."""
    return background.inside() or _inside.get()


def _taken_back(run: TurnRun, views: list[View]) -> Turn:
    """A turn that was cancelled before it began: only who asked for it hears of it, and nothing keeps it."""
    told = Telling()
    for view in views:
        told.subscribe(view)
    tell_unbegun(run, told)
    assert told.turn is not None
    return told.turn
