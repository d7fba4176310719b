"""The progress of many rows, drawn: one line of text, or a bar for a page."""

from __future__ import annotations

import html
from typing import TextIO

from agent_magics.extract.progress import Progress
from agent_magics.ui.words import seconds

_WIDTH = 28
_QUIET = 10.0
"""Seconds between two lines where a line can't be drawn over."""

_BAR = (
    '<div style="max-width:36em;font-variant-numeric:tabular-nums">'
    '<div role="progressbar" aria-label="rows" aria-valuemin="0" aria-valuemax="100" {value}'
    ' style="height:6px;border-radius:3px;background:rgba(127,127,127,.25);overflow:hidden">'
    '<div style="height:100%;width:{percent:.1f}%;background:{colour}"></div></div>'
    '<div style="font-size:90%">{text}</div></div>'
)


def said(now: Progress) -> str:
    """A report in words.

    >>> said(Progress(done=1200, total=2000, failed=3, seconds=4.1, rate=290.0, cost=0.0312))
    '1,200 of 2,000 rows · 3 failed · 290 rows/s · $0.0312 · 2.8 s left'
    """
    parts = [f"{now.done:,} of {now.total:,} rows" if now.total is not None else f"{now.done:,} rows"]
    if now.reused:
        parts.append(f"{now.reused:,} from the checkpoint")
    if now.failed:
        parts.append(f"{now.failed:,} failed")
    if now.batches and not now.over:
        noun = "batch" if now.batches == 1 else "batches"
        parts.append(f"{now.answered:,} of {now.sent:,} answered in {now.batches} {noun}")
    if now.rate and not now.over:
        parts.append(f"{now.rate:,.0f} rows/s" if now.rate >= 10 else f"{now.rate:.1f} rows/s")
    if now.usage.total:
        parts.append(f"{now.usage.total:,} tokens")
    if now.cost:
        parts.append(f"${now.cost:.2f}" if now.cost >= 1 else f"${now.cost:.4f}")
    if now.over:
        parts.append(seconds(now.seconds))
    elif now.paused >= 1:
        parts.append(f"the vendor wants {seconds(now.paused)} of rest")
    elif now.left is not None:
        parts.append(f"{seconds(now.left)} left")
    return " · ".join(parts)


def bundle(now: Progress) -> dict[str, str]:
    """A report for a page, with its plain text."""
    text = said(now)
    share = min(1.0, now.done / now.total) if now.total else float(now.over)
    known = now.total is not None or now.over
    bar = _BAR.format(
        percent=share * 100,
        value=f'aria-valuenow="{share * 100:.0f}"' if known else "",
        colour="#c9540a" if now.failed else "#2e7d32" if now.over else "#1976d2",
        text=html.escape(text),
    )
    return {"text/html": bar, "text/plain": text}


class ProgressLine:
    """One line on a terminal, drawn over; elsewhere a line now and then, and one at the end of a long run."""

    def __init__(self, out: TextIO) -> None:
        self._out = out
        self._drawn_over = out.isatty()
        self._last = 0.0
        self._told = False

    def __call__(self, now: Progress) -> None:
        if self._drawn_over:
            self._draw(now)
        elif now.seconds - self._last >= _QUIET or (now.over and self._told):
            self._last, self._told = now.seconds, True
            self._out.write(said(now) + "\n")
            self._out.flush()

    def _draw(self, now: Progress) -> None:
        share = min(1.0, now.done / now.total) if now.total else 0.0
        full = int(share * _WIDTH)
        bar = f"[{'█' * full}{'·' * (_WIDTH - full)}] " if now.total else ""
        self._out.write(f"\r\x1b[2K{bar}{said(now)}" + ("\n" if now.over else ""))
        self._out.flush()
