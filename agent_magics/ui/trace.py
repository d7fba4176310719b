"""A trace to look at: the timeline and the table below it, as a bundle for the notebook.

Saved notebooks are cleaned of drawings (JupyterLab drops ``<svg>`` where a notebook is not trusted), so on
the page the timeline is plain boxes with inline styles: they survive, take the page's own text colour, and
tell more when pointed at. The same timeline as ``image/svg+xml`` stands beside it for what takes pictures.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from html import escape as escape_markup

from agent_magics.agent.commands.trace import cost, remark, tokens, totals
from agent_magics.talk.text import seconds
from agent_magics.talk.trace import Kind, Span, Trace
from agent_magics.ui import look
from agent_magics.ui.dress import dressed
from agent_magics.ui.portable import portable
from agent_magics.ui.settled import Bundle
from agent_magics.ui.text import encodable, escape, marked, one_line, prose, visible
from agent_magics.ui.timeline import MOST, Bar, Lane, Timeline, timeline, timelines

_TONES: dict[Kind, str] = {"model": look.MODEL, "tool": look.TOOL, "stage": look.STAGE, "wait": look.WAIT}

_NAMES = 132
"""Pixels for the names of the lanes."""

HINT = "Dark in a model’s bar: until its first token, or between two tries."

_ROW, _GAP, _AXIS = 22, 6, 22
_WIDE = 880


def bundle(traces: Sequence[Trace], text: str) -> Bundle:
    """Traces as a MIME bundle; ``text`` is the same as Markdown.

    One trace is shown span by span, several are shown turn by turn.
    """
    drawn = timeline(traces[0]) if len(traces) == 1 else timelines(traces)
    table = _spans(traces[0]) if len(traces) == 1 else _turns(traces)
    html = [_head(traces), picture(drawn), table]
    return encodable(
        {
            "text/html": f'<div class="agent-trace" style="{look.ROOT}">{"".join(html)}</div>',
            "image/svg+xml": svg(drawn),
            "text/markdown": portable(text),
            "text/plain": prose(text),
        }
    )


# -- on the page ---------------------------------------------------------------------------------------


def picture(drawn: Timeline) -> str:
    """The timeline as boxes that need nothing but inline styles."""
    tops = list(_tops(drawn.lanes))
    height = tops[-1]
    parts = [*_grid(drawn, height)]
    for lane, top in zip(drawn.lanes, tops, strict=False):
        parts += [_html_bar(bar, top) for bar in lane.bars]
    names = [
        f'<div title="{_attribute(lane.title or lane.name)}" style="position:absolute;left:0px;top:{top}px;'
        f"width:{_NAMES - 10}px;height:{_ROW}px;line-height:{_ROW - 2}px;overflow:hidden;white-space:nowrap;"
        f'text-overflow:ellipsis;{look.DIM}">{escape(lane.name)}</div>'
        for lane, top in zip(drawn.lanes, tops, strict=False)
    ]
    hint = HINT if any(bar.dark for lane in drawn.lanes for bar in lane.bars) else ""
    said = " ".join(filter(None, [hint, drawn.left_out]))
    below = (
        f'<div style="font-size:11px;margin:-6px 0 12px {_NAMES}px;{look.DIM}">{said}</div>' if said else ""
    )
    return (
        f'<div style="position:relative;height:{height + _AXIS}px;margin:8px 0 12px;font-size:12px">'
        f'{"".join(names)}<div style="position:absolute;left:{_NAMES}px;right:4px;top:0px;'
        f"height:{height + _AXIS}px;white-space:nowrap;"
        f'font-size:11px;line-height:{_ROW - 4}px">{"".join(parts)}</div></div>{below}'
    )


def _tops(lanes: Sequence[Lane]) -> Iterator[int]:
    """Where each lane begins, and at last where the axis does."""
    top = 0
    for lane in lanes:
        yield top
        top += lane.rows * _ROW + _GAP
    yield top


def _grid(drawn: Timeline, height: int) -> Iterator[str]:
    yield (
        f'<div style="position:absolute;left:0px;right:0px;top:{height}px;height:1px;'
        f'border-top:1px solid {look.LINE}"></div>'
    )
    for at, label in drawn.marks:
        yield (
            f'<div style="position:absolute;left:{at:.2%};top:0px;height:{height + 4}px;'
            f'border-left:1px solid {look.LINE}"></div>'
            f'<div style="position:absolute;left:{at:.2%};top:{height + 4}px;padding:0 0 0 4px;'
            f'{look.DIM}">{escape(label)}</div>'
        )


def _html_bar(bar: Bar, top: int) -> str:
    """A bar, the dark stretches on it, and its label; the title is on all of them."""
    top += bar.row * _ROW + 2
    tone = _TONES[bar.kind]
    edge = f"border-bottom:3px solid {look.FAILED};" if not bar.ok else ""
    inside = "" if bar.room else escape(bar.label)
    dark = "".join(
        f'<div style="position:absolute;left:{(start - bar.left) / bar.width:.2%};top:0px;'
        f'width:{length / bar.width:.2%};height:{_ROW - 4}px;background:rgba(0,0,0,0.3)"></div>'
        for start, length in bar.dark
    )
    title = _attribute(bar.title)
    box = (
        f'<div title="{title}" style="position:absolute;left:{bar.left:.2%};width:{bar.width:.2%};'
        f"top:{top}px;height:{_ROW - 4}px;box-sizing:border-box;background:{tone};{edge}border-radius:3px;"
        f'overflow:hidden;color:#ffffff">{dark}'
        f'<span style="position:relative;padding:0 6px">{inside}</span></div>'
    )
    if not bar.room:
        return box
    return box + (
        f'<div title="{title}" style="position:absolute;left:{bar.left + bar.width:.2%};width:{bar.room:.2%};'
        f"top:{top}px;height:{_ROW - 4}px;overflow:hidden;text-overflow:ellipsis;padding:0 0 0 5px;"
        f'box-sizing:border-box">{escape(bar.label)}</div>'
    )


def _head(traces: Sequence[Trace]) -> str:
    which = f"Turn {traces[0].number}" if len(traces) == 1 else f"{len(traces)} turns"
    said = escape(visible(one_line(traces[0].prompt, 120))) if len(traces) == 1 else ""
    return (
        f'<div style="{look.HEAD}"><b>{which}</b> <span style="{look.DIM}">{said}</span></div>'
        f'<div style="font-size:12px;line-height:18px">{_line(totals(traces))}</div>'
    )


def _line(text: str) -> str:
    """The line of totals, whose one emphasis is the whole time."""
    before, _, rest = text.removeprefix("**").partition("**")
    return f"<b>{marked(before)}</b>{marked(rest)}"


def _spans(told: Trace) -> str:
    rows = [
        (
            _what(span),
            seconds(span.began),
            seconds(span.seconds),
            escape(tokens(span.usage)),
            escape(cost(span.cost)) if span.usage.total else "",
            escape(visible(one_line(remark(span), 160))),
        )
        for span in told.spans[:MOST]
    ]
    return _table(("", "began", "time", "tokens", "cost", ""), rows, right={1, 2, 3, 4})


def _what(span: Span) -> str:
    dot = f'<span style="color:{_TONES[span.kind]}">■</span>'
    name = escape(visible(one_line(span.name, 60)))
    indent = "&nbsp;&nbsp;&nbsp;" if span.inner else ""
    label = f'<code style="{look.NAME}">{name}</code>'
    if span.kind == "wait":
        label = "waiting&nbsp;for&nbsp;you"
    return f"{indent}{dot}&nbsp;{label}"


def _turns(traces: Sequence[Trace]) -> str:
    rows = [
        (
            str(told.number),
            escape(visible(one_line(told.prompt, 60))),
            str(len(told.of("model"))),
            str(len(told.of("tool"))),
            seconds(told.seconds),
            seconds(told.time("wait")) if told.of("wait") else "",
            escape(tokens(told.usage)),
            escape(cost(told.cost)),
            escape(told.stop.replace("_", " ")),
        )
        for told in traces[-MOST:]
    ]
    head = ("turn", "prompt", "requests", "calls", "time", "waited", "tokens", "cost", "ended")
    return _table(head, rows, right={0, 2, 3, 4, 5, 6, 7})


def _table(head: Sequence[str], rows: Sequence[Sequence[str]], *, right: set[int]) -> str:
    def line(cells: Sequence[str], tag: str) -> str:
        align = ("right" if at in right else "left" for at in range(len(cells)))
        parts = (
            f'<{tag} style="text-align:{a}">{cell if a == "left" else cell.replace(" ", "&nbsp;")}</{tag}>'
            for cell, a in zip(cells, align, strict=True)
        )
        return f"<tr>{''.join(parts)}</tr>"

    body = "".join(line(row, "td") for row in rows)
    return dressed(f"<table><thead>{line(head, 'th')}</thead><tbody>{body}</tbody></table>")


def _attribute(text: str) -> str:
    return escape_markup(text, quote=True)


# -- as a file -----------------------------------------------------------------------------------------


def svg(drawn: Timeline) -> str:
    """The timeline as a picture of its own, for light and dark grounds."""
    tops = list(_tops(drawn.lanes))
    height, plot = tops[-1], _WIDE - _NAMES - 8
    parts = [
        f'<text x="0" y="{top + 15}" fill="{look.GREY}">{escape_markup(lane.name)}</text>'
        for lane, top in zip(drawn.lanes, tops, strict=False)
    ]
    for at, label in drawn.marks:
        x = _NAMES + at * plot
        parts.append(
            f'<line x1="{x:.1f}" x2="{x:.1f}" y1="0" y2="{height + 4}" stroke="{look.LINE}"/>'
            f'<text x="{x + 4:.1f}" y="{height + 15}" fill="{look.GREY}">{escape_markup(label)}</text>'
        )
    for lane, top in zip(drawn.lanes, tops, strict=False):
        parts += [_svg_bar(bar, top, plot) for bar in lane.bars]
    return (
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {_WIDE} {height + _AXIS}" width="{_WIDE}" '
        f'height="{height + _AXIS}" font-family="system-ui,sans-serif" font-size="11">{"".join(parts)}</svg>'
    )


def _svg_bar(bar: Bar, top: int, plot: int) -> str:
    x, y, width = _NAMES + bar.left * plot, top + bar.row * _ROW + 2, bar.width * plot
    box = f'y="{y}" height="{_ROW - 4}"'
    parts = [f'<rect x="{x:.1f}" {box} width="{width:.1f}" rx="3" fill="{_TONES[bar.kind]}"/>']
    parts += [
        f'<rect x="{_NAMES + start * plot:.1f}" {box} width="{length * plot:.1f}" opacity="0.3"/>'
        for start, length in bar.dark
    ]
    if not bar.ok:
        parts.append(
            f'<rect x="{x:.1f}" y="{y + _ROW - 7}" width="{width:.1f}" height="3" fill="{look.FAILED}"/>'
        )
    if bar.label:
        at = f'x="{x + (width if bar.room else 0) + 5:.1f}" y="{y + 13}"'
        fill = look.GREY if bar.room else "#fff"
        parts.append(f'<text {at} fill="{fill}">{escape_markup(bar.label)}</text>')
    return f"<g><title>{escape_markup(bar.title)}</title>{''.join(parts)}</g>"
