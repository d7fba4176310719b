"""The store without a file: for tests, and for whoever wants nothing kept."""

from __future__ import annotations

import threading
from dataclasses import replace

from agent_magics.errors import UsageError
from agent_magics.talk import HistoryFact, Memory, SessionInfo
from agent_magics.talk.memory import LONGEST, MOST


class MemoryStore:
    """A :class:`~agent_magics.ports.Store` and :class:`~agent_magics.ports.Memories` of this process.

    Examples
    --------
    >>> from agent_magics.talk import Noticed
    >>> store = MemoryStore()
    >>> store.append("s1", Noticed(text="hello", at=1.0))
    >>> store.load("s1")
    [Noticed(text='hello', at=1.0)]
    """

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._facts: dict[str, list[HistoryFact]] = {}
        self._infos: dict[str, SessionInfo] = {}
        self._memories: dict[str, Memory] = {}

    def append(self, session: str, *facts: HistoryFact) -> None:
        """Keep these facts."""
        with self._lock:
            for fact in facts:
                self._infos.setdefault(session, SessionInfo(id=session, used=fact.at))
                self._facts.setdefault(session, []).append(fact)

    def load(self, session: str) -> list[HistoryFact]:
        """All facts of a session, in order; empty if there is none of that id."""
        with self._lock:
            return list(self._facts.get(session, ()))

    def enroll(self, info: SessionInfo) -> None:
        """Make a session known, or replace what is known of it."""
        with self._lock:
            self._infos[info.id] = info

    def sessions(self) -> list[SessionInfo]:
        """All sessions, the one used last first."""
        with self._lock:
            newest_first = reversed(self._infos.values())
            return sorted(newest_first, key=lambda info: info.used, reverse=True)

    def session(self, session: str) -> SessionInfo | None:
        """What is known of one."""
        with self._lock:
            return self._infos.get(session)

    def forget(self, session: str) -> None:
        """Delete a session and its facts."""
        with self._lock:
            self._facts.pop(session, None)
            self._infos.pop(session, None)

    def remember(self, memory: Memory) -> None:
        """Keep one. Raises a ``UsageError`` if it is too long, or its scope is full."""
        check_length(memory)
        with self._lock:
            there = [each for each in self._memories.values() if _place(each) == _place(memory)]
            check_room(memory, len(there))
            if memory.id in self._memories:
                raise known_memory(memory.id)
            self._memories[memory.id] = memory

    def forget_memory(self, which: str) -> Memory:
        """Delete one and return it. Raises a ``UsageError`` if there is none of that id."""
        with self._lock:
            if which not in self._memories:
                raise unknown_memory(which)
            return self._memories.pop(which)

    def move_memories(self, notebook: str, to: str) -> None:
        """Let one notebook's be another's, the oldest first; those that find no room there stay."""
        with self._lock:
            room = MOST - sum(_place(each) == to for each in self._memories.values())
            moving = [each for each in self._memories.values() if _place(each) == notebook][: max(0, room)]
            self._memories.update({each.id: replace(each, notebook=to) for each in moving})

    def memories(self, notebook: str = "") -> list[Memory]:
        """The user's and this notebook's, oldest first."""
        with self._lock:
            return [each for each in self._memories.values() if _place(each) in ("", notebook)]


def check_length(memory: Memory) -> None:
    """Refuse a text that is too long to be told in every round."""
    if len(memory.text) > LONGEST:
        raise UsageError(
            f"This is too long to be remembered: {len(memory.text)} characters.",
            f"A fact has at most {LONGEST}; it is told to the model in every round.",
            "Say it shorter, or keep it in a file.",
        )


def check_room(memory: Memory, there: int) -> None:
    """Refuse one more than fit."""
    if there >= MOST:
        whose = "of yours" if memory.scope == "user" else "of this notebook"
        raise UsageError(
            f"There are {there} facts {whose} already.",
            f"{MOST} is the most; each is told to the model in every round.",
            "`/facts` lists them, `/forget ID` takes one out.",
        )


def known_memory(which: str) -> UsageError:
    return UsageError(f"There is a fact {which!r} already.", "", "Give the new one another id.")


def unknown_memory(which: str) -> UsageError:
    return UsageError(f"There is no fact {which!r}.", "", "`/facts` lists them.")


def _place(memory: Memory) -> str:
    return memory.notebook if memory.scope == "notebook" else ""
