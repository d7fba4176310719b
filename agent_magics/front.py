"""Where a front end leaves word that it is there.

Loading the extension must cost next to nothing, so it doesn't build what it lends; it leaves two functions
here, and whoever makes or wants a session calls them when the time has come.
"""

from __future__ import annotations

import threading
from collections.abc import Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from agent_magics.agent.session import Session
    from agent_magics.agent.waiting import Waiter
    from agent_magics.extract.progress import Watcher
    from agent_magics.ports import Asker, Workbench
    from agent_magics.tools.tool import Tool


@dataclass(kw_only=True)
class Front:
    """What a front end lends to sessions that are made in it: somebody to ask, a way to wait, a namespace."""

    asker: Asker
    waiter: Waiter
    workbench: Workbench | None = None
    tools: tuple[Tool, ...] = ()
    progress: Callable[[], Watcher] | None = None
    """Makes a view of the progress of many rows, for the main thread."""


_front: Callable[[], Front] | None = None
_session: Callable[[], Session] | None = None


def install(front: Callable[[], Front] | None, session: Callable[[], Session] | None) -> None:
    """Leave word: ``front`` builds what sessions are lent, ``session`` is the one that cells talk to."""
    global _front, _session
    _front, _session = front, session


def current_front() -> Front | None:
    """The front end, for a caller on the main thread; elsewhere nobody can be asked in a cell."""
    on_main = threading.current_thread() is threading.main_thread()
    return _front() if _front and on_main else None


def front_session() -> Session | None:
    """The session that the front end's cells talk to, if there is a front end."""
    return _session() if _session else None
