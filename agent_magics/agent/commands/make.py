"""``/make``: have one tool written while you watch."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from agent_magics.agent.commands.command import Command
from agent_magics.errors import UsageError
from agent_magics.ports import Forge

if TYPE_CHECKING:
    from agent_magics.agent.session import Session

_INTO = re.compile(r"\s--into[ =](?P<name>\S+)\s*$")


def command(forge: Forge) -> Command:
    """The command over one session's forge."""

    def run(session: Session, words: str) -> str:
        into = _INTO.search(f" {words}")
        name = into["name"] if into else ""
        if name and not name.isidentifier():
            raise UsageError(
                f"{name!r} is not a name.", "", "For example `/make count vowels --into vowels`."
            )
        description = _INTO.sub("", f" {words}").strip()
        planner = forge.make_one(description)
        turn = session.ask(f"/make {description}", provider=planner)
        made = forge.made()
        if not name or not made:
            return turn.reply or turn.error
        if session.toolbox.workbench is None:
            raise UsageError(
                f"There is no namespace to put {name!r} in.", "", "Use session.forge.function(name)."
            )
        session.toolbox.workbench.namespace[name] = forge.function(made)
        return f"{turn.reply}\n\n`{name}` is `{made}` as a Python function; each call of it stays confined."

    return Command(
        name="make",
        usage="DESCRIPTION [--into NAME]",
        summary="Write, check and try one tool while you watch; `--into` binds it as a Python function.",
        run=run,
    )
