"""``/registry``: the tools that are kept; their versions, and back again."""

from __future__ import annotations

from typing import TYPE_CHECKING

from agent_magics.agent.commands.command import Command
from agent_magics.errors import UsageError
from agent_magics.ports import Forge

if TYPE_CHECKING:
    from agent_magics.agent.session import Session

USAGE = "[NAME [diff A B | rollback VERSION | delete]]"


def command(forge: Forge) -> Command:
    """The command over one session's forge."""

    def run(session: Session, words: str) -> str:
        match words.split():
            case []:
                return forge.listing()
            case [name]:
                return forge.describe(name)
            case [name, "delete"]:
                return forge.delete(name)
            case [name, "rollback", version] if version.isdecimal():
                return forge.roll_back(name, int(version))
            case [name, "diff", old, new] if old.isdecimal() and new.isdecimal():
                return forge.diff(name, int(old), int(new))
            case _:
                raise UsageError(f"/registry can't take {words!r}.", "", f"It takes: /registry {USAGE}.")

    return Command(
        name="registry",
        usage=USAGE,
        summary="The tools that are kept: versions, diff, rollback, delete.",
        run=run,
    )
