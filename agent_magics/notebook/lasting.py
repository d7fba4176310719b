"""The notebook's session, as something that lasts: found again after a restart, and told what was lost.

Nothing here stops a turn: what can't be read is said once, and a new conversation begins.
"""

from __future__ import annotations

from typing import Any

from agent_magics.agent.session import Session
from agent_magics.errors import StoreError
from agent_magics.notebook.earlier import earlier
from agent_magics.notebook.frontend import Frontend
from agent_magics.notebook.lost import Lost
from agent_magics.notebook.reruns import Reruns
from agent_magics.ports import Store
from agent_magics.talk import SessionInfo, Turn


class Lasting:
    """Keeps one notebook's session over restarts.

    Parameters
    ----------
    frontend : Frontend
        Tells which notebook, cell and run this is.
    namespace : mapping
        The user's variables.
    settings
        The magics' traits, of which ``notebook`` and ``store`` count here.
    """

    def __init__(self, frontend: Frontend, namespace: dict[str, Any], settings: Any) -> None:
        self._frontend = frontend
        self._settings = settings
        self._lost = Lost(namespace)
        self._reruns = Reruns()

    @property
    def store(self) -> Store | None:
        """Where the notebook's conversations are kept; nowhere if that is turned off."""
        if not self._settings.store:
            return None
        from agent_magics.stores import default_store

        return default_store()

    def furnish(self, session: Session) -> None:
        """Let a session that was just made come back, and have it tell what was lost."""
        session.context.sections["namespace"] = lambda: self._lost.section(session.conversation.turns)
        self.come_back(session)

    def come_back(self, session: Session) -> None:
        """Have a session that is empty yet go on where this notebook left it."""
        place = self._frontend.place(self._settings.notebook)
        session.past.move(place)
        session.status.pop("earlier", None)
        if session.past.store is None:
            return
        try:
            stored = session.past.sessions()
        except StoreError:
            return  # the first fact finds the same, and says so
        found = earlier(stored, place, named=bool(self._settings.notebook))
        if found.resumed:
            self._resume(session, found.resumed)
        if offer := found.offer:
            session.status["earlier"] = lambda: offer
            if place.notebook:  # without a path it may well be another notebook's
                session.notices.append(offer)

    def _resume(self, session: Session, info: SessionInfo) -> None:
        try:
            session.resume(info.id)
            self._lost.came_back(session.conversation.turns)
        except StoreError as error:
            session.notices.append(f"The conversation {info.id} can't be read, a new one begins. {error}")

    def follow(self, session: Session, names: set[str]) -> None:
        """Let a session follow the settings of these names."""
        if "store" in names and (session.past.store is None) == bool(self._settings.store):
            session.past.store = self.store
            if session.conversation.turns and session.past.store is not None:
                session.fork()  # the turns so far are stored with it, whole, under an id of their own
        if "notebook" in names and not session.conversation.turns:
            self.come_back(session)
        elif "notebook" in names:
            session.past.move(self._frontend.place(self._settings.notebook))

    def replaces(self, session: Session) -> str:
        """The turn whose place the next one takes, because its cell runs again. Says what is lost, too."""
        if said := self._lost.notice(session.conversation.turns):
            session.notices.append(said)
        return self._reruns.replaced(session.conversation.turns, self._frontend.cell, self._frontend.run)

    def ended(self, session: Session, turn: Turn | None, display: Any) -> None:
        """A turn of a cell has ended, shown by ``display``."""
        if turn is not None:
            self._lost.ran(turn)
            self._reruns.ended(turn, display)
            self._reruns.mark(session.conversation.turns)
