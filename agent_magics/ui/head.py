"""The header of a live panel: what is going on, for how long, for how many tokens, and Stop."""

from __future__ import annotations

from collections.abc import Callable

from agent_magics.talk import Usage
from agent_magics.ui import look
from agent_magics.ui.text import escape, one_line, visible
from agent_magics.ui.widgets import Parts
from agent_magics.ui.words import meter

_BETWEEN = 0.5
"""Seconds between two updates of the meter while tokens arrive."""


class Head:
    """One line: phase and model on the left, time and tokens and Stop on the right."""

    def __init__(self, parts: Parts, model: str, on_stop: Callable[[], None], now: float) -> None:
        self._model = model
        self._began = now
        self._metered = now
        self._on_stop = on_stop
        self.stopping = False
        self._who = parts.html("", "agm-who")
        self._meter = parts.html("", "agm-meter")
        self._stop = parts.button("Stop", "agm-stop", tip="Stop this turn, as interrupting the kernel does")
        self._stop.on_click(lambda _: self._stopped())
        self.box = parts.line((self._who, self._meter, self._stop), "agm-head")

    def show(self, phase: str, *, waiting: bool = False, detail: str = "", model: str = "") -> None:
        """What is going on; ``detail`` takes the model's place while there is one."""
        self._model = model or self._model
        mark = "agm-wait" if waiting else "agm-spin"
        beside = detail or self._model
        value = (
            f'<span class="{mark}" aria-hidden="true"></span><b role="status">{escape(visible(phase))}</b> '
            f'<span class="agm-opt" style="{look.DIM}">{escape(visible(one_line(beside, 120)))}</span>'
        )
        if self._who.value != value:
            self._who.value = value

    def count(
        self, usage: Usage, arriving: int, now: float, *, at_once: bool = False, cost: str = ""
    ) -> None:
        """How long and how much; not more often than somebody can read."""
        if not at_once and now - self._metered < _BETWEEN:
            return
        value = escape(meter(now - self._began, usage, arriving) + cost)
        if self._meter.value != value:
            self._meter.value = value
            self._metered = now

    def _stopped(self) -> None:
        if not self.stopping:
            self.stopping = True
            self._stop.disabled = True
            self._on_stop()
