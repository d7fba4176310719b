"""The user's own store: one file in the data folder, shared by all notebooks and terminals."""

from __future__ import annotations

import os
from functools import cache
from pathlib import Path

from agent_magics.errors import ConfigError
from agent_magics.masking import masked
from agent_magics.providers.local.weights import home
from agent_magics.store import SQLiteStore, store_at

_SAID = {"": True, "on": True, "off": False}


def default_store() -> SQLiteStore | None:
    """The store of this user; ``None`` where ``$AGENT_MAGICS_STORE`` is ``off``. Nothing is opened yet.

    Raises
    ------
    ConfigError
        If the variable says something else than ``on`` or ``off``.
    """
    said = os.environ.get("AGENT_MAGICS_STORE", "").strip().lower()
    if said not in _SAID:
        raise ConfigError(
            f"AGENT_MAGICS_STORE={said!r} is not known.",
            "It may be on or off.",
            "Set it to off, and conversations end with their process; or unset it.",
        )
    return _at(home()) if _SAID[said] else None


@cache
def _at(folder: Path) -> SQLiteStore:
    """One object for the process: its sessions share one connection."""
    return store_at(folder, mask=masked)
