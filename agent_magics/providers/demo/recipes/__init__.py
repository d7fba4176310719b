"""Recipes: tools that the demonstration knows how to write.

Four families: conversions between units, counts and looks at texts, dates, and lists of numbers. Each reads a
request by its own rules and answers with a :class:`Job`; whoever wants nothing but the source of a tool
calls :func:`write`.

>>> draft = write("How many blorps is 10 km? A blorp is 3.7 metres.")
>>> draft.name, draft.example
('kilometres_to_blorps', {'kilometres': 10})
>>> write("Write me a sonnet.") is None
True
"""

from __future__ import annotations

import datetime as dt

from agent_magics.providers.demo.lexicon import Lexicon
from agent_magics.providers.demo.passage import Passage
from agent_magics.providers.demo.recipes import conversions, dates, lists, texts
from agent_magics.providers.demo.recipes.draft import Draft, Job

__all__ = ["Draft", "Job", "understand", "write"]


def write(request: str) -> Draft | None:
    """Write the tool that a request asks for.

    Parameters
    ----------
    request : str
        What the tool should do, in English: a question that it would answer, a description, or a name such
        as ``celsius_to_kelvin``. Units may be made up if the request defines them.

    Returns
    -------
    Draft or None
        The tool with its real source, or nothing if no recipe fits.
    """
    passage = Passage.of(request.replace("_", " "))
    job = understand(passage, Lexicon.of(passage.open))
    return job.draft if job else None


def understand(passage: Passage, lexicon: Lexicon, today: dt.date | None = None) -> Job | None:
    """The job that a passage asks for, of the first family that knows it."""
    if conversion := conversions.read(passage.open, lexicon):
        return conversions.job(conversion)
    return texts.read(passage) or dates.read(passage, today) or lists.read(passage)
