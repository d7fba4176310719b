"""The part of a session that lasts: its conversation, and how that is changed and exchanged for another.

What runs a turn is in ``session``; what is folded and stored, in ``past``. Here is what a person asks for
between two turns, and never while one runs.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence

from agent_magics.agent.context import Context
from agent_magics.agent.line import Line
from agent_magics.agent.past import Past
from agent_magics.agent.policy import Policy
from agent_magics.agent.telling import Telling
from agent_magics.errors import SessionError
from agent_magics.talk import Conversation, SessionInfo, Turn
from agent_magics.talk.history import Why


class Lasting:
    """A conversation that lasts.

    Parameters
    ----------
    past : Past
        What happened so far.
    policy : Policy
        What is allowed; what was granted in one conversation is not granted in another.
    context : Context
        What the model is sent of it.

    Attributes
    ----------
    notices : list of str
        What the reader is told in the next turn.
    status : dict of str to callable
        Further lines of ``/status``: label -> what renders its text.
    """

    def __init__(self, past: Past, policy: Policy, context: Context) -> None:
        self.past = past
        self.policy = policy
        self.context = context
        self.notices: list[str] = []
        self.status: dict[str, Callable[[], str]] = {"kept": self._kept}
        self._line = Line()
        self._tell = Telling(past.take)

    @property
    def id(self) -> str:
        """The session's id; it changes when another one is resumed in its place."""
        return self.past.info.id

    @property
    def conversation(self) -> Conversation:
        """The turns so far."""
        return self.past.conversation

    @property
    def turn(self) -> Turn | None:
        """The turn that runs, as far as it has come, or else the last one."""
        return self._tell.turn

    @property
    def busy(self) -> bool:
        """Whether a turn runs or waits."""
        return self._line.busy

    def clear(self) -> int:
        """Begin the conversation anew; returns how many turns were forgotten."""
        self._at_rest()
        return len(self.past.clear())

    def rewind(self, number: int) -> list[Turn]:
        """Go back to before the turn of that number, counted from 1; returns what was dropped."""
        self._at_rest()
        return self.past.rewind(number)

    def undo(self) -> tuple[Why, list[Turn]]:
        """Take back the last clear or rewind; returns which it was, and the turns that are back."""
        self._at_rest()
        return self.past.undo()

    def resume(self, session: str) -> SessionInfo:
        """Go on with a stored session in the place of this one, which stays stored as it is. One that
        belongs to another notebook goes on as a copy.

        Parameters
        ----------
        session : str
            Its id, or a beginning of it that no other one has.

        Raises
        ------
        UsageError
            If there is none of that id, or several, or this session has no store.
        StoreError
            If it can't be read.
        SessionError
            If a turn runs.
        """
        self._at_rest()
        info = self._exchanged(self.past.resume(session))
        self.context.take_up(self.past.context)
        return info

    def fork(self) -> SessionInfo:
        """Go on in a new session with the same turns; returns the one that stays behind."""
        self._at_rest()
        return self._exchanged(self.past.fork())

    def take_in(self, turns: Sequence[Turn]) -> None:
        """Add turns that were read from a file; their origin says from which. They bring no rights."""
        self._at_rest()
        self.past.bring_in(turns)

    def _exchanged(self, info: SessionInfo) -> SessionInfo:
        """Another conversation is here now; what a person granted was granted in the one before."""
        self.policy.granted.clear()
        self._tell.turn = next(iter(self.conversation.turns[-1:]), None)
        return info

    def _at_rest(self) -> None:
        if self.busy:
            raise SessionError(
                "The conversation can't be changed now.",
                "A turn of this session runs or waits.",
                "Try again when it has ended, or stop it first.",
            )

    def _kept(self) -> str:
        """How the conversation is kept, for ``/status``."""
        if self.past.store is None:
            return "in memory only; it ends with the process"
        if self.past.problem:
            return "not at present: " + " ".join(self.past.problem.split())
        return "it is here again after a restart"
