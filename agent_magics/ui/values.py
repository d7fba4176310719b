"""A JSON value as a small table or tree: HTML, Markdown, plain lines.

A list of objects is a table, an object is a table of its keys, whatever stands inside a cell is written as
JSON or, if it is large, folded. Everything is escaped; nothing in a value becomes markup.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Sequence
from typing import Any, cast

from agent_magics.talk import JSON
from agent_magics.ui import look
from agent_magics.ui.portable import portable
from agent_magics.ui.text import escape, one_line, visible

_ROWS = 50
_LIVE_ROWS = 12
_KEYS = 100
_COLUMNS = 12
_CELL = 200
_DEPTH = 4

_TABLE = (
    "display:block;overflow:auto;margin:0 0 10px;border-collapse:collapse;font-size:13px;overflow-wrap:normal"
)
_CELL_STYLE = "padding:2px 14px 2px 0;line-height:20px;text-align:{align};vertical-align:top"


def value_html(value: JSON, *, live: bool = False) -> str:
    """A value as HTML with inline styles; of a long list the beginning, or ``live`` its end."""
    return f'<div style="{look.TEXT}">{_html(value, live=live, depth=0)}</div>'


def value_markdown(value: JSON) -> str:
    """A value as Markdown: a table where it is one, JSON otherwise."""
    rows = _as_rows(value)
    if rows is None:
        return portable(f"```json\n{json.dumps(value, indent=2, ensure_ascii=False)}\n```")
    names = _columns(rows)
    lines = [[_cell_text(row.get(name)) for name in names] for row in rows[:_ROWS]]
    table = [names, ["---"] * len(names), *lines]
    written = "\n".join(f"| {' | '.join(_piped(cell) for cell in line)} |" for line in table)
    return f"{written}\n\n{_left_out(len(rows))}".strip()


def value_plain(value: JSON, most: int) -> str:
    """A value on one line."""
    return visible(one_line(json.dumps(value, ensure_ascii=False), most))


def _html(value: JSON, *, live: bool, depth: int) -> str:
    if depth >= _DEPTH:
        return _code(value)
    if (rows := _as_rows(value)) is not None:
        return _rows_html(rows, live=live, depth=depth)
    if isinstance(value, dict) and value:
        known = cast("dict[str, JSON]", value)
        shown = list(known.items())[-_KEYS if live else 0 :][:_KEYS]
        lines = ((_heading(name), _inner(part, live=live, depth=depth)) for name, part in shown)
        return _table((), lines) + _note(len(known), len(shown))
    if isinstance(value, list) and value:
        items = cast("list[JSON]", value)
        shown = items[-_LIVE_ROWS:] if live else items[:_ROWS]
        lines = ((_inner(item, live=live, depth=depth),) for item in shown)
        return _table((), lines) + _note(len(items), len(shown))
    return f"<div>{_inner(value, live=live, depth=depth)}</div>"


def _rows_html(rows: Sequence[dict[str, JSON]], *, live: bool, depth: int) -> str:
    shown = rows[-_LIVE_ROWS:] if live else rows[:_ROWS]
    names = _columns(rows)
    lines = (
        tuple(_inner(row[name], live=live, depth=depth) if name in row else "" for name in names)
        for row in shown
    )
    numeric = {at for at, name in enumerate(names) if _are_numbers([row.get(name) for row in shown])}
    return _table(names, lines, numeric) + _note(len(rows), len(shown))


def _inner(value: JSON, *, live: bool, depth: int) -> str:
    match value:
        case None:
            return f'<span style="{look.DIM}">–</span>'
        case bool() | int() | float():
            return escape(json.dumps(value))
        case str():
            return escape(visible(value if len(value) <= 4 * _CELL else value[: 4 * _CELL] + "…")).replace(
                "\n", "<br>"
            )
        case _:
            text = json.dumps(value, ensure_ascii=False)
            plain = all(not isinstance(part, dict | list) for part in _parts(value))
            if len(text) <= _CELL and plain and isinstance(value, list):
                listed = cast("list[JSON]", value)
                return ", ".join(_inner(part, live=live, depth=depth + 1) for part in listed) or "[]"
            return _html(value, live=live, depth=depth + 1) if value else escape(text)


def _parts(value: JSON) -> Iterable[JSON]:
    return cast("dict[str, JSON]", value).values() if isinstance(value, dict) else cast("list[JSON]", value)


def _code(value: JSON) -> str:
    text = one_line(json.dumps(value, ensure_ascii=False), _CELL)
    return f'<code style="{look.NAME}">{escape(visible(text))}</code>'


def _table(
    names: Sequence[str], lines: Iterable[Sequence[str]], numeric: frozenset[int] | set[int] = frozenset()
) -> str:
    def cell(at: int, html: str, tag: str = "td") -> str:
        style = _CELL_STYLE.format(align="right" if at in numeric else "left")
        return f'<{tag} style="{style}">{html}</{tag}>'

    line = f'<tr style="border-bottom:1px solid {look.LINE};background:none">'
    head = "".join(cell(at, _heading(name), "th") for at, name in enumerate(names))
    body = "".join(f"{line}{''.join(cell(at, html) for at, html in enumerate(each))}</tr>" for each in lines)
    opened = f"<thead>{line}{head}</tr></thead>" if names else ""
    return f'<table style="{_TABLE}">{opened}<tbody>{body}</tbody></table>'


def _heading(name: str) -> str:
    return f'<span style="font-weight:600">{escape(visible(one_line(name, 60)))}</span>'


def _note(number: int, shown: int) -> str:
    if number <= shown:
        return ""
    return f'<div style="{look.NOTICE}">{shown} of {number:,} rows are shown.</div>'


def _left_out(number: int) -> str:
    return f"{_ROWS} of {number:,} rows are shown." if number > _ROWS else ""


def _as_rows(value: JSON) -> list[dict[str, JSON]] | None:
    """The rows of a table, if the value is a list of objects that are not too wide."""
    if not isinstance(value, list) or not value:
        return None
    items = cast("list[Any]", value)
    if not all(isinstance(item, dict) for item in items):
        return None
    return cast("list[dict[str, JSON]]", items) if 0 < len(_columns(items)) <= _COLUMNS else None


def _columns(rows: Sequence[dict[str, JSON]]) -> list[str]:
    return list(dict.fromkeys(name for row in rows for name in row))


def _are_numbers(values: Sequence[JSON]) -> bool:
    told = [value for value in values if value is not None]
    return bool(told) and all(isinstance(each, int | float) and not isinstance(each, bool) for each in told)


def _cell_text(value: JSON) -> str:
    text = value if isinstance(value, str) else "" if value is None else json.dumps(value, ensure_ascii=False)
    return one_line(text, _CELL)


def _piped(cell: str) -> str:
    return portable(visible(cell)).replace("|", "\\|")
