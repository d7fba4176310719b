"""Results, told in Markdown: figures as people read them, tables for rows, blocks for long texts."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from typing import Any, cast

from agent_magics.providers.demo.figures import figure
from agent_magics.providers.demo.outcomes import Outcome
from agent_magics.talk import JSON

ROWS = 20
WIDTH = 80
LONG = 6_000
_SPECIAL = re.compile(r"[\\`*<|$]|(?<!\w)_|_(?!\w)|\((?<=\]\()")


def told(name: str, value: JSON) -> str:
    """What a tool returned, as a sentence or as a sentence with a table or a block."""
    match value:
        case None:
            return f"`{name}` is done; it returned nothing."
        case bool() | int() | float():
            return f"`{name}` gives **{short(value)}**."
        case str() if "\n" not in value and len(value) <= 300:
            return f"`{name}` gives “{escaped(value)}”." if value else f"`{name}` gives an empty text."
        case _:
            return f"`{name}` gives:\n\n{block(value)}"


def block(value: JSON) -> str:
    """A value as a Markdown block."""
    if isinstance(value, dict):
        return _mapping(cast("dict[str, Any]", value))
    if isinstance(value, list):
        return _sequence(cast("list[Any]", value))
    text = str(value)
    shown = text if len(text) <= LONG else f"{text[:LONG]}\n… ({len(text) - LONG:,} more characters)"
    return fenced(shown) if "\n" in shown else f"> {escaped(shown)}"


def table(rows: Sequence[Mapping[str, JSON]]) -> str:
    """Records as a table; numbers stand to the right."""
    columns = list(dict.fromkeys(name for row in rows for name in row))[:12]
    numeric = [all(_is_number(row[name]) for row in rows if name in row) for name in columns]
    lines = [
        "| " + " | ".join(escaped(name) for name in columns) + " |",
        "|" + "|".join("---:" if right else "---" for right in numeric) + "|",
        *(
            "| " + " | ".join(short(row[name]) if name in row else "" for name in columns) + " |"
            for row in rows[:ROWS]
        ),
    ]
    more = f"\n\n… and {len(rows) - ROWS:,} more." if len(rows) > ROWS else ""
    return "\n".join(lines) + more


def fenced(text: str, language: str = "") -> str:
    """A code block; its fence is longer than any inside."""
    longest = max((len(run) for run in re.findall(r"`{3,}", text)), default=2)
    fence = "`" * max(3, longest + 1)
    return f"{fence}{language}\n{text.rstrip()}\n{fence}"


def short(value: JSON) -> str:
    """A value in a few words, for a cell or a sentence."""
    match value:
        case None:
            return "–"
        case bool():
            return "yes" if value else "no"
        case int() | float():
            return figure(value)
        case str():
            return escaped(cut(value))
        case list():
            listed = cast("list[Any]", value)
            return cut(", ".join(map(short, listed[:20])) + (" …" if len(listed) > 20 else ""))
        case dict():
            pairs = cast("dict[str, Any]", value).items()
            return ", ".join(f"{escaped(str(name))} {short(each)}" for name, each in list(pairs)[:8])
        case _:
            return escaped(str(value))


def cut(text: str) -> str:
    """A text in one line of at most :data:`WIDTH` characters."""
    line = " ".join(text[: 4 * WIDTH].split())
    return line if len(line) <= WIDTH and len(text) <= 4 * WIDTH else line[: WIDTH - 1] + "…"


def escaped(text: str) -> str:
    """A text that Markdown shows as it is."""
    return _SPECIAL.sub(r"\\\g<0>", text)


def failed(name: str, outcome: Outcome) -> str:
    """A failure in the tool's own words."""
    lines = outcome.error if len(outcome.error) <= LONG else outcome.error[:LONG] + "…"
    return f"`{name}` failed:\n\n> {escaped(lines)}"


def _mapping(value: dict[str, Any]) -> str:
    if not value:
        return "An empty object."
    if all(isinstance(each, dict) for each in value.values()):
        return table([{"": name, **each} for name, each in value.items()])
    if any(isinstance(each, str) and "\n" in each for each in value.values()):
        return "\n\n".join(_entry(name, each) for name, each in value.items())
    if all(_is_number(each) for each in value.values()):
        return table([{"": name, "value": each} for name, each in value.items()])
    return "\n".join(f"- {escaped(str(name))}: {short(each)}" for name, each in value.items())


def _entry(name: str, value: JSON) -> str:
    rows = cast("list[Any]", value) if isinstance(value, list) else []
    if rows and all(isinstance(row, dict) for row in rows):
        return f"**{escaped(name)}**\n\n{table(rows)}"
    if isinstance(value, str) and "\n" in value:
        return f"**{escaped(name)}**\n\n{fenced(value[:LONG])}"
    return f"**{escaped(name)}**: {short(value)}"


def _sequence(value: list[Any]) -> str:
    if not value:
        return "An empty list."
    if all(isinstance(row, dict) for row in value):
        return table(value)
    more = f"\n- … and {len(value) - ROWS:,} more" if len(value) > ROWS else ""
    return "\n".join(f"- {short(each)}" for each in value[:ROWS]) + more


def _is_number(value: JSON) -> bool:
    return isinstance(value, int | float) and not isinstance(value, bool)
