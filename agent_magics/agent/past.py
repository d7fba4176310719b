"""The past of a session: what happened in it, folded as it happens, and kept in a store if there is one.

The conversation is never edited. Clearing it, going back and undoing that are facts like any other; a
session that is opened again folds the same facts and stands where it stood.

The store may fail, for a while or for good. Then facts wait here, in order, and are kept as soon as it takes
them again: what is stored is always the beginning of what happened, without holes.
"""

from __future__ import annotations

import logging
import time
import uuid
from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import Path

from agent_magics.agent.known import found
from agent_magics.agent.process import lives, this_process
from agent_magics.errors import StoreError, UsageError
from agent_magics.ports import Memories, Store
from agent_magics.talk import (
    ContextChanged,
    Conversation,
    ConversationChanged,
    HistoryFact,
    SessionInfo,
    Turn,
    TurnBegan,
    TurnEnded,
    TurnImported,
)
from agent_magics.talk.history import History, Why

log = logging.getLogger("agent_magics")

TITLE = 60
"""Characters of a title."""


def new_id() -> str:
    """An id that nothing else has: of a session, or of a turn."""
    return uuid.uuid4().hex[:12]


@dataclass(frozen=True, kw_only=True)
class Place:
    """Where a session takes place.

    Attributes
    ----------
    notebook : str
        The notebook's path or name, as far as it is known.
    cells : tuple of str
        Ids of its cells, by which it is known again under another path.
    kernel : str
        Which kernel runs it; a kernel that is restarted keeps its id.
    """

    notebook: str = ""
    cells: tuple[str, ...] = ()
    kernel: str = ""


class Past:
    """What happened in one session, until another one is opened in its place.

    Parameters
    ----------
    store : Store, optional
        Where facts outlive the process.
    place : Place
        Where it takes place; may be told later.

    Attributes
    ----------
    info : SessionInfo
        What a list of sessions shows of this one.
    conversation : Conversation
        The turns that count.
    problem : str
        Why facts are not stored at present; empty when they are.
    """

    def __init__(self, store: Store | None = None, place: Place | None = None) -> None:
        self.store = store
        self.place = place or Place()
        self._open(self._fresh(), History())

    # -- what happens ----------------------------------------------------------------------------

    def take(self, fact: HistoryFact) -> str:
        """Fold and keep one fact; what comes back is to be said: why it could not be stored, the first time
        that it could not."""
        return self._take(fact)

    def _take(self, *facts: HistoryFact) -> str:
        for fact in facts:
            self._history.take(fact)
        self._describe(facts[-1])
        before = self.problem
        self._keep(*facts)
        return self.problem if self.problem != before else ""

    def clear(self) -> list[Turn]:
        """Begin the conversation anew; returns the turns that were dropped."""
        dropped = [*self.conversation.turns]
        if dropped:
            self.change((), "clear")
        return dropped

    def rewind(self, number: int) -> list[Turn]:
        """Go back to before the turn of that number, counted from 1; returns the turns that were dropped.

        Raises
        ------
        UsageError
            If there is no turn of that number.
        """
        turns = self.conversation.turns
        if not 1 <= number <= len(turns):
            there = f"There are {len(turns)}, counted from 1." if turns else "The conversation is empty."
            raise UsageError(f"There is no turn {number}.", there, "See them with /rewind.")
        kept, dropped = turns[: number - 1], turns[number - 1 :]
        self.change(kept, "rewind")
        return dropped

    def undo(self) -> tuple[Why, list[Turn]]:
        """Take back the last clear or rewind; returns what it was, and the turns that are back. What was
        said since stays, behind them.

        Raises
        ------
        UsageError
            If there is nothing to take back.
        """
        why, there = self._history.undoable, {turn.id for turn in self.conversation.turns}
        if why is None:
            raise UsageError("There is nothing to undo.", "This session was never cleared or rewound.")
        undone = self._history.undone
        self.change(undone, "undo")
        return why, [turn for turn in undone if turn.id not in there]

    def change(self, turns: Sequence[Turn], why: Why) -> None:
        """Let the conversation be these of its turns from here on."""
        self.take(ConversationChanged(turns=tuple(turn.id for turn in turns), why=why, at=time.time()))

    def bring_in(self, turns: Sequence[Turn]) -> None:
        """Add turns that were not run here. Their origin says where they come from; they bring no rights."""
        if turns:
            self._take(*(TurnImported(turn=turn, at=time.time()) for turn in turns))

    @property
    def context(self) -> ContextChanged:
        """What was said last of how the model is sent the turns."""
        return self._history.context

    def see(self, context: ContextChanged) -> None:
        """Let the model be sent the turns so from here on, also after a restart."""
        if replace(context, at=self.context.at) != self.context:
            self.take(replace(context, at=time.time()))

    def move(self, place: Place) -> None:
        """Say where the session takes place, once that is known or has changed."""
        self.place = place
        self.info = self._here(self.info)

    # -- other sessions --------------------------------------------------------------------------

    def sessions(self) -> list[SessionInfo]:
        """All that the store knows, the one used last first.

        Raises
        ------
        UsageError
            If this session has no store.
        """
        return self._the_store().sessions()

    def resume(self, which: str) -> SessionInfo:
        """Open another session in the place of this one, which stays as it is; returns what was found.

        A session of another notebook that is still there goes on here as a copy, under an id of its own, and
        so does one whose turn runs in another process: nobody writes into somebody else's conversation.

        Parameters
        ----------
        which : str
            Its id, or a beginning of it that no other one has.

        Raises
        ------
        UsageError
            If there is none of that id, or several.
        StoreError
            If it can't be read.
        """
        info = found(self.sessions(), which)
        history = History(self._the_store().load(info.id))
        elsewhere = history.running and lives(info.process)
        history.close()
        self._open(self._here(info), history)
        self._stored = info
        if elsewhere or (info.notebook not in ("", self.place.notebook) and Path(info.notebook).exists()):
            self.fork()
        else:
            self._move_facts(info.notebook or info.id)
        return info

    def _move_facts(self, left: str) -> None:
        """The facts of a notebook come along to its new path. A name that was given is no path: whether the
        notebook of that name is still there is not known, and so it keeps its own."""
        here, store = self.info.notebook or self.info.id, self.store
        known = left == self.info.id or Path(left).is_absolute()
        if left == here or not known or not isinstance(store, Memories):
            return
        try:
            store.move_memories(left, here)
        except StoreError as error:  # they stay where they are, and the conversation goes on
            log.warning("the facts of %s stay behind: %s", left, error)

    def part(self) -> str:
        """Go on as a copy if another process has gone on with this session since; returns what to say of it.

        It happens where one notebook is open on two kernels. Each then has a conversation of its own.
        """
        if self.store is None or self._stored is None or self.problem:
            return ""
        try:
            stored = self.store.session(self.info.id) or self._stored
        except StoreError:
            return ""  # the next fact finds out what is wrong, and says so
        if (stored.process, stored.used) == (self._stored.process, self._stored.used):
            return ""
        left = self.fork()
        return f"Another kernel has gone on with {left.id}; this one goes on with a copy, {self.info.id}."

    def fork(self) -> SessionInfo:
        """Go on in a new session that begins with the same turns; returns the one that stays behind."""
        left, turns, context = self.info, [*self.conversation.turns], self.context
        self._open(replace(self._fresh(), parent=left.id, title=left.title), History())
        if turns:
            there = [TurnImported(turn=turn, at=time.time()) for turn in turns]
            order = tuple(turn.id for turn in turns)
            self._take(*there, ConversationChanged(turns=order, why="fork", at=time.time()))
            self.see(context)
        return left

    def _fresh(self) -> SessionInfo:
        return self._here(SessionInfo(id=new_id(), began=time.time()))

    def _here(self, info: SessionInfo) -> SessionInfo:
        """What is known of a session, once it goes on in this place."""
        here = self.place
        cells = _together(info.cells, here.cells)
        return replace(
            info,
            notebook=here.notebook or info.notebook,
            cells=cells,
            kernel=here.kernel,
            process=this_process(),
        )

    def _open(self, info: SessionInfo, history: History) -> None:
        self.info = info
        self.problem = ""
        self.conversation = Conversation(id=info.id, turns=history.turns)
        self._history = history
        self._waiting: list[HistoryFact] = []
        self._skips = False
        self._enrolled = False
        self._stored: SessionInfo | None = None

    # -- keeping ---------------------------------------------------------------------------------

    def _describe(self, fact: HistoryFact) -> None:
        """Bring up to date what is derived from the facts: the conversation, and what a list shows of it."""
        match fact:
            case TurnBegan():
                self.info = replace(
                    self.info,
                    title=self.info.title or title(fact.prompt),
                    cells=_together(self.info.cells, (fact.cell,)),
                    provider=f"{fact.provider}:{fact.model}".rstrip(":"),
                    used=fact.at,
                    turns=len(self._history.turns),
                )
            case _ if not self._history.running:
                self.conversation.turns[:] = self._history.turns
                self.info = replace(self.info, used=fact.at, turns=len(self.conversation.turns))
            case _:
                pass

    def _keep(self, *facts: HistoryFact) -> None:
        if self.store is None or (self._skips and not isinstance(facts[0], TurnBegan)):
            return
        self._skips = False
        self._waiting.extend(facts)
        # A store that failed is tried again between turns: each try may take it seconds.
        if not self.problem or isinstance(facts[-1], TurnBegan | TurnEnded | ConversationChanged):
            try:
                self._write(self.store)
                self.problem = ""
            except StoreError as error:
                log.warning("session %s is not stored at present: %s", self.info.id, error)
                self.problem = str(error)
            except Exception as error:
                # It is the fact that can't be stored, such as a block of a provider's own that is no JSON.
                # The rest of its turn is left out: a record with holes would be read as what happened.
                log.exception("a turn of session %s can't be stored", self.info.id)
                self.problem = f"{type(error).__name__}: {error}"
                self._waiting, self._skips = [], True

    def _write(self, store: Store) -> None:
        """Store whatever waits. A session is made known before its first fact, and when what is known of it
        changed."""
        last = self._waiting[-1]
        if not self._enrolled or isinstance(last, TurnBegan):
            self._enroll(store)
        store.append(self.info.id, *self._waiting)
        self._waiting.clear()
        if isinstance(last, TurnEnded | ConversationChanged):
            self._enroll(store)

    def _enroll(self, store: Store) -> None:
        store.enroll(self.info)
        self._enrolled, self._stored = True, self.info

    def _the_store(self) -> Store:
        if self.store is None:
            raise UsageError(
                "This session is not stored, and knows of no others.",
                "It was made without a store, or storing is turned off.",
                'Make it with Session(store="default"), or set %config AgentMagics.store = True.',
            )
        return self.store


def title(prompt: str) -> str:
    """The first prompt, shortened to one line."""
    line = " ".join(prompt.split())
    return line if len(line) <= TITLE else f"{line[: TITLE - 1].rstrip()}…"


def _together(cells: Sequence[str], more: Sequence[str]) -> tuple[str, ...]:
    return tuple(dict.fromkeys(each for each in (*cells, *more) if each))
