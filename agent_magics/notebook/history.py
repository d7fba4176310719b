"""A key that stands in a cell is kept out of IPython's history of lines, a file that nobody looks at.

The cell itself is the front end's and stays as it was written; whoever wrote it is told.
"""

from __future__ import annotations

import logging
from typing import Any

from agent_magics.masking import masked

log = logging.getLogger("agent_magics")


def unsay(shell: Any) -> None:
    """Mask known keys in what the history has kept of the running cell, in memory and on disk."""
    history = getattr(shell, "history_manager", None)
    lines = getattr(history, "input_hist_raw", None)
    if not lines or masked(lines[-1]) == lines[-1]:
        return
    try:
        _mask_memory(shell, history)
        _mask_file(history)
    except Exception as error:  # IPython's own, and different from release to release
        log.warning("a key may have stayed in the history of lines: %s", error)


def _mask_memory(shell: Any, history: Any) -> None:
    for kept in (history.input_hist_raw, history.input_hist_parsed):
        kept[-1] = masked(kept[-1])
    history._i00 = masked(history._i00)
    for name, value in tuple(shell.user_ns.items()):
        if name.startswith("_i") and isinstance(value, str):  # _i, _ii, _i7
            shell.user_ns[name] = masked(value)


def _mask_file(history: Any) -> None:
    """The line may still wait for being written, or has been; the lock tells which."""
    with history.db_input_cache_lock:
        history.db_input_cache = [masked(each) for each in history.db_input_cache]
        if not history.enabled:
            return
        with history.db as file:
            file.execute("PRAGMA secure_delete = ON")  # else the old text stays in the file's free space
            last = "SELECT line, source, source_raw FROM history WHERE session = ? ORDER BY line DESC LIMIT 3"
            for line, *kept in file.execute(last, (history.session_number,)).fetchall():
                if masked(kept) != kept:
                    change = "UPDATE history SET source = ?, source_raw = ? WHERE session = ? AND line = ?"
                    file.execute(change, (*masked(kept), history.session_number, line))
