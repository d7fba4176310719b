"""What a turn and a session may cost: money, tokens, requests, time.

Money, tokens and requests are looked at before each request: one that was begun is paid whole, so a turn may
end a little over its limit, never with one more request. When the limit is reached the calls that were asked
for are not run, since nobody would read their results. Time is different: when it is over, whatever runs is
cancelled, and all that came so far is kept.
"""

from __future__ import annotations

import asyncio
import math
import time
from collections.abc import Coroutine, Iterable
from dataclasses import dataclass, fields
from typing import Any, TypeVar

from agent_magics.errors import AgentMagicsError, UsageError
from agent_magics.ports import Provider
from agent_magics.talk import ReplyReceived, Turn, Usage
from agent_magics.talk.text import dollars, seconds
from agent_magics.talk.trace import Price, trace, unknown

T = TypeVar("T")

LIMITS = {"usd": "US dollars", "tokens": "tokens", "rounds": "requests to the model", "seconds": "seconds"}
"""The limits and what each counts."""


@dataclass(frozen=True, kw_only=True)
class Budget:
    """Limits; each may be left out.

    Parameters
    ----------
    usd : float, optional
        US dollars. Needs a model whose price is known, or that costs nothing.
    tokens : int, optional
        Tokens sent and generated, together.
    rounds : int, optional
        Requests to the model.
    seconds : float, optional
        Wall time, with what is waited for a person.

    Raises
    ------
    UsageError
        If a limit is not a positive number.

    Examples
    --------
    >>> Budget(usd=0.5, seconds=60)
    Budget(usd=0.5, tokens=None, rounds=None, seconds=60)
    """

    usd: float | None = None
    tokens: int | None = None
    rounds: int | None = None
    seconds: float | None = None

    def __post_init__(self) -> None:
        for name, what in LIMITS.items():
            value = getattr(self, name)
            number = isinstance(value, int | float) and not isinstance(value, bool)
            if value is not None and not (number and math.isfinite(value) and value > 0):
                raise UsageError(
                    f"A budget of {value!r} {what} is none.",
                    "A limit is a number above 0.",
                    f"For example Budget({name}={1 if name == 'usd' else 60}); leave it out for no limit.",
                )

    def __bool__(self) -> bool:
        return any(getattr(self, name) is not None for name in LIMITS)

    def over(self, other: Budget) -> Budget:
        """These limits, and where there is none the other's."""
        return Budget(**{name: _first(getattr(self, name), getattr(other, name)) for name in LIMITS})


@dataclass(frozen=True, kw_only=True)
class Spent:
    """What was used. ``unpriced`` counts the requests whose price is not known; ``usd`` is without them."""

    usd: float = 0.0
    unpriced: int = 0
    tokens: int = 0
    rounds: int = 0
    seconds: float = 0.0

    def __add__(self, other: Spent) -> Spent:
        return Spent(
            **{each.name: getattr(self, each.name) + getattr(other, each.name) for each in fields(self)}
        )


class BudgetSpent(AgentMagicsError):
    """Ends a turn whose budget is used up; it says which limit it was."""


class Ledger:
    """What the turns of a session have used, each counted once, whether or not it is still in the
    conversation.

    Parameters
    ----------
    price : callable
        What tokens cost.
    """

    def __init__(self, price: Price = unknown) -> None:
        self._price = price
        self._turns: dict[str, Spent] = {}

    def keep(self, turn: str, spent: Spent) -> None:
        self._turns[turn] = spent

    def total(self, turns: Iterable[Turn] = ()) -> Spent:
        """All of it. Turns that ran before this process began are counted by their records; those from a
        file were paid by somebody else."""
        for turn in turns:
            self.of(turn)
        return sum(self._turns.values(), Spent())

    def of(self, turn: Turn) -> Spent:
        """One turn's."""
        if turn.origin:
            return Spent()
        if turn.id not in self._turns:
            self._turns[turn.id] = spent_by(turn, self._price)
        return self._turns[turn.id]


def spent_by(turn: Turn, price: Price) -> Spent:
    """What a turn has used, by its record."""
    spans = trace(turn, price).of("model", "stage")
    return Spent(
        usd=sum(span.cost or 0.0 for span in spans),
        unpriced=sum(span.cost is None for span in spans),
        tokens=sum(span.usage.total for span in spans),
        rounds=len(turn.steps) + sum(span.kind == "stage" and span.usage.total > 0 for span in spans),
        seconds=turn.seconds,
    )


class Meter:
    """Measures one turn against its budget and the session's.

    Parameters
    ----------
    turn, session : Budget
        The limits.
    price : callable
        What tokens cost.
    """

    def __init__(
        self, turn: Budget | None = None, session: Budget | None = None, price: Price = unknown
    ) -> None:
        self._turn = turn or Budget()
        self._session = session or Budget()
        self._price = price
        self.begin(Spent())

    def begin(self, before: Spent) -> None:
        """The turn begins; ``before`` is what the session had used until then."""
        self._before = before
        self._spent = Spent()
        self._began = time.monotonic()

    @property
    def spent(self) -> Spent:
        """What the turn has used so far."""
        return self._spent + Spent(seconds=time.monotonic() - self._began)

    def check_price(self, provider: Provider) -> None:
        """Refuse a limit in money that can't be kept.

        Raises
        ------
        UsageError
            If there is one, and the model's price is not known.
        """
        if self._turn.usd is None and self._session.usd is None:
            return
        if self._price(provider.name, provider.model, Usage(input=1_000, output=1_000)) is None:
            model = f"{provider.name}:{provider.model}".removesuffix(":")
            raise UsageError(
                f"A budget in dollars can't be kept with {model!r}: its price is not known.",
                "The list of prices does not name it, or is not installed (the extra 'prices').",
                "Set a limit in tokens or seconds instead, or choose a model with a known price.",
            )

    def add(self, provider: str, model: str, usage: Usage) -> None:
        """Count one request."""
        cost = self._price(provider, model, usage)
        self._spent += Spent(usd=cost or 0.0, unpriced=int(cost is None), tokens=usage.total, rounds=1)

    def guess(self, reply: ReplyReceived, provider: Provider, sent: int) -> None:
        """Count the tokens of a reply that told none, at four characters each: a limit must hold for every
        model. ``sent`` is about how many tokens the request held."""
        said = len(reply.text) + len(reply.thinking) + sum(len(str(call.arguments)) for call in reply.calls)
        usage = Usage(input=sent, output=(said + 3) // 4)
        cost = self._price(provider.name, provider.model, usage)
        self._spent += Spent(usd=cost or 0.0, tokens=usage.total)

    def check(self) -> None:
        """Raise :class:`BudgetSpent` if a limit is reached."""
        here, all_ = self.spent, self._before + self.spent
        for budget, spent, of in ((self._turn, here, "turn"), (self._session, all_, "session")):
            for name in LIMITS:
                limit = getattr(budget, name)
                if limit is not None and getattr(spent, name) >= limit:
                    raise _used_up(name, getattr(spent, name), limit, of)
            if budget.usd is not None and spent.unpriced and here.unpriced:
                raise BudgetSpent(
                    f"Stopped: a request of this {of} has a price that is not known.",
                    "So its budget in dollars can't be kept.",
                    "What came so far is kept; set a limit in tokens instead.",
                )

    async def within(self, work: Coroutine[Any, Any, T]) -> T:
        """Run ``work`` for as long as the budget gives time; then cancel it and raise
        :class:`BudgetSpent`."""
        left = self._left()
        clock = asyncio.timeout(None if left is None else max(0.0, left[0]))
        try:
            async with clock:
                return await work
        except TimeoutError:
            if left is None or not clock.expired():
                raise
            _, limit, of = left
            used = self.spent.seconds + (self._before.seconds if of == "session" else 0.0)
            raise _used_up("seconds", used, limit, of) from None

    def _left(self) -> tuple[float, float, str] | None:
        """The seconds that are left, of which limit, and whose it is."""
        limits = [
            (limit - before, limit, of)
            for limit, before, of in (
                (self._turn.seconds, 0.0, "turn"),
                (self._session.seconds, self._before.seconds, "session"),
            )
            if limit is not None
        ]
        return min(limits, default=None)


def _used_up(name: str, spent: float, limit: float, of: str) -> BudgetSpent:
    where = "session " if of == "session" else ""
    return BudgetSpent(
        f"Stopped: the budget of this {of} is used up: {amount(name, spent)} of {amount(name, limit)}.",
        "What came so far is kept.",
        f"Raise it with `/budget {where}{name} N`, then say “go on”.",
    )


def amount(name: str, value: float) -> str:
    """A number of a limit in words: ``$0.50``, ``1,200 tokens``, ``4 requests``, ``2.4 s``."""
    match name:
        case "usd":
            return dollars(value)
        case "seconds":
            return seconds(value)
        case "rounds":
            return f"{value:,.0f} request{'' if value == 1 else 's'}"
        case _:
            return f"{value:,.0f} token{'' if value == 1 else 's'}"


def _first(own: Any, other: Any) -> Any:
    return other if own is None else own
