"""A turn that has ended, as one static bundle: what a saved notebook shows without a kernel or a widget.

``text/html`` carries everything, with the folds as ``<details>``; ``text/markdown`` and ``text/plain``
serve readers that know no HTML; the turn's own data stands beside them under :data:`MIME`, so that a
session can be rebuilt from the file. All of it is a pure function of the
:class:`~agent_magics.talk.Turn`.
"""

from __future__ import annotations

import json
from collections.abc import Iterator
from dataclasses import replace
from typing import Any

from agent_magics.record.once import once
from agent_magics.record.reading import MIME
from agent_magics.talk import JSON, CallRecord, Step, ToolResult, Turn
from agent_magics.talk.codec import encode
from agent_magics.ui import look, rows
from agent_magics.ui.markdown import html
from agent_magics.ui.partial_value import NOTHING
from agent_magics.ui.portable import portable
from agent_magics.ui.rows import STAGE_DETAIL, Row
from agent_magics.ui.text import encodable, escape, marked, one_line, prose, visible
from agent_magics.ui.thin import SHORT, fitting, room, taken
from agent_magics.ui.values import value_html, value_markdown
from agent_magics.ui.words import ERRORS, SHOWN, ending, meter, spent, verdict

Bundle = dict[str, Any]

STALE = "Stale: a cell above it ran again."

_PLAIN = 200


def bundle(turn: Turn, *, opened: frozenset[str] = frozenset()) -> Bundle:
    """A turn as a MIME bundle.

    Parameters
    ----------
    turn : Turn
        The turn; it may have been cut short.
    opened : frozenset of str
        The keys of the folds that stand open, as a person left them.
    """
    html, markdown = turn_html(turn, opened=opened), turn_markdown(turn)
    data = encode(_saved(turn), sparse=True)
    if len(html) > SHORT:
        html = fitting(html, room(turn) - taken(markdown) - taken(data) - _PLAIN)
    return encodable(
        {"text/html": html, "text/markdown": markdown, "text/plain": turn_plain(turn), MIME: data}
    )


def turn_html(turn: Turn, *, opened: frozenset[str] = frozenset()) -> str:
    """The turn as HTML with inline styles only: header, folds, answer, and how it ended."""
    notices = [*map(notice, turn.notices), notice(STALE) if turn.stale else ""]
    parts = [_head(turn), *_steps(turn, opened), *notices, bar(turn)]
    return f'<div class="agent-turn" style="{look.ROOT}">{"".join(parts)}</div>'


def turn_markdown(turn: Turn) -> str:
    """The turn as Markdown: a quoted header with a line a call, the answer, and how it ended."""
    head = [
        f"**Agent** {_quiet(turn.model)} · {meter(turn.seconds, turn.usage)}{spent(turn)}".replace("  ", " ")
    ]
    head += [_quiet(turn.origin)] if turn.origin else []
    head += [_call_line(call) for call in turn.calls]
    head += [_quiet(text) for text in turn.notices]
    head += [STALE] if turn.stale else []
    value = _value(turn)
    answer = portable(_reply(turn)) if value is NOTHING else value_markdown(value)
    parts = ["  \n".join(f"> {line}" for line in head), answer]
    if end := ending(turn):
        parts.append(
            "> **" + _quiet(end[0]) + "**" + "".join(f"  \n> {_quiet(line)}" for line in end[1].split("\n"))
        )
    return "\n\n".join(part for part in parts if part.strip())


def turn_plain(turn: Turn) -> str:
    """One short line, and how the answer begins: a longer text would double the file."""
    calls = len(turn.calls)
    count = f"{calls} tool call{'s' if calls != 1 else ''}, " if calls else ""
    end = ending(turn)
    parts = [f"[agent] {count}{meter(turn.seconds, turn.usage)}.", end[0] if end else ""]
    parts += [one_line(f"({prose(turn.origin)})", _PLAIN)] if turn.origin else []
    parts += [STALE] if turn.stale else []
    return " ".join(filter(None, [*parts, one_line(prose(_reply(turn)), _PLAIN)]))


def notice(text: str) -> str:
    """A line that the reader should know and that stopped nothing."""
    return f'<div style="{look.NOTICE}">{escape(visible(text))}</div>'


def bar(turn: Turn) -> str:
    """How the turn ended when it did not simply end: grey, and red only for an error."""
    end = ending(turn)
    if end is None:
        return ""
    style = look.BAR_ERROR if turn.stop in ERRORS else look.BAR_CALM
    what, todo = map(marked, end)
    rest = f"<br>{todo}" if todo and turn.error else f" {todo}" if todo else ""
    return f'<div style="{style}"><b>{what}</b>{rest}</div>'


def said(text: str) -> str:
    """A piece of the answer in its place."""
    return f'<div style="{look.TEXT}">{html(text)}</div>' if text.strip() else ""


def _head(turn: Turn) -> str:
    state = f" <span>· {escape(visible(one_line(turn.origin, 200)))}</span>" if turn.origin else ""
    state += " <span>· stopped</span>" if turn.stop == "cancelled" else ""
    return (
        f'<div style="{look.HEAD}"><span style="float:right;margin-left:16px;{look.DIM}">'
        f"{escape(meter(turn.seconds, turn.usage) + spent(turn))}</span>"
        f'<b>Agent</b> <span style="{look.DIM}">{escape(visible(turn.model))}</span>{state}</div>'
    )


def _steps(turn: Turn, opened: frozenset[str]) -> Iterator[str]:
    last = len(turn.steps) - 1
    for number, step in enumerate(turn.steps):
        if step.thinking.strip():
            yield _fold(rows.thought(number, step.thinking, step.thought), opened, look.THOUGHT)
        if turn.wanted is None or step.calls:
            yield said(step.text)
        elif step.text.strip() and not (number == last and turn.stop == "done"):
            yield _fold(rows.sent_back(number, step.text), opened)
        for call in step.calls:
            yield _fold(rows.called(call), opened)
    if turn.wanted is not None:
        if (value := _value(turn)) is not NOTHING:
            yield value_html(value)
    elif turn.reply.strip() and (not turn.steps or turn.reply.strip() != turn.steps[-1].text.strip()):
        yield said(turn.reply)


def _fold(row: Row, opened: frozenset[str], inner: str = "") -> str:
    body = "".join(row.body)
    if inner:
        body = f'<div style="{inner}">{body}</div>'
    return (
        f'<details style="margin:0"{" open" if row.key in opened else ""}><summary style="{look.SUMMARY}">'
        f'<span style="{look.RIGHT}">{row.right}</span>{row.summary}</summary>'
        f'<div style="{look.BODY}">{body}</div></details>'
    )


def _value(turn: Turn) -> JSON:
    """The value that the turn ended with, where it was to end with one."""
    if turn.wanted is None or turn.stop != "done":
        return NOTHING
    try:
        return json.loads(turn.reply)
    except ValueError:  # it comes from a file that somebody changed
        return NOTHING


def _reply(turn: Turn) -> str:
    return turn.reply or "\n\n".join(step.text for step in turn.steps if step.text.strip())


def _call_line(call: CallRecord) -> str:
    quiet, loud = verdict(call)
    name = visible(one_line(call.shown, 60)).replace("`", "'")
    return f"`{name}` {quiet} {loud}".rstrip().replace("  ", " ")


def _quiet(text: str) -> str:
    return portable(visible(one_line(text)))


def _saved(turn: Turn) -> Turn:
    """The turn as a file keeps it: long results capped, a long answer once, pictures and providers' private
    blocks left out."""
    steps = tuple(replace(step, opaque=(), calls=_capped(step)) for step in turn.steps)
    return replace(turn, images=(), steps=once(steps, turn.reply))


def _capped(step: Step) -> tuple[CallRecord, ...]:
    return tuple(
        replace(
            call,
            result=_capped_result(call.result) if call.result else None,
            stages=tuple(
                replace(stage, detail=one_line(stage.detail, STAGE_DETAIL)) for stage in call.stages
            ),
        )
        for call in step.calls
    )


def _capped_result(result: ToolResult) -> ToolResult:
    text = result.text
    if len(text) <= SHOWN:
        return result
    head = SHOWN * 3 // 4
    kept = f"{text[:head]}\n… {len(text) - SHOWN:,} characters left out …\n{text[-(SHOWN - head) :]}"
    return replace(result, text=kept, size=max(result.size, len(text)))
