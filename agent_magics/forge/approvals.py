"""What a person approved: the hash of a tool with its capabilities, and nothing else.

They are kept in the user's own data folder and nowhere else, so that no project, notebook or record can bring
them. A tool that changes, whoever changed it, has another hash and is asked about again.
"""

from __future__ import annotations

import json
import time
from pathlib import Path
from typing import Any, cast

from agent_magics.files import write_whole
from agent_magics.forge.draft import Draft
from agent_magics.forge.locks import locked

FILE = "approved_tools.json"


class Approvals:
    """The approvals of one user.

    Parameters
    ----------
    home : Path
        The user's data folder, ``$AGENT_MAGICS_HOME``.
    """

    def __init__(self, home: Path) -> None:
        self._folder = home
        self._file = home / FILE
        self._known: tuple[tuple[int, int, int], dict[str, dict[str, Any]]] | None = None

    def covers(self, draft: Draft) -> bool:
        """Whether exactly this tool was approved."""
        return draft.sha256 in self._read()

    def source_of(self, name: str) -> str:
        """The source that was approved last under a name, to show what changed; empty if there is none."""
        entries = [each for each in self._read().values() if each.get("name") == name]
        if not entries:
            return ""
        return str(max(entries, key=lambda each: float(each["at"]))["source"])

    def add(self, draft: Draft) -> None:
        """Remember an approval."""
        entry = {
            "name": draft.name,
            "capabilities": sorted(draft.capabilities),
            "at": time.time(),
            "source": draft.source,
        }
        with locked(self._folder):
            self._write({**self._read(), draft.sha256: entry})

    def withdraw(self, name: str) -> None:
        """Forget every approval of a tool."""
        with locked(self._folder):
            self._write({key: each for key, each in self._read().items() if each.get("name") != name})

    def _write(self, entries: dict[str, Any]) -> None:
        write_whole(self._file, json.dumps(entries, indent=1) + "\n")
        self._file.chmod(0o600)

    def _read(self) -> dict[str, dict[str, Any]]:
        """What is on the disk, parsed once for each state of it; an unreadable file approves nothing."""
        try:
            found = self._file.stat()
            state = (
                found.st_mtime_ns,
                found.st_size,
                found.st_ino,
            )  # whoever writes puts a new file in its place
            if self._known is None or self._known[0] != state:
                self._known = state, _parsed(self._file.read_text("utf-8"))
        except (OSError, ValueError):
            return {}
        return self._known[1]


def _parsed(text: str) -> dict[str, dict[str, Any]]:
    entries = json.loads(text)
    if not isinstance(entries, dict):
        raise ValueError("not an object")
    return {key: each for key, each in cast("dict[str, Any]", entries).items() if isinstance(each, dict)}
