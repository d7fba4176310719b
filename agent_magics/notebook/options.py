"""The options of ``%agent`` and ``%%agent``: one table, from which parsing, ``--help`` and completion come.

A line is options first, then the prompt; ``--`` ends the options. The prompt is prose: nothing in it is
unquoted, expanded or taken apart.
"""

from __future__ import annotations

import keyword
import re
from collections.abc import Iterable
from dataclasses import dataclass, field
from typing import Any

from agent_magics.errors import UsageError


@dataclass(frozen=True, kw_only=True)
class Option:
    """One option: its long name, perhaps a letter, and what stands behind it (nothing for a flag).

    ``several`` ones may be given again and again; ``choices`` are the only values that one takes.
    """

    name: str
    letter: str = ""
    value: str = ""
    summary: str
    several: bool = False
    choices: tuple[str, ...] = ()

    @property
    def usage(self) -> str:
        letter = f"-{self.letter}, " if self.letter else ""
        return f"{letter}--{self.name} {self.value}".strip()


OPTIONS = (
    Option(name="provider", letter="p", value="NAME[:MODEL]", summary="Who answers this cell."),
    Option(name="model", letter="m", value="MODEL", summary="The model, where --provider names none."),
    Option(
        name="planner",
        value="HOW",
        summary="How tools are called: native, json (under a schema), classic (by rules).",
        choices=("native", "json", "classic"),
    ),
    Option(
        name="generator",
        value="NAME[:MODEL]",
        summary="Who writes a missing tool in this cell: another provider, or demo for recipes.",
    ),
    Option(name="base-url", value="URL", summary="Another address of the provider, for this cell."),
    Option(
        name="effort",
        value="LEVEL",
        summary="How hard a model reasons: none, minimal, low, medium, high, xhigh, max.",
        choices=("none", "minimal", "low", "medium", "high", "xhigh", "max"),
    ),
    Option(name="max-tokens", value="N", summary="The longest reply, in tokens."),
    Option(name="image", value="PATH", summary="A picture for the prompt; may be given again.", several=True),
    Option(name="into", value="NAME", summary="Bind the reply's text to a variable; so does `NAME <<`."),
    Option(
        name="schema",
        value="SCHEMA",
        summary='Answer with data: a name, a .json file, or `"name, age int, tags [str]"`; --into binds it.',
    ),
    Option(name="max-rounds", value="N", summary="Rounds of tool calls in this turn."),
    Option(
        name="budget",
        value="USD",
        summary="What this turn may cost, in US dollars; for all: `%config AgentMagics.budget`.",
    ),
    Option(name="max-total-tokens", value="N", summary="Tokens of this turn, in all."),
    Option(name="max-seconds", value="S", summary="How long this turn may take."),
    Option(name="replay", summary="Play this turn from this notebook's outputs; what differs is an error."),
    Option(name="record", value="PATH", summary="The same from another file: a notebook, or exported JSON."),
    Option(name="strict", summary="Raise when the turn fails; the default without a front end."),
    Option(name="help", letter="h", summary="Show this table."),
)

_BY_FLAG = {f"--{option.name}": option for option in OPTIONS} | {
    f"-{option.letter}": option for option in OPTIONS if option.letter
}
_BINDING = re.compile(r"\s*([A-Za-z_]\w*)\s*<<(?:\s+|$)")
_WORD = re.compile(r"""\s*((?:"[^"]*"|'[^']*'|[^\s"'])+|\S+)""")

_COUNTS = {
    "max-rounds": "the rounds of tool calls in this turn",
    "max-tokens": "the tokens of a reply",
    "max-total-tokens": "the tokens of this turn",
}
_AMOUNTS = {"budget": "US dollars", "max-seconds": "seconds"}
_QUOTES = re.compile(r"""\"([^\"]*)\"|'([^']*)'""")


@dataclass(frozen=True, kw_only=True)
class Request:
    """What a magic's line and cell ask for."""

    prompt: str
    values: dict[str, Any] = field(default_factory=dict[str, Any])

    def get(self, name: str) -> Any:
        return self.values.get(name)


def parse(line: str, cell: str = "") -> Request:
    """Read a line and the cell below it.

    Raises
    ------
    UsageError
        If an option is unknown, lacks its value, or can't take it.

    Examples
    --------
    >>> parse("--into answer What is 2 + 2?").prompt
    'What is 2 + 2?'
    >>> parse("rows << list the {names}", "of all planets").values
    {'into': 'rows'}
    """
    values: dict[str, Any] = {}
    if binding := _BINDING.match(line):
        values["into"] = _name(binding[1])
        line = line[binding.end() :]
    while (word := _WORD.match(line)) and _is_option(word[1]):
        line = line[word.end() :]
        if word[1] == "--":
            break
        line = _take(word[1], line, values)
    prompt = "\n".join(part for part in (line.strip(), cell.strip("\n")) if part.strip())
    return Request(prompt=prompt, values=values)


def _is_option(word: str) -> bool:
    return word == "--" or bool(re.match(r"--?[A-Za-z]", word))


def _take(word: str, rest: str, values: dict[str, Any]) -> str:
    """Take one option and its value; return what is left of the line."""
    flag, equals, given = word.partition("=")
    option = _BY_FLAG.get(flag)
    if option is None:
        raise _unknown(flag)
    if not option.value:
        values[option.name] = True
        return rest
    if not equals:
        following = _WORD.match(rest)
        if following is None:
            raise UsageError(
                f"{flag} needs a value.", f"It is written {option.usage}.", "All options: %agent --help."
            )
        given, rest = following[1], rest[following.end() :]
    value = _value(option, _QUOTES.sub(r"\1\2", given))
    values[option.name] = [*values.get(option.name, ()), value] if option.several else value
    return rest


def _value(option: Option, given: str) -> Any:
    if counted := _COUNTS.get(option.name):
        if not given.isdecimal() or int(given) < 1:
            raise UsageError(
                f"--{option.name} takes a number of at least 1, not {given!r}.",
                f"It counts {counted}.",
                f"For example --{option.name} 5.",
            )
        return int(given)
    if option.name in _AMOUNTS:
        return _amount(option.name, given)
    if option.choices and given not in option.choices:
        raise UsageError(
            f"--{option.name} doesn't know {given!r}.",
            f"It knows {', '.join(option.choices)}.",
            f"For example --{option.name} {option.choices[0]}.",
        )
    return _name(given) if option.name == "into" else given


def _amount(name: str, given: str) -> float:
    number = given.removeprefix("$")
    if re.fullmatch(r"\d*\.?\d+", number) and float(number) > 0:
        return float(number)
    raise UsageError(
        f"--{name} takes a number above 0, not {given!r}.",
        f"It is the most {_AMOUNTS[name]} that this turn may take.",
        f"For example --{name} {'0.50' if name == 'budget' else '60'}.",
    )


_KEPT = frozenset({"In", "Out", "exit", "quit", "get_ipython", "_turn"})


def _name(given: str) -> str:
    """The name of a variable that a reply may take; not one that the notebook itself stands on."""
    if given.isidentifier() and not keyword.iskeyword(given) and given not in _KEPT and given[:2] != "__":
        return given
    why = "A name is made of letters, digits and underscores."
    if keyword.iskeyword(given):
        why = f"{given!r} is a word of the language."
    elif given.isidentifier():
        why = f"The notebook itself needs {given!r}."
    raise UsageError(
        f"--into takes the name of a variable, not {given!r}.", why, "For example --into answer."
    )


def _unknown(flag: str) -> UsageError:
    import difflib  # only for this error

    words = {each.lstrip("-"): each for each in _BY_FLAG}  # dashes are alike in all of them
    near = [words[each] for each in difflib.get_close_matches(flag.lstrip("-"), words, n=2)]
    return UsageError(
        f"Unknown option: {flag}.",
        f"Did you mean {' or '.join(near)}?" if near else "No option is close to it.",
        "All options: %agent --help. A prompt that begins with a dash follows after `--`.",
    )


_USE = (
    ("%%agent [options] [--] prompt", "a turn; more of the prompt may follow in the lines below"),
    ("%agent [options] [--] prompt", "a turn in one line"),
    ("%agent", "which model and why, the session, who is asked"),
    ("%agent /help", "the commands"),
)


def help_text(*, plain: bool = False) -> str:
    """How the magics are used and their options, as Markdown or as ``plain`` text."""
    options = [(option.usage, option.summary) for option in OPTIONS]
    if not plain:
        return "\n\n".join(
            (_table("you write", "what it is", _USE), _table("option", "what it does", options))
        )
    lines = [f"{left:<30}  {right}" for left, right in (*_USE, ("", ""), *options)]
    return "\n".join(["Ask the agent.", "", *(line.rstrip() for line in lines)])


def _table(left: str, right: str, rows: Iterable[tuple[str, str]]) -> str:
    return "\n".join([f"| {left} | {right} |", "|:--|:--|", *(f"| `{a}` | {b} |" for a, b in rows)])
