"""What happens to a conversation between its turns, and the fold that makes one of all its facts.

A conversation is never edited: clearing, going back, undoing that, running a cell again and bringing turns
in from a file are facts like any other, and the turns that count are what a fold over all facts leaves.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from typing import Literal

from agent_magics.talk.events import Fact, TurnBegan
from agent_magics.talk.fold import advance
from agent_magics.talk.turn import Conversation, Turn

Why = Literal["clear", "rewind", "undo", "fork", "compact"]

INTERRUPTED = (
    "This turn was interrupted: the process ended while it ran.\n"
    "Everything up to there was kept.\nAsk again, or go on from here."
)


@dataclass(frozen=True, kw_only=True, slots=True)
class ConversationChanged:
    """From here on the conversation is these turns, by id and in this order; ``why`` names the command."""

    turns: tuple[str, ...]
    why: Why
    at: float


@dataclass(frozen=True, kw_only=True, slots=True)
class TurnImported:
    """A turn came from a file, with ``turn.origin`` saying from which; it brings text and no rights."""

    turn: Turn
    at: float


@dataclass(frozen=True, kw_only=True, slots=True)
class ContextChanged:
    """From here on the model is sent the turns otherwise: these are pinned, and a summary stands for those
    messages, each named by its turn and its number in it. The turns themselves stay as they are."""

    pins: tuple[str, ...] = ()
    covered: tuple[tuple[str, int], ...] = ()
    summary: str = ""
    at: float = 0.0


HistoryFact = Fact | ConversationChanged | ContextChanged | TurnImported
"""Everything that a store keeps of a session."""


@dataclass(frozen=True, kw_only=True, slots=True)
class SessionInfo:
    """What a store knows of a session without reading its facts.

    Attributes
    ----------
    id : str
        The session's id.
    title : str
        The first prompt, shortened.
    notebook : str
        The notebook's absolute path; empty where none is known.
    cells : tuple of str
        The ids of the cells that ran turns, by which a copied or renamed notebook is known again.
    kernel : str
        Which kernel ran them; a kernel that is restarted keeps its id.
    process : str
        The machine and the number of the process that went on with it last.
    parent : str
        The session that it was forked from.
    provider : str
        ``name:model`` of the last turn.
    began, used : float
        Seconds since the epoch: when it began, and its last turn.
    turns : int
        How many turns count.
    """

    id: str
    title: str = ""
    notebook: str = ""
    cells: tuple[str, ...] = ()
    kernel: str = ""
    process: str = ""
    parent: str = ""
    provider: str = ""
    began: float = 0.0
    used: float = 0.0
    turns: int = 0


class History:
    """All facts of one session, folded as they come.

    What runs and what was read from a store go through the same fold, so a conversation that comes back is
    the one that was left.

    Attributes
    ----------
    context : ContextChanged
        How the model is sent the turns, as was said last.
    """

    def __init__(self, facts: Iterable[HistoryFact] = ()) -> None:
        self._known: dict[str, Turn] = {}
        self._order: list[str] = []
        self._last = ""
        self._before: list[tuple[Why, list[str]]] = []
        self.context = ContextChanged()
        for fact in facts:
            self.take(fact)

    @property
    def turns(self) -> list[Turn]:
        """The turns that count, in order. One that has not ended is among them."""
        return [self._known[each] for each in self._order]

    @property
    def undoable(self) -> Why | None:
        """What an undo would take back; ``None`` when there is nothing."""
        return self._before[-1][0] if self._before else None

    @property
    def undone(self) -> list[Turn]:
        """The turns as they would stand after it: those of before, then those that were added since."""
        before = self._before[-1][1] if self._before else []
        return [self._known[each] for each in [*before, *(new for new in self._order if new not in before)]]

    @property
    def running(self) -> bool:
        """Whether the last turn has not ended yet."""
        return bool(self._last) and not self._known[self._last].stop

    def take(self, fact: HistoryFact) -> None:
        """One fact further."""
        match fact:
            case ConversationChanged():
                self._change(fact)
            case ContextChanged():
                self.context = fact
            case TurnImported(turn=turn):
                self._known[turn.id] = turn
                self._order = [*(each for each in self._order if each != turn.id), turn.id]
            case TurnBegan():
                turn = advance(None, fact)
                assert turn is not None
                self._begin(turn, fact.replaces)
            case _ if self._last:
                turn = advance(self._known[self._last], fact)
                assert turn is not None
                self._known[turn.id] = turn
            case _:
                pass

    def close(self) -> None:
        """Say of a turn that never ended that it was interrupted: nobody is left to end it."""
        self._last = ""
        for turn in self._known.values():
            if not turn.stop:
                self._known[turn.id] = replace(turn, stop="cancelled", error=INTERRUPTED)

    def _begin(self, turn: Turn, replaces: str) -> None:
        self._known[turn.id] = turn
        self._last = turn.id
        # Also where an undo would bring the replaced turn back: it has been run again since.
        self._before = [
            (why, self._placed(order, turn.id, replaces) if replaces in order else order)
            for why, order in self._before
        ]
        self._order = self._placed(self._order, turn.id, replaces)

    def _placed(self, order: list[str], turn: str, replaces: str) -> list[str]:
        """Where a turn stands: last, or in the place of the one that it replaces; what follows is stale."""
        if replaces not in order:
            return [*order, turn]
        place = order.index(replaces)
        for later in order[place + 1 :]:
            self._known[later] = replace(self._known[later], stale=True)
        return [*order[:place], turn, *order[place + 1 :]]

    def _change(self, fact: ConversationChanged) -> None:
        if fact.why == "undo":
            del self._before[-1:]
        elif fact.why != "fork":
            self._before.append((fact.why, self._order))
        self._order = [each for each in fact.turns if each in self._known]


def conversation(session: str, facts: Iterable[HistoryFact]) -> Conversation:
    """The conversation that these facts leave.

    A turn that never ended is closed as ``cancelled``, with an error that says so.
    """
    history = History(facts)
    history.close()
    return Conversation(id=session, turns=history.turns)


def above(turns: Sequence[Turn], replaced: str) -> Sequence[Turn]:
    """What a turn sees that replaces another one: the turns above it. All of them, if it replaces none."""
    place = next((place for place, turn in enumerate(turns) if turn.id == replaced), len(turns))
    return turns[:place]
