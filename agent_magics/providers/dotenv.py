"""The nearest ``.env``: it supplies vendors' key variables, and nothing else of it is ever used.

A project's folder grants nothing, and a file of somebody else's none of our business: who could plant a key
could have prompts sent under his own account.
"""

from __future__ import annotations

import os
import stat
from collections.abc import Iterator
from pathlib import Path

from agent_magics import masking

LARGEST = 64 * 1024


def entries(folder: Path | None = None) -> dict[str, str]:
    """What the nearest ``.env`` sets; empty where there is none that is the user's own.

    It is looked for in ``folder`` (by default the process's) and above, up to the repository's root or the
    user's home; outside of both, in that folder only.
    """
    for place in _folders((folder or Path.cwd()).absolute()):
        if (text := _read(place / ".env")) is not None:
            lines = (line.strip() for line in text.splitlines())
            found = dict(_entry(line) for line in lines if "=" in line and not line.startswith("#"))
            masking.look_around(found)
            return found
    return {}


def _folders(here: Path) -> Iterator[Path]:
    above, home = [here, *here.parents], Path.home()
    last = home if home in above else here
    root = next((place for place in above if place == home or (place / ".git").exists()), last)
    yield from above[: above.index(root) + 1]


def _read(path: Path) -> str | None:
    try:
        with path.open(encoding="utf-8") as file:
            about = os.fstat(file.fileno())
            if not stat.S_ISREG(about.st_mode) or about.st_size > LARGEST:
                return None
            if hasattr(os, "getuid") and about.st_uid != os.getuid():
                return None
            return file.read()
    except (OSError, UnicodeDecodeError):
        return None


def _entry(line: str) -> tuple[str, str]:
    name, _, value = line.partition("=")
    value = value.strip()
    if value[:1] in ("'", '"') and value[0] in value[1:]:
        value = value[1 : value.index(value[0], 1)]
    else:
        value = value.partition(" #")[0].strip()
    return name.strip().removeprefix("export ").strip(), value
