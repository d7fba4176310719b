"""``extract``: one text, with the usual parts found by themselves.

The work is in :mod:`agent_magics.extract`; here it is given a provider by name, and the agent's loop.
"""

from __future__ import annotations

from typing import Any

from agent_magics.agent.answering import inside_turn
from agent_magics.agent.waiting import waited
from agent_magics.errors import SessionError, UsageError
from agent_magics.providers.registry import Registry


def extract(
    text: str,
    schema: Any,
    *,
    provider: str | Any = "auto",
    instruction: str = "",
    repairs: int = 2,
    **options: Any,
) -> Any:
    """Extract one value from a text.

    The model is held to the schema by its JSON mode where it has one, by a tool call or in words elsewhere.
    The schema as you wrote it decides at the end; a wrong answer is sent back with its errors.

    Parameters
    ----------
    text : str
        What the value is taken from. To the model it is data.
    schema : dict, str, path or type
        A JSON Schema, a ``.json`` file, a Pydantic model, dataclass, ``TypedDict``, or the short form
        ``"name, age int?, tags [str], level low|high"`` (see :mod:`agent_magics.extract.short`).
    provider : str or object
        As for :class:`~agent_magics.Session`; further keywords go to its factory.
    instruction : str
        What to look for, where the schema does not say it.
    repairs : int
        How often a wrong answer is sent back.

    Returns
    -------
    dict or list
        Of plain JSON values, also for a Pydantic model.

    Raises
    ------
    ExtractionError
        If there is no value; ``kind`` is ``refused``, ``truncated``, ``invalid`` or ``provider``.
    UsageError
        If there is no text.
    SessionError
        If it is called from inside a turn.

    Examples
    --------
    >>> extract("Ada Lovelace was born in 1815.", "born int", provider="demo")
    {'born': 1815}
    """
    from agent_magics.extract import Schema, ask_once

    if inside_turn():
        raise SessionError(
            "Nothing can be extracted from inside a turn.",
            "A tool, a hook or the agent's own loop asked; waiting for it would never end.",
            "Return the text to the model and let it go on.",
        )
    _check(text)
    wanted, built = Schema.of(schema), Registry().build(provider, **options)

    async def work() -> Any:
        try:
            return await ask_once(built, text, wanted, instruction=instruction, repairs=repairs)
        finally:
            if isinstance(provider, str):
                await built.aclose()

    return waited(work()).value


def _check(text: object) -> None:
    if isinstance(text, str) and text.strip():
        return
    given = "It has no text." if isinstance(text, str) else f"It is {type(text).__name__}, not str."
    raise UsageError("There is nothing to extract from.", given, "Give it the text: extract(text, schema).")
