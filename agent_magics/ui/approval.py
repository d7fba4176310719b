"""The card that asks a person: what would run, in full, and one control for each answer.

Every control carries its own decision, and every card its own controls: an answer can only be about the
request that the card was made for, and only the first one counts. What approves is disabled for the
card's first half second, so that it can't take a click that was on its way to something else.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import TypeVar

from agent_magics.talk import ApprovalAsked, Decision
from agent_magics.ui.markdown import highlighted
from agent_magics.ui.text import escape, escape_code, marked, one_line, visible
from agent_magics.ui.widgets import Button, Parts, Widget

GUARD = 0.5
"""Seconds in which a new card takes no approval."""

LONG = 200
"""Characters of an argument from which on it gets a block that scrolls."""

YOUR_EDIT = "Your edit"
"""The label of the fact that says what became of it."""

CHECKED = "Your version is checked and probed again, then shown here before it runs."

W = TypeVar("W", bound=Widget)

_TIPS: dict[str, str] = {
    "approve": "Run it",
    "always": "Run it, and don't ask again for this in this session",
    "once": "Run it this time; nothing is kept",
    "reject": "Don't run it; the model is told",
}


@dataclass(frozen=True, kw_only=True)
class Choice:
    """One answer that a card offers."""

    label: str
    decision: Decision


APPROVE = Choice(label="Approve", decision="approve")
ALWAYS = Choice(label="Always this session", decision="always")
ONCE = Choice(label="Run once", decision="once")
REJECT = Choice(label="Reject", decision="reject")


def choices(asked: ApprovalAsked) -> tuple[Choice, ...]:
    """The answers that are offered, in the order of their buttons."""
    return (APPROVE, ONCE, REJECT) if asked.kind == "generated" else (APPROVE, ALWAYS, REJECT)


def title(asked: ApprovalAsked) -> tuple[str, str, str]:
    """The question as words before the name, the name, and the line below."""
    if asked.kind == "generated":
        changed = "Changes" in dict(asked.facts)
        what = "changed" if changed else "wrote"
        below = asked.reason or f"The model {what} this function. It has not run on your data yet."
        return (
            "Run a changed tool?" if changed else "Run a new tool?",
            visible(one_line(asked.tool)),
            visible(below),
        )
    return "Run this?", visible(one_line(asked.tool)), visible(asked.reason)


def bound(asked: ApprovalAsked, patience: float) -> str:
    """What the answer is bound to, and what happens without one."""
    minutes = f"{patience / 60:g} minute{'s' if patience != 60 else ''}"
    return (
        f"Your answer is bound to this text (sha256 {asked.sha256[:8]}). "
        f"Without an answer it counts as rejected in {minutes}."
    )


def note(asked: ApprovalAsked, patience: float) -> str:
    """The same for a card, whose buttons may be dead in a second tab: there is a second way."""
    return (
        f"{bound(asked, patience)}\n"
        f"Without buttons: `%agent /approve {asked.id}` or `%agent /reject {asked.id}` in a cell of its own."
    )


class Card:
    """One request for approval, live.

    Parameters
    ----------
    parts : Parts
        Where its widgets come from.
    asked : ApprovalAsked
        The request.
    answer : callable
        Called once at most, with a decision and a comment.
    edit : callable, optional
        Called with the text that a person made of the source; without it nothing can be edited.
    patience : float
        Seconds after which no answer counts as a rejection; said on the card.
    now : float
        When the card appeared.
    draft : str
        A person's own version that was rejected just now: the card opens with it, and with the reason.
    """

    def __init__(
        self,
        parts: Parts,
        asked: ApprovalAsked,
        *,
        answer: Callable[[Decision, str], None],
        edit: Callable[[str], None] | None = None,
        patience: float = 600.0,
        now: float = 0.0,
        draft: str = "",
    ) -> None:
        self.asked = asked
        self.since = now
        self.answered = False
        self.clicked = False
        self._parts = parts
        self._answer = answer
        self._edit = edit if asked.kind == "generated" and asked.source else None
        self._widgets: list[Widget] = []
        self._guarded: list[Button] = []
        self._head = self._keep(parts.html(_head(asked)))
        self._comment = self._keep(parts.field("Comment for the model (optional)", "agm-comment"))
        self._note = self._keep(parts.html(_note(asked, patience)))
        self._buttons: list[Button] = []
        self._reading = self._read()
        self.box = self._keep(parts.column(self._reading, "agm-ask"))
        if draft and self._edit:
            self._begin_edit(draft)

    def flush(self, now: float) -> None:
        """Let approvals in once the card has stood for half a second."""
        if self._guarded and not self.answered and now - self.since >= GUARD:
            for button in self._guarded:
                button.disabled = False
            self._guarded = []

    def decide(self, decision: Decision, comment: str | None = None) -> bool:
        """Answer, by a button or by words; only the first answer counts, and only one that is offered."""
        if self.answered or decision not in {choice.decision for choice in choices(self.asked)}:
            return False
        self._lock()
        self._answer(decision, (self._comment.value if comment is None else comment).strip())
        return True

    def close(self) -> None:
        self.answered = True
        self._parts.drop(self._widgets)

    def _read(self) -> list[Widget]:
        source = [self._keep(self._parts.html(_source(self.asked)))] if self.asked.source else []
        facts = self._keep(self._parts.html(_facts(self.asked)))
        buttons = [self._button(choice) for choice in choices(self.asked)]
        if self._edit:
            change = self._plain_button(
                "Edit…", "Change the source; it is checked and probed again", self._begin_edit
            )
            buttons.insert(-1, change)
        return [self._head, *source, facts, self._actions(buttons), self._note]

    def _button(self, choice: Choice) -> Button:
        approves = choice.decision != "reject"
        button = self._keep(
            self._parts.button(
                choice.label,
                tip=_TIPS[choice.decision],
                primary=choice.decision == "approve",
                disabled=approves,
            )
        )
        button.on_click(lambda _: self._click(button, choice.decision))
        self._buttons.append(button)
        if approves:
            self._guarded.append(button)
        return button

    def _click(self, button: Button, decision: Decision) -> None:
        if not button.disabled:  # the browser may have sent this before it heard that it is disabled
            self.clicked = self.decide(decision)

    def _plain_button(self, text: str, tip: str, act: Callable[[], None], *, primary: bool = False) -> Button:
        button = self._keep(self._parts.button(text, tip=tip, primary=primary))
        button.on_click(lambda _: None if self.answered or button.disabled else act())
        self._buttons.append(button)
        return button

    def _actions(self, buttons: list[Button]) -> Widget:
        return self._keep(self._parts.line((*buttons, self._comment), "agm-acts"))

    # -- editing ---------------------------------------------------------------------------------

    def _begin_edit(self, draft: str = "") -> None:
        text = draft or self.asked.source
        area = self._keep(self._parts.area(text, min(30, text.count("\n") + 3)))
        hint = self._keep(self._parts.html(_rejected(self.asked) if draft else _dim(CHECKED)))
        check = self._plain_button(
            "Check again", "Check and probe your version", lambda: self._check(area.value), primary=True
        )
        cancel = self._plain_button("Cancel edit", "Back to the model's version", self._end_edit)
        self.box.children = (
            self._head, area, hint, self._actions([check, cancel, self._button(REJECT)]), self._note,
        )  # fmt: skip

    def _end_edit(self) -> None:
        self.box.children = tuple(self._reading)

    def _check(self, text: str) -> None:
        if text == self.asked.source:
            self._end_edit()
        elif self._edit:
            self._lock()
            self._note.value = _dim("Your version is being checked and probed.")
            self._edit(text)

    def _lock(self) -> None:
        self.answered = True
        for button in self._buttons:
            button.disabled = True
        self._comment.disabled = True

    def _keep(self, widget: W) -> W:
        self._widgets.append(widget)
        return widget


def _rejected(asked: ApprovalAsked) -> str:
    """Why a person's own version can't be taken as it is."""
    why = dict(asked.facts).get(YOUR_EDIT, "was rejected.")
    return f'<div role="alert"><b>{YOUR_EDIT}</b> {marked(why)}</div>{_dim(CHECKED)}'


def _head(asked: ApprovalAsked) -> str:
    question, name, below = title(asked)
    why = f'<div class="agm-why">{escape(below)}</div>' if below else ""
    what = f"{escape(question)} <code>{escape(name)}</code>"
    return f'<div role="alert"><div class="agm-ttl">{what}</div>{why}</div>'


def _source(asked: ApprovalAsked) -> str:
    language = "bash" if asked.tool == "execute" else "python"
    lines = highlighted(visible(asked.source).rstrip("\n"), language).rstrip("\n").split("\n")
    count = f"{len(lines)} line{'s' if len(lines) != 1 else ''}"
    numbered = "".join(f'<span class="l">{line}\n</span>' for line in lines)
    return (
        f'<div class="agm-src highlight"><pre tabindex="0" role="region" aria-label="Source, {count}">'
        f'{numbered}<span class="agm-end">end of source, {count}</span></pre></div>'
    )


def _facts(asked: ApprovalAsked) -> str:
    rows = [*_arguments(asked), *((visible(name), marked(text)) for name, text in asked.facts)]
    if not rows:
        return ""
    listed = "".join(f"<dt>{escape(name)}</dt><dd>{text}</dd>" for name, text in rows)
    return f'<dl class="agm-facts">{listed}</dl>'


def _arguments(asked: ApprovalAsked) -> Iterator[tuple[str, str]]:
    """The whole arguments by name, but for the one that is the source."""
    for name, value in asked.call.arguments.items():
        if value == asked.source and asked.source:
            continue
        text = (
            value if isinstance(value, str) else json.dumps(value, indent=2, ensure_ascii=False, default=str)
        )
        exact = json.dumps(value, ensure_ascii=False, default=str)
        long = "\n" in text.strip("\n") or len(exact) > LONG
        yield visible(one_line(name)), _long(text) if long else f"<code>{escape(visible(exact))}</code>"


def _long(text: str) -> str:
    return f'<pre tabindex="0">{escape_code(visible(text))}</pre>'


def _note(asked: ApprovalAsked, patience: float) -> str:
    return f'<div class="agm-note">{marked(note(asked, patience))}</div>'


def _dim(text: str) -> str:
    return f'<div class="agm-note">{escape(text)}</div>'
