"""Arguments and results, laid out by name so that a person can read them.

Small values stand together as JSON; a value of several lines, or a long one, gets a block of its own
under its name. Nothing is left out here; who calls says how much may be shown.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from typing import Any, cast

from agent_magics.talk import JSON, ToolResult
from agent_magics.ui import look
from agent_magics.ui.dress import framed
from agent_magics.ui.markdown import code
from agent_magics.ui.text import escape, one_line, visible

_SMALL = 100
_LANGUAGES = {"code": "python", "source": "python", "command": "bash", "sql": "sql", "query": "sql"}


def literal(value: JSON, most: int = 0) -> str:
    """A value as JSON on one line, with everything in it visible, and at most ``most`` characters of it."""
    if most and isinstance(value, str):
        value = value[: most + 1]
    if isinstance(value, str) and '"' in value and "'" not in value:
        return visible(one_line(repr(value), most))  # program text, without a backslash at each quote
    return visible(one_line(json.dumps(value, ensure_ascii=False, default=str), most))


def label(text: str) -> str:
    return f'<div style="{look.LABEL}">{escape(text)}</div>'


def block(text: str, language: str = "") -> str:
    """Text from a tool or for one, every character of it visible, in a frame."""
    return framed(code(visible(text), language)).rstrip("\n")


def arguments(values: Mapping[str, JSON]) -> str:
    """The arguments of a call, under their heading."""
    return "".join(_laid_out(values, "Arguments")) if values else label("No arguments")


def result(result: ToolResult, most: int) -> str:
    """What a call came back with, under its heading; ``most`` characters of it at most."""
    payload = _payload(result.text)
    if isinstance(payload, dict):
        shown = cast("dict[str, Any]", payload)
        texts = [value for value in shown.values() if isinstance(value, str)]
        if len(shown) > 1 or not texts:
            whole = json.dumps(shown, ensure_ascii=False)
            if len(whole) <= most:
                return "".join(_laid_out(shown, "Result"))
            return _capped(whole, max(result.size, len(whole)), most, "json")
        payload = texts[0]
    return _capped(str(payload), max(result.size, len(str(payload))), most)


def _capped(text: str, size: int, most: int, language: str = "") -> str:
    if len(text) <= most:
        return label("Result") + block(text, language)
    return label(f"Result · first {most:,} of {size:,} characters") + block(text[:most] + "…", language)


def _payload(text: str) -> JSON:
    """A result without its envelope; a cut one as its head and tail."""
    try:
        loaded = json.loads(text)
    except ValueError:
        return text
    if not isinstance(loaded, dict):
        return text
    values = cast("dict[str, Any]", loaded)
    if values.keys() >= {"cut", "head", "tail"}:
        return f"{values['head']}\n…\n{values['tail']}"
    return {name: value for name, value in values.items() if name not in ("ok", "brief")}


def _laid_out(values: Mapping[str, JSON], heading: str) -> Iterator[str]:
    long = {name: value for name, value in values.items() if _is_long(value)}
    small = {name: value for name, value in values.items() if name not in long}
    if small or not long:
        yield label(heading)
        yield block(json.dumps(small, indent=2, ensure_ascii=False, default=str), "json")
        heading = ""
    for name, value in long.items():
        shown = visible(one_line(name, 60))
        yield label(f"{heading} · {shown}" if heading else shown)
        text = (
            value if isinstance(value, str) else json.dumps(value, indent=2, ensure_ascii=False, default=str)
        )
        yield block(text, _LANGUAGES.get(name, "") if isinstance(value, str) else "json")


def _is_long(value: JSON) -> bool:
    if isinstance(value, str):
        return "\n" in value.strip("\n") or len(value) > _SMALL
    return isinstance(value, list | dict) and len(json.dumps(value, default=str)) > 4 * _SMALL
