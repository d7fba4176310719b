"""The live panel: plays the events of one turn as widgets, then settles into the static bundle.

Everything here runs on the main thread. :meth:`Panel.play` only remembers an event; :meth:`Panel.flush`,
called a few times a second, brings the widgets up to date in as few messages as it can. What a row says
comes from the turn itself, rebuilt with the same fold that the store uses, so live and settled can't
disagree.

The panel knows no kernel: it is handed a function that publishes a bundle, and it says which comms are
its own.
"""

from __future__ import annotations

import time
from collections.abc import Callable
from functools import cache, partial
from importlib.resources import files
from typing import Protocol

from agent_magics.talk import (
    Approval,
    ApprovalAsked,
    ApprovalGiven,
    CallRecord,
    Compacting,
    Decision,
    Event,
    Noticed,
    ReplyReceived,
    Retrying,
    Saying,
    Thinking,
    ToolProgress,
    Turn,
    TurnBegan,
    TurnEnded,
    Usage,
    advance,
)
from agent_magics.ui import rows, settled
from agent_magics.ui.approval import Card
from agent_magics.ui.flow import Flow
from agent_magics.ui.head import Head
from agent_magics.ui.widgets import Parts, Widget
from agent_magics.ui.words import elapsed, spent

WIDGET_VIEW = "application/vnd.jupyter.widget-view+json"
AT_WORK = "[agent] at work; this front end shows no widgets, the answer comes at the end."


NOT_SAVED = (
    "This page came while the turn was running, so its notebook does not save what is shown here. "
    "_turn, in a cell of its own, shows it again."
)


class Handle(Protocol):
    """A published output that can be replaced."""

    def update(self, bundle: settled.Bundle, /) -> object: ...


Publish = Callable[[settled.Bundle], Handle]
"""Publishes a raw MIME bundle as a display, and returns its handle."""

_kept: list[Parts] = []
"""What pages that were reloaded during a turn still show; closed when the next panel appears."""


class Panel:
    """One turn, live.

    Parameters
    ----------
    publish : callable
        Publishes a raw MIME bundle and returns a handle with ``update(bundle)``.
    on_stop : callable
        Called once, when a person presses Stop.
    on_answer : callable
        Called with an approval's id and the answer; once for each request at most.
    on_edit : callable, optional
        Called with an approval's id and the source as a person changed it; without it nothing can be edited.
    model : str
        The model to name until the turn's first fact names it.
    patience : float
        Seconds after which a request without an answer counts as rejected; said on the card.
    """

    def __init__(
        self,
        publish: Publish,
        *,
        on_stop: Callable[[], None],
        on_answer: Callable[[str, Approval], None],
        on_edit: Callable[[str, str], None] | None = None,
        model: str = "",
        patience: float = 600.0,
    ) -> None:
        self._publish = publish
        self._on_answer = on_answer
        self._on_edit = on_edit
        self._patience = patience
        self._pending: list[Event] = []
        self._turn: Turn | None = None
        self._progress: dict[str, str] = {}
        self._drawn: dict[str, tuple[CallRecord, bool, bool, str]] = {}
        self._cards: dict[str, Card] = {}
        self._edits: dict[str, str] = {}
        self._retry: tuple[Retrying, float] | None = None
        self._compacting = False
        self._cost = ""
        self._handle: Handle | None = None
        parts = self._parts = Parts()
        self._head = Head(parts, model, on_stop, time.monotonic())
        self._flow = Flow(parts)
        self._notices = parts.column((), "agm-notices")
        self._style = parts.html(_style(), "agm-css")
        self._root = parts.column((self._style, self._head.box, self._flow.box, self._notices), "agm")

    # -- the life of a panel ---------------------------------------------------------------------

    def show(self) -> None:
        """Publish the panel, and close what an earlier turn had to leave standing."""
        while _kept:
            _kept.pop().close()
        self.flush()
        view = {"version_major": 2, "version_minor": 0, "model_id": self._root.model_id}
        self._handle = self._publish({WIDGET_VIEW: view, "text/plain": AT_WORK})

    def play(self, event: Event) -> None:
        """Take an event; nothing is drawn before the next :meth:`flush`."""
        self._pending.append(event)

    def flush(self, now: float | None = None) -> None:
        """Draw what was played, and let the clock tick. ``now`` is in seconds of :func:`time.monotonic`."""
        now = time.monotonic() if now is None else now
        pending, self._pending = self._pending, []
        facts = False
        for event in pending:
            match event:
                case Saying(text=text):
                    self._flow.say(text, now)
                case Thinking(text=text):
                    self._flow.think(text, now)
                case _:
                    facts = True
                    self._take(event, now)
        if pending and not isinstance(pending[-1], Retrying):
            self._retry = None
            self._compacting = isinstance(pending[-1], Compacting)
        self._flow.flush(now)
        for card in self._cards.values():
            card.flush(now)
        self._show_phase(now)
        self._head.count(self._usage, self._flow.arriving, now, at_once=facts, cost=self._cost)

    def settle(self, turn: Turn, *, keep: bool = False) -> None:
        """Replace the panel by the static bundle of ``turn`` and close every widget.

        Parameters
        ----------
        turn : Turn
            The turn as it ended.
        keep : bool
            Whether a page was reloaded, or a second one opened, while the turn ran. Such a page gets no
            update of a display, only of widgets; so the settled turn is put into the root widget, which
            stays until the next panel appears.
        """
        bundle = settled.bundle(turn, opened=self.opened)
        kept = self._kept(bundle["text/html"]) if keep else ()
        try:
            if self._handle is not None:
                self._handle.update(bundle)
            self._root.children = kept
        finally:
            self._parts.close(keep=(self._root, *kept) if keep else ())
            if keep:
                _kept.append(self._parts)

    def close(self) -> None:
        """Close every widget, also those that ``settle`` kept; without a bundle in their place."""
        self._parts.close()

    def _kept(self, html: str) -> tuple[Widget, ...]:
        """The settled turn as widgets, in the place of the live one."""
        turn = self._parts.math(html, "agm-kept", "jp-RenderedHTMLCommon")
        return self._style, turn, self._parts.html(settled.notice(NOT_SAVED), "agm-unsaved")

    # -- what the notebook asks ------------------------------------------------------------------

    def owns(self, comm_id: str) -> bool:
        """Whether a comm is the panel's; callable from any thread."""
        return self._parts.owns(comm_id)

    @property
    def opened(self) -> frozenset[str]:
        """The keys of the rows that stand open."""
        return self._flow.opened

    def answer(self, id: str, decision: Decision, comment: str = "") -> bool:  # noqa: A002
        """Answer a request by words instead of a click (``%agent /approve ID``).

        Returns
        -------
        bool
            Whether there was such a request, still unanswered, that takes this answer.
        """
        card = self._cards.get(id)
        return card is not None and card.decide(decision, comment)

    # -- events ----------------------------------------------------------------------------------

    @property
    def _usage(self) -> Usage:
        return self._turn.usage if self._turn else Usage()

    def _take(self, event: Event, now: float) -> None:
        self._turn = advance(self._turn, event)
        match event:
            case TurnBegan():
                self._flow.wanted = event.wanted
            case ReplyReceived():
                self._flow.end_step(event, now)
                self._cost = spent(self._turn) if self._turn else ""
            case ApprovalAsked():
                self._ask(event, now)
            case ApprovalGiven():
                self._answered(event)
            case ToolProgress():
                self._progress[event.id] = event.text
            case Retrying():
                self._retry = event, now + event.delay
            case Noticed():
                line = self._parts.html(settled.notice(event.text))
                self._notices.children = (*self._notices.children, line)
            case TurnEnded():
                self._end()
            case _:
                pass
        self._show_calls()

    def _ask(self, asked: ApprovalAsked, now: float) -> None:
        for earlier in [card for card in self._cards.values() if card.asked.call.id == asked.call.id]:
            self._drop(earlier)
        edit = partial(self._edited, asked) if self._on_edit else None
        answer = partial(self._decided, asked.id)
        card = Card(
            self._parts, asked, answer=answer, edit=edit, patience=self._patience, now=now,
            draft=self._unread(asked),
        )  # fmt: skip
        self._cards[asked.id] = card
        self._show_calls()
        self._flow.put(card.box, below=asked.call.id)

    def _decided(self, id_: str, decision: Decision, comment: str) -> None:
        waited = time.monotonic() - self._cards[id_].since
        self._on_answer(id_, Approval(decision=decision, by="you", comment=comment, seconds=waited))

    def _edited(self, asked: ApprovalAsked, text: str) -> None:
        assert self._on_edit is not None
        self._edits[asked.call.id] = text
        self._on_edit(asked.id, text)

    def _unread(self, asked: ApprovalAsked) -> str:
        """What a person made of this call's source, if that is not what is asked about now."""
        text = self._edits.pop(asked.call.id, "")
        return "" if text == asked.source else text

    def _answered(self, given: ApprovalGiven) -> None:
        card = self._cards.get(given.id)
        if card is None:
            return
        if card.clicked:
            self._flow.focus(card.asked.call.id)
        self._drop(card)

    def _drop(self, card: Card) -> None:
        del self._cards[card.asked.id]
        self._flow.remove(card.box)
        card.close()

    def _end(self) -> None:
        for card in list(self._cards.values()):
            self._drop(card)

    # -- drawing ---------------------------------------------------------------------------------

    def _show_calls(self) -> None:
        """Draw the rows of the last step's calls that stand differently than when they were drawn."""
        if not (self._turn and self._turn.steps):
            return
        over = bool(self._turn.stop)
        asked = {card.asked.call.id for card in self._cards.values()}
        for record in self._turn.steps[-1].calls:
            id_ = record.id
            state = record, over, id_ in asked, self._progress.get(id_, "")
            if self._drawn.get(id_) != state:
                self._drawn[id_] = state
                self._flow.show(_row(*state))

    def _show_phase(self, now: float) -> None:
        turn = self._turn
        model = " · ".join(each for each in (turn.model, turn.origin) if each) if turn else ""
        running = [call for call in self._turn.calls if call.result is None] if self._turn else []
        if self._head.stopping:
            self._head.show("Stopping", model=model)
        elif any(not card.answered for card in self._cards.values()):
            self._head.show("Waiting for you", waiting=True, model=model)
        elif self._retry:
            retry, due = self._retry
            phase = f"Retrying in {elapsed(due - now + 1)}" if due > now else "Retrying"
            self._head.show(phase, detail=f"{retry.attempt} of {retry.tries} · {retry.why}", model=model)
        elif self._compacting:
            self._head.show("Summing up earlier messages", model=model)
        else:
            self._head.show(self._activity(running), model=model)

    def _activity(self, running: list[CallRecord]) -> str:
        if any(call.stages or call.name == "make_tool" for call in running):
            return "Writing a tool"
        if running:
            return f"Running {running[0].shown}" if len(running) == 1 else f"Running {len(running)} tools"
        return self._flow.phase


def _row(record: CallRecord, over: bool, waiting: bool, progress: str) -> rows.Row:
    return rows.called(record, over=over, waiting=waiting, progress=progress)


@cache
def _style() -> str:
    return f"<style>{files('agent_magics.ui').joinpath('panel.css').read_text(encoding='utf-8')}</style>"
