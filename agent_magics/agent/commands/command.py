"""What a command is."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING, Self

if TYPE_CHECKING:
    from agent_magics.agent.session import Session

Run = Callable[["Session", str], str]


class Report(str):
    """A command's Markdown that also carries what it tells of, so that a front end may draw it better.

    Parameters
    ----------
    text : str
        The Markdown, complete in itself.
    about : object
        What it tells of; whoever doesn't know its kind shows the text.
    """

    __slots__ = ("about",)
    about: object

    def __new__(cls, text: str, about: object) -> Self:
        self = super().__new__(cls, text)
        self.about = about
        return self


@dataclass(frozen=True, kw_only=True)
class Command:
    """One slash command.

    Parameters
    ----------
    name : str
        Without the slash.
    usage : str
        The words that may follow, ``[in brackets]`` when they are optional.
    summary : str
        What it does, one line.
    run : callable
        ``(session, words) -> Markdown``, perhaps as a :class:`Report`.
    meanwhile : str
        What is shown while it works, where that may take long.
    """

    name: str
    usage: str
    summary: str
    run: Run
    meanwhile: str = ""

    @property
    def line(self) -> str:
        return f"/{self.name} {self.usage}".strip()


def cell(text: str) -> str:
    """A text as one cell of a Markdown table."""
    return text.replace("|", "\\|").replace("\n", " ")
