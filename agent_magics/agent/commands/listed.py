"""How turns and sessions are named in the answers of commands. What people and models wrote stands in code
spans: it is text here, and nothing else."""

from __future__ import annotations

import time
from collections.abc import Iterable

from agent_magics.talk import SessionInfo, Turn

_LONG = 60


def quoted(text: str) -> str:
    """One line of somebody's text as a code span, also inside of a table."""
    line = " ".join(text.split()).replace("`", "'").replace("|", "¦")
    return f"`{line if len(line) <= _LONG else line[: _LONG - 1].rstrip() + '…'}`" if line else ""


def counted(number: int) -> str:
    """``1 turn``, ``2 turns``."""
    return f"{number} turn{'' if number == 1 else 's'}"


def when(at: float) -> str:
    """A moment in the reader's own time."""
    return time.strftime("%Y-%m-%d %H:%M", time.localtime(at)) if at else ""


def prompts(turns: Iterable[Turn], first: int = 1) -> str:
    """Turns by number and prompt, a line each."""
    return "\n".join(
        f"{number}. {quoted(turn.prompt)}{' (stale)' if turn.stale else ''}"
        for number, turn in enumerate(turns, first)
    )


def named(info: SessionInfo) -> str:
    """A session in a few words."""
    return f"`{info.id}` {quoted(info.title)}, {counted(info.turns)}".replace("  ", " ")
