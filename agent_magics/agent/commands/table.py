"""The table of commands, and how a line finds its command."""

from __future__ import annotations

import difflib
from collections.abc import Iterator
from typing import TYPE_CHECKING

from agent_magics.agent.commands import (
    budget,
    clear,
    compact,
    compare,
    context,
    fork,
    pin,
    provider,
    restore,
    resume,
    rewind,
    sessions,
    status,
    tools,
    trace,
    undo,
    unpin,
)
from agent_magics.agent.commands import help as help_
from agent_magics.agent.commands.command import Command
from agent_magics.errors import UsageError

if TYPE_CHECKING:
    from agent_magics.agent.session import Session


class Commands:
    """The commands of a session, by name."""

    def __init__(self) -> None:
        self._table: dict[str, Command] = {}
        for module in (
            help_,
            status,
            provider,
            compare,
            tools,
            context,
            compact,
            pin,
            unpin,
            trace,
            budget,
            clear,
            sessions,
            resume,
            restore,
            fork,
            rewind,
            undo,
        ):
            self.add(module.COMMAND)

    def add(self, command: Command) -> None:
        """Add a command; one of the same name is replaced."""
        self._table[command.name] = command

    def run(self, session: Session, line: str) -> str:
        """Run the command that ``line`` begins with.

        Raises
        ------
        UsageError
            If there is none of that name; the near ones are named.
        """
        name, words = [*line.removeprefix("/").split(None, 1), "", ""][:2]
        command = self._table.get(name.strip())
        if command is None:
            raise self._unknown(name.strip())
        return command.run(session, words.strip())

    def meanwhile(self, line: str) -> str:
        """What to show while the command that ``line`` begins with works; empty where it is quick."""
        command = self._table.get(line.strip().removeprefix("/").partition(" ")[0])
        return command.meanwhile if command else ""

    def __iter__(self) -> Iterator[Command]:
        return iter(self._table.values())

    def __contains__(self, name: str) -> bool:
        return name in self._table

    def names(self) -> list[str]:
        return list(self._table)

    def _unknown(self, name: str) -> UsageError:
        near = difflib.get_close_matches(name, self._table, n=3)
        meant = (
            f"Did you mean {' or '.join('/' + each for each in near)}?"
            if near
            else "No command is close to it."
        )
        return UsageError(f"Unknown command: /{name}.", meant, "All commands: /help.")
