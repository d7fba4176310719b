"""The part of a session that answers: who does, how its turns are run, one at a time, and what they used.

Here a turn is started, and nobody waits for it. How that is done, and all else that a person asks of a
session, is in ``session``; the story of the turn itself, in ``loop``.
"""

from __future__ import annotations

import contextvars
import copy
from collections.abc import Callable, Sequence
from concurrent.futures import Future
from dataclasses import dataclass, replace
from typing import Any

from agent_magics import masking
from agent_magics.agent.background import background
from agent_magics.agent.budget import Budget, Ledger, Meter, Spent
from agent_magics.agent.context import Context
from agent_magics.agent.idle import Idle
from agent_magics.agent.lasting import Lasting
from agent_magics.agent.line import Asked
from agent_magics.agent.loop import TurnRun, run_turn, tell_unbegun
from agent_magics.agent.past import Past, new_id
from agent_magics.agent.permission import Permission
from agent_magics.agent.policy import Policy
from agent_magics.agent.replay import Replay
from agent_magics.agent.rounds import Caps
from agent_magics.agent.secrecy import IN_THE_PROMPT, Secrecy
from agent_magics.agent.slot import Slot
from agent_magics.agent.telling import Telling
from agent_magics.errors import SessionError, UsageError
from agent_magics.ports import Asker, Judge, Provider, Providers, View
from agent_magics.talk import Image, Turn
from agent_magics.talk.text import whole
from agent_magics.talk.trace import Price
from agent_magics.tools.result import Results
from agent_magics.tools.toolbox import Toolbox

_inside: contextvars.ContextVar[bool] = contextvars.ContextVar("agent_magics_inside_a_turn", default=False)


@dataclass(frozen=True, kw_only=True)
class Prompt:
    """What is asked, and what holds for its turn only; see :meth:`Answering.start`."""

    text: str
    cell: str = ""
    provider: Provider | None = None
    max_rounds: int | None = None
    budget: Budget | None = None
    images: Sequence[Image] = ()
    replaces: str = ""
    into: str = ""
    aside: bool = False
    judge: Judge | None = None


class Answering(Lasting):
    """A conversation in which prompts are answered.

    Parameters
    ----------
    past, policy, context
        The conversation that lasts; see :class:`~agent_magics.agent.lasting.Lasting`.
    providers, provider, options
        Who answers; see :class:`~agent_magics.agent.slot.Slot`.
    toolbox : Toolbox
        What the model may call.
    asker : Asker
        Who is asked for approvals.
    patience : float
        Seconds that a question waits for its answer.
    max_rounds : int
        Rounds of tool calls in a turn.
    budget, session_budget : Budget, optional
        What a turn may use, and all of them together.
    price : callable
        ``(provider, model, usage)`` -> US dollars, ``None`` where that is not known.
    idle_minutes : float
        After so many minutes without a turn, what can be brought again is given back. 0 for never.
    """

    def __init__(
        self,
        past: Past,
        policy: Policy,
        context: Context,
        *,
        providers: Providers,
        provider: str | Any,
        options: dict[str, Any],
        toolbox: Toolbox,
        asker: Asker,
        patience: float,
        max_rounds: int,
        budget: Budget | None,
        session_budget: Budget | None,
        price: Price,
        idle_minutes: float,
    ) -> None:
        super().__init__(past, policy, context)
        self.providers = providers
        self.toolbox = toolbox
        self.results = Results()
        self.max_rounds = max_rounds
        self.budget = budget or Budget()
        self.session_budget = session_budget or Budget()
        self.price = price
        self.replay: Replay | None = None
        self._ledger = Ledger(price)
        masking.guard_logs()
        self._emit = Secrecy(self._tell)
        self.permission = Permission(policy, asker, self._emit, patience)
        self.idle = Idle(idle_minutes, self._line)
        self._closed = False
        self._slot = Slot(providers, provider, options, self._line)
        self.idle.add(self._slot.rest)

    # -- who answers -------------------------------------------------------------------------------

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

    # -- turns -------------------------------------------------------------------------------------

    @property
    def spent(self) -> Spent:
        """What this session has used so far: its conversation, and all else that it ran."""
        return self._ledger.total(self.conversation.turns)

    def spent_in(self, turn: Turn) -> Spent:
        """What a turn of this session has used; estimated for a model that tells no tokens."""
        return self._ledger.of(turn)

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
        wanted = Prompt(
            text=prompt,
            cell=cell,
            provider=provider,
            max_rounds=max_rounds,
            budget=budget,
            images=images,
            replaces=replaces,
            into=into,
            judge=judge,
        )
        return self._start(Asked(), wanted, views)

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

    # -- inside ------------------------------------------------------------------------------------

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

    def _start(self, asked: Asked, prompt: Prompt, views: tuple[View | None, ...]) -> Future[Turn]:
        self._check(prompt.text)
        masking.look_around()
        if not self.busy and (parted := self.past.part()):
            self.notices.append(parted)
        run, watching = self._prepared(prompt), [view for view in views if view]
        self._line.join(asked)
        going = background.submit(
            self._line.go(asked, lambda: self._run(run, watching), lambda: _taken_back(run, watching))
        )
        going.add_done_callback(lambda _: self.idle.begin())  # also after a turn that never began
        return going

    def _prepared(self, prompt: Prompt) -> TurnRun:
        """The turn with all that it needs, as things are now."""
        text, here = whole(prompt.text), self.conversation
        said = masking.masked(text)
        answers = prompt.provider or self.replay or self.provider
        return TurnRun(
            id=new_id(),
            prompt=said,
            provider=answers,
            toolbox=self.toolbox,
            context=copy.copy(self.context) if prompt.aside else self.context,
            conversation=replace(here, turns=[*here.turns]) if prompt.aside else here,
            permit=self.permission,
            results=self.results,
            emit=self._emit,
            caps=Caps(max_rounds=prompt.max_rounds or self.max_rounds),
            meter=self._meter(answers, prompt.budget),
            cell=prompt.cell,
            images=tuple(prompt.images),
            replaces=prompt.replaces,
            into=prompt.into,
            notices=() if said == text else (IN_THE_PROMPT,),
            judge=prompt.judge,
        )

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
