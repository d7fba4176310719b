"""The session: what a person holds.

A session bundles a conversation that lasts (``lasting``), whoever answers in it (``answering``) and commands.
Here is how a turn is waited for, and what becomes of a line. Everything that a magic does is a method of it.
"""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Iterable, Sequence
from contextlib import suppress
from typing import Any, Self

from agent_magics import masking
from agent_magics.agent.answering import Answering, Prompt, inside_turn
from agent_magics.agent.background import background
from agent_magics.agent.budget import Budget
from agent_magics.agent.commands.table import Commands
from agent_magics.agent.context import Context
from agent_magics.agent.idle import MINUTES
from agent_magics.agent.line import Asked
from agent_magics.agent.past import Past, Place
from agent_magics.agent.permission import PATIENCE
from agent_magics.agent.policy import Approve, Phase, Policy
from agent_magics.agent.room import compact_now
from agent_magics.agent.waiting import GRACE, PlainWaiter, Waiter, wait_until
from agent_magics.errors import UsageError
from agent_magics.ports import Asker, Provider, Providers, Store, View, Workbench
from agent_magics.talk import Event, Image, ToolSpec, Turn
from agent_magics.talk.trace import Price, unknown
from agent_magics.tools.tool import Tool
from agent_magics.tools.toolbox import Toolbox

__all__ = ["Session", "inside_turn"]


class Session(Answering):
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
        super().__init__(
            Past(store, Place(notebook=notebook)),
            Policy(approve=approve, phase=phase),
            Context(system_prompt, context),
            providers=providers,
            provider=provider,
            options=options or {},
            toolbox=Toolbox(tools, workbench=workbench),
            asker=asker,
            patience=patience,
            max_rounds=max_rounds,
            budget=budget,
            session_budget=session_budget,
            price=price,
            idle_minutes=idle_minutes,
        )
        self.commands = Commands()
        self._waiter = waiter or PlainWaiter()
        if resume:
            self.resume(resume)

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
        wanted = Prompt(text=prompt, cell=cell, provider=provider, images=images, aside=aside)
        asked = Asked()
        return self._waiter.wait(lambda view: self._start(asked, wanted, (on_event, view)), asked.cancel)

    async def ask_async(self, prompt: str, *, on_event: View | None = None, cell: str = "") -> Turn:
        """Run one turn, awaited from any event loop; cancelling the await cancels the turn."""
        wanted, asked = Prompt(text=prompt, cell=cell), Asked()
        return await self._waiter.attend(
            lambda view: self._start(asked, wanted, (on_event, view)), asked.cancel
        )

    async def stream(self, prompt: str) -> AsyncIterator[Event]:
        """Run one turn and yield its events; ``TurnEnded`` is the last. Leaving early cancels the turn."""
        loop, events = asyncio.get_running_loop(), asyncio.Queue[Event | None]()

        def pass_on(event: Event | None) -> None:
            with suppress(RuntimeError):  # the loop is closed: nobody listens any more
                loop.call_soon_threadsafe(events.put_nowait, event)

        asked = Asked()
        future = self._start(asked, Prompt(text=prompt), (pass_on,))
        future.add_done_callback(lambda _: pass_on(None))
        try:
            while (event := await events.get()) is not None:
                yield event
        finally:
            if not future.done():
                asked.cancel()
                await asyncio.wait((asyncio.wrap_future(future),), timeout=GRACE)
        future.result()

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
