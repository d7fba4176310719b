"""Completion behind ``%agent`` and in ``%%agent``: options, commands, providers, models and variables.

A prompt is prose, so where there is something of ours to offer, Python's own suggestions are left out.
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from typing import TYPE_CHECKING, Any

from IPython.core.completer import (
    CompletionContext,
    SimpleCompletion,
    SimpleMatcherResult,
    context_matcher,  # pyright: ignore[reportUnknownVariableType]  # IPython types it in part
)

from agent_magics.notebook.options import OPTIONS

if TYPE_CHECKING:
    from agent_magics.notebook.magics import AgentMagics

_MAGIC = re.compile(r"\s*%%?agent\s(?P<rest>.*)")
_CHOICES = {f"--{option.name}": option.choices for option in OPTIONS if option.choices}
_WORD = re.compile(r"\S*$")
_NAME = re.compile(r"[^\W\d]\w*$|$")


def matcher(magics: AgentMagics, shell: Any) -> Any:
    """A matcher for ``IPCompleter.custom_matchers``."""

    @context_matcher()  # pyright: ignore[reportUntypedFunctionDecorator]
    def agent_matcher(context: CompletionContext) -> SimpleMatcherResult:
        fragment, offers = _offers(magics, shell, context)
        found = [SimpleCompletion(text) for text in offers if text.startswith(fragment)]
        return SimpleMatcherResult(completions=found, matched_fragment=fragment, suppress=bool(found))

    return agent_matcher


def _offers(magics: AgentMagics, shell: Any, context: CompletionContext) -> tuple[str, Iterable[str]]:
    """The end of the text that can be completed, and what it could become."""
    line = _MAGIC.fullmatch(context.text_until_cursor)
    if line is None:
        if context.cursor_line and context.full_text.lstrip().startswith("%%agent"):
            return _variables(shell, context.text_until_cursor)
        return "", ()
    rest = line["rest"]
    word = _end(_WORD, rest)
    before = rest[: len(rest) - len(word)].split()
    if word.startswith("-"):
        return _option(word)
    if rest.startswith("/"):
        return _command(magics, word, before)
    if before[-1:] in (["-p"], ["--provider"]):
        return _provider(word)
    if before and before[-1] in _CHOICES:
        return word, _CHOICES[before[-1]]
    return _variables(shell, rest)


def _option(word: str) -> tuple[str, Iterable[str]]:
    flag, equals, value = word.partition("=")
    if equals:
        return _provider(value) if flag == "--provider" else ("", ())
    return word, [f"--{option.name}" for option in OPTIONS]


def _command(magics: AgentMagics, word: str, before: list[str]) -> tuple[str, Iterable[str]]:
    if before == ["/provider"] or (before[0:1] == ["/compare"] and "--" not in before):
        return _provider(word)
    if before == ["/resume"]:
        return word, magics.session_ids()
    if before:
        return "", ()
    return word, [f"/{name}" for name in magics.command_names()]


def _provider(word: str) -> tuple[str, Iterable[str]]:
    from agent_magics.providers.registry import Registry

    name, colon, model = word.partition(":")
    if colon:
        return model, Registry().models(name)
    return name, Registry().names()


def _variables(shell: Any, text: str) -> tuple[str, Iterable[str]]:
    from agent_magics.tools.builtin.variables import user_variables

    return _end(_NAME, text), user_variables(shell.user_ns, frozenset(shell.user_ns_hidden))


def _end(pattern: re.Pattern[str], text: str) -> str:
    """What stands at the end of a text, perhaps nothing."""
    found = pattern.search(text)
    return found[0] if found else ""
