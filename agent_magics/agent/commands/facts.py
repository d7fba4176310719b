"""``/facts``: what is remembered; and the last change, taken back."""

from __future__ import annotations

import unicodedata
from typing import TYPE_CHECKING

from agent_magics.agent.commands.command import Command
from agent_magics.agent.commands.listed import when
from agent_magics.agent.remembering import Remembering
from agent_magics.errors import UsageError
from agent_magics.talk.memory import MOST

if TYPE_CHECKING:
    from agent_magics.agent.session import Session

UNDO = "`/facts undo` takes that back."


def command(remembering: Remembering) -> Command:
    """The command over one session's facts."""

    def run(session: Session, words: str) -> str:
        match words.split():
            case []:
                return _listed(remembering)
            case ["undo"]:
                what, memory = remembering.undo()
                return f"No longer {what}: {literal(memory.text)} (`{memory.id}`)."
            case _:
                raise UsageError(f"/facts can't take {words[:60]!r}.", "", "It takes: /facts [undo].")

    return Command(
        name="facts",
        usage="[undo]",
        summary="What is remembered; `undo` takes back the last change.",
        run=run,
    )


def literal(text: str) -> str:
    """Somebody's text as a code span, also inside of a table: it is never markup, and nothing in it hides."""
    line = "".join(_seen(char) for char in " ".join(text.split()))
    return f"`{line.replace('`', chr(0x2CB)).replace('|', '¦')}`" if line else ""


def _seen(char: str) -> str:
    hides = unicodedata.category(char) in ("Cc", "Cf", "Co", "Cs", "Zl", "Zp")
    return f"⟨U+{ord(char):04X}⟩" if hides else char


def _listed(remembering: Remembering) -> str:
    facts = list(remembering)
    if not facts:
        return "Nothing is remembered. `/remember TEXT` keeps a fact."
    rows = [
        f"| `{each.id}` | {literal(each.text)} | {each.scope} | {literal(each.origin)} | {when(each.at)} |"
        for each in facts
    ]
    counts = [
        f"{sum(each.scope == scope for each in facts)} of {MOST} {scope}" for scope in ("user", "notebook")
    ]
    hint = f"{', '.join(counts)}. `/forget ID` takes one out, `/facts undo` takes back the last change."
    return "\n".join(["| id | fact | scope | origin | when |", "|:--|:--|:--|:--|:--|", *rows, "", hint])
