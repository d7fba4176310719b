"""``/key``: type an API key where nobody sees it, and have it kept where nobody finds it.

A key is never an argument: a line is kept in the notebook and in the history of lines.
"""

from __future__ import annotations

import getpass
import sys
import warnings
from collections.abc import Callable
from typing import TYPE_CHECKING

from agent_magics import masking
from agent_magics.agent.commands.command import Command
from agent_magics.errors import UsageError
from agent_magics.ports import Keys

if TYPE_CHECKING:
    from agent_magics.agent.session import Session

USAGE = "[NAME [--forget]]"


def command(keys: Keys, hidden: Callable[[str], str] | None = None) -> Command:
    """The command over the place where keys are kept; ``hidden`` asks without showing what is typed."""

    def run(session: Session, words: str) -> str:
        match words.split():
            case []:
                return _listed(keys)
            case [name]:
                return _keep(session, keys, name, hidden or ask_hidden)
            case [name, "--forget"]:
                return keys.forget(name)
            case [name, *rest]:
                masking.hide_likely(*rest)
                raise UsageError(
                    "A key doesn't belong on the line: it was not taken.",
                    "What stands here is saved with the notebook and in the history of lines.",
                    f"Delete this cell, withdraw that key, then `/key {_known(keys, name)}`, which asks.",
                )
            case _:
                raise UsageError("/key can't take that.", "", f"It takes: /key {USAGE}.")

    summary = "Which keys are there; with a name, type one, hidden, and keep it in the system's keyring."
    return Command(name="key", usage=USAGE, summary=summary, run=run)


def ask_hidden(prompt: str) -> str:
    """A line that is typed without being shown; in a kernel, which puts its own in getpass's place, through
    the front end.

    Raises
    ------
    EOFError, NotImplementedError, OSError, getpass.GetPassWarning
        If nobody can type here unseen.
    """
    at_terminal = getpass.getpass.__module__ == "getpass"
    if at_terminal and (sys.stdin is None or not sys.stdin.isatty()):  # pyright: ignore[reportUnnecessaryComparison]  # None under pythonw
        raise EOFError
    with warnings.catch_warnings():
        warnings.simplefilter("error", getpass.GetPassWarning)  # it would be shown
        return getpass.getpass(prompt)


def _keep(session: Session, keys: Keys, name: str, hidden: Callable[[str], str]) -> str:
    variable = keys.variable(name)
    try:
        value = hidden(f"Key for {name} (not shown): ").strip()
    except (EOFError, NotImplementedError, OSError, getpass.GetPassWarning):
        raise UsageError(
            f"The key for {name} can't be typed here.",
            "This front end takes no hidden input.",
            f"Set ${variable} before the program starts, or put it into the keyring in a terminal.",
        ) from None
    if not value:
        return f"Nothing was typed; the key for {name} stays as it was."
    masking.hide(value)
    kept = keys.keep(name, value)
    said = [f"The key for {name} is kept {kept}."]
    if variable := keys.overruled(name):
        said.append(f"It counts in this process; the next one takes {variable} again.")
    if session.spec and session.provider.name == name:
        session.use(session.spec)
    else:
        said.append(f"`/provider {name}` makes it answer here.")
    return " ".join(said)


def _known(keys: Keys, name: str) -> str:
    return name if name in keys.names() else "NAME"


def _listed(keys: Keys) -> str:
    rows = [f"| {name} | `${keys.variable(name)}` | {keys.where(name) or 'none'} |" for name in keys.names()]
    return "\n".join(["| vendor | variable | key |", "|:--|:--|:--|", *rows])
