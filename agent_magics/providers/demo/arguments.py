"""The arguments of a call, filled from the text by the tool's schema.

Two passes over the parameters: first what the text surely means for one of them, then what fits it. In
between, the result of an earlier call takes its place, if the text points back at one. Nothing is used twice,
and a parameter with a default is filled only when the text speaks of it.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from agent_magics.providers.demo.candidates import BACK, Candidate, Supply, is_said, perhaps, surely
from agent_magics.providers.demo.lexicon import Lexicon
from agent_magics.providers.demo.passage import Passage
from agent_magics.providers.demo.reading import Tool
from agent_magics.providers.demo.shape import Schema, in_bounds, kind, resolved
from agent_magics.providers.demo.words import STOP, stem, word_set, words
from agent_magics.providers.loose import items, obj
from agent_magics.talk import JSON

_TAKES_ANYTHING = word_set(
    """
    text string sentence content body message prompt query question goal task words phrase note title term
    search topic expression code command fact
    """
)


@dataclass(frozen=True, kw_only=True)
class Filled:
    """Arguments; the required ones that nothing was found for; and the one that takes an earlier result."""

    arguments: dict[str, JSON]
    missing: tuple[str, ...] = ()
    hole: str = ""


def fill(
    tool: Tool,
    passage: Passage,
    lexicon: Lexicon,
    *,
    earlier: bool = False,
    nested: bool = False,
    said: str = "",
) -> Filled:
    """Fill the parameters of ``tool`` from ``passage``.

    Parameters
    ----------
    earlier : bool
        Whether there is, or will be, the result of an earlier call.
    nested : bool
        Whether the text describes that result, as *the title of the page* does: then it is no text itself.
    said : str
        The words by which the tool was told; they are no argument.
    """
    supply = Supply(passage, lexicon, said)
    arguments = _pass(tool, supply, {}, tuple(tool.properties), sure=True)
    open_ones = [name for name in tool.required if name not in arguments]
    hole = open_ones.pop(0) if open_ones and earlier and (nested or BACK.search(passage.bare)) else ""
    arguments = _pass(tool, supply, arguments, tuple(open_ones), sure=False)
    missing = [name for name in open_ones if name not in arguments]
    if missing and earlier and not hole:
        hole = missing.pop(0)
    if len(missing) == 1 and (rest := _rest(missing[0], tool, passage, said)):
        arguments[missing.pop()] = rest
    return Filled(arguments=arguments, missing=tuple(missing), hole=hole)


def _pass(
    tool: Tool, supply: Supply, arguments: dict[str, JSON], names: tuple[str, ...], *, sure: bool
) -> dict[str, JSON]:
    """The arguments with what this pass found for ``names``."""
    found = dict(arguments)
    for name in names:
        schema = resolved(tool.properties[name], tool.parameters)
        inner = resolved(obj(schema.get("items")), tool.parameters)
        options = surely(name, schema, supply) if sure else perhaps(name, schema, inner, supply)
        for candidate in _allowed(options, schema, supply):
            if supply.take(candidate):
                found[name] = candidate[1]
                break
    return found


def _allowed(options: Iterator[Candidate], schema: Schema, supply: Supply) -> Iterator[Candidate]:
    """The candidates that the schema admits; of an enumeration what the text says of it."""
    if choices := items(schema.get("enum")):
        yield from (
            ("choice", choice) for choice in choices if is_said(str(choice), supply.passage.bare, bent=True)
        )
        return
    yield from (candidate for candidate in options if in_bounds(candidate[1], schema))


def _rest(name: str, tool: Tool, passage: Passage, said: str) -> str:
    """For a parameter that takes any text: the prompt without the words that told the tool."""
    if (
        kind(resolved(tool.properties[name], tool.parameters)) != "string"
        or not set(words(name)) & _TAKES_ANYTHING
    ):
        return ""
    spoken = {stem(word) for word in (*words(said), *words(tool.name))}
    left = passage.clean.split()
    while left and all(stem(word) in spoken or word in STOP for word in words(left[0])):
        left.pop(0)
    text = " ".join(left)
    return "" if BACK.fullmatch(text) else text
