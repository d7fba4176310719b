"""``agent-magics ask``: one turn, made for pipes.

Standard output carries the reply and nothing else. At a terminal the reply appears there as it is said; into
a file or a pipe it goes when it is whole, because what a model says before it calls a tool is no part of it.
"""

from __future__ import annotations

import argparse
import sys

from agent_magics.cli import CANCELLED
from agent_magics.cli.screen import answer_and_progress, progress_only
from agent_magics.cli.sessions import open_session
from agent_magics.errors import UsageError
from agent_magics.providers.parts import picture
from agent_magics.talk import Turn
from agent_magics.terminal import readable

PATIENCE = 2.0
"""Seconds of silence on standard input after which it is said what is being waited for."""

EXITS = {
    "done": 0,
    "max_rounds": 3,
    "no_progress": 3,
    "too_many_failures": 3,
    "budget": 3,
    "truncated": 3,
    "context_full": 3,
    "refused_by_model": 4,
    "cancelled": CANCELLED,
}
"""How a turn ended -> the exit code; 1 for everything else."""


def ask(options: argparse.Namespace) -> int:
    """Run the turn and return the exit code."""
    prompt = with_input(" ".join(options.prompt), piped())
    images = [picture(path) for path in options.image]
    live = sys.stdout.isatty()
    with open_session(options, answer_and_progress() if live else progress_only()) as session:
        try:
            turn: Turn | None = session.ask(prompt, images=images)
        except KeyboardInterrupt:
            turn = session.turn
    if turn and turn.reply and not live:
        print(turn.reply)
    return EXITS.get(turn.stop, 1) if turn else CANCELLED


def piped() -> str:
    """What came through a pipe or from a file; nothing at a terminal."""
    if sys.stdin is None or sys.stdin.closed or sys.stdin.isatty():  # pyright: ignore[reportUnnecessaryComparison]  # None under pythonw
        return ""
    if not readable(PATIENCE):
        print("Reading standard input to its end; `< /dev/null` leaves it out.", file=sys.stderr)
    return sys.stdin.buffer.read().decode(errors="replace")


def with_input(prompt: str, text: str) -> str:
    """The prompt with the piped text behind it, in a fence that nothing in it can end.

    >>> print(with_input("Count the words.", "one two\\n"))
    Count the words.
    <BLANKLINE>
    ```
    one two
    ```

    Raises
    ------
    UsageError
        If there is neither.
    """
    if not text.strip():
        if not prompt.strip():
            raise UsageError(
                "There is no prompt.", "Neither words nor piped input came.", "See `ask --help`."
            )
        return prompt
    if not prompt.strip():
        return text
    fence = "```"
    while fence in text:
        fence += "`"
    return f"{prompt}\n\n{fence}\n{text.rstrip()}\n{fence}"
