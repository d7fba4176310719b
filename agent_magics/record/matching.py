"""Which recorded turn a prompt would repeat; and if there is none, what exactly differs.

A recorded turn is the same when it was asked the same thing, with the same pictures and the same schema,
after the same prompts and replies, and when every tool that it called is there. Tools that were made in the
record, and the one that makes them, need not be: a record is played without a sandbox.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from difflib import SequenceMatcher

from agent_magics.record.reading import Record
from agent_magics.record.trust import harmless
from agent_magics.talk import JSON, CallRecord, Image, Turn
from agent_magics.talk.transcript import fingerprint

CAPS = ("max_rounds", "no_progress", "too_many_failures")
PLAYED = ("done", "truncated", "refused_by_model", *CAPS)
"""How a turn must have ended to be worth repeating."""

MAKES = "make_tool"

_COMPARED = 2_000
_LIKE = 0.5


@dataclass(frozen=True, kw_only=True)
class Asking:
    """What is about to be asked: a prompt with its pictures and its schema, the turns before it, and which
    tools are there."""

    prompt: str
    images: tuple[Image, ...] = ()
    wanted: Mapping[str, JSON] | None = None
    history: Sequence[Turn] = ()
    has: Callable[[str], bool] = lambda name: False


@dataclass(frozen=True, kw_only=True)
class Miss:
    """Why no recorded turn could be played: one sentence that says what differs."""

    why: str
    near: int = 0


def find(record: Record, asking: Asking) -> Turn | Miss:
    """The recorded turn that this would repeat, or what differs from the one that is closest to it."""
    misses: list[Miss] = []
    for place, turn in enumerate(record.turns):
        if turn.prompt.strip() != asking.prompt.strip():
            continue
        miss = _differs(record, place, asking)
        if miss is None:
            return turn
        misses.append(miss)
    return max(misses, key=lambda miss: miss.near) if misses else Miss(why=_other_prompt(record, asking))


def _differs(record: Record, place: int, asking: Asking) -> Miss | None:
    turn = record.turns[place]
    if context := _other_context(turn, record.turns[:place], asking.history):
        return Miss(why=context)
    if turn.images != asking.images:
        return Miss(why="The pictures differ, or the record has none: a notebook doesn't keep them.", near=1)
    if turn.wanted != asking.wanted:
        kept, now = ("a schema" if each is not None else "none" for each in (turn.wanted, asking.wanted))
        differs = "another schema" if kept == now else f"{kept}, and now there is {now}"
        return Miss(why=f"The recorded turn had {differs}.", near=1)
    if lacking := [call.name for call in turn.calls if _is_lacking(call, record, asking)]:
        return Miss(
            why=f"The recorded turn called {lacking[0]!r}, and there is no tool of that name now.", near=2
        )
    if turn.stop not in PLAYED:
        return Miss(why=f"The recorded turn was not finished: it ended as {turn.stop!r}.", near=3)
    return None


def _is_lacking(call: CallRecord, record: Record, asking: Asking) -> bool:
    known = call.name == MAKES or call.name in record.made or call.shown.endswith("?")
    return not known and not asking.has(call.name)


def _other_prompt(record: Record, asking: Asking) -> str:
    near = max(record.turns, key=lambda turn: _likeness(turn.prompt, asking.prompt))
    if _likeness(near.prompt, asking.prompt) < _LIKE:
        count = len(record.turns)
        turns = f"{count} turns, none" if count != 1 else "1 turn, and it is not one"
        return f"The record has {turns} with a prompt like it."
    then, now = near.prompt.strip().split("\n"), asking.prompt.strip().split("\n")
    for number, (was, is_) in enumerate(zip(then, now, strict=False), 1):
        if was != is_:
            line = f"line {number} of the prompt" if max(len(then), len(now)) > 1 else "the prompt"
            return f"In the record {line} is {_quoted(was, is_)}, and now it is {_quoted(is_, was)}."
    longer, more = ("record", then) if len(then) > len(now) else ("cell", now)
    line = more[min(len(then), len(now))]
    return f"The prompt in the {longer} has a further line: {_quoted(line)}."


def _likeness(then: str, now: str) -> float:
    matcher = SequenceMatcher(None, then[:_COMPARED], now[:_COMPARED], autojunk=False)
    return matcher.ratio() if matcher.quick_ratio() >= _LIKE else 0.0


def _other_context(turn: Turn, above: Sequence[Turn], history: Sequence[Turn]) -> str:
    """How the turns before it differ; empty if they don't."""
    if turn.after:
        if turn.after == fingerprint(history):
            return ""
        count = turn.after.partition(":")[0]
        if count.isdecimal() and int(count[:9]) <= len(above):
            above = above[len(above) - int(count[:9]) :]
    for number, (then, now) in enumerate(zip(above, history, strict=False), 1):
        if then.prompt != now.prompt:
            return _other(number, "prompt", then.prompt, now.prompt)
        if then.reply != now.reply:
            return _other(number, "reply", then.reply, now.reply)
    counts = f"the recorded one followed {_turns(len(above))}, this one follows {_turns(len(history))}"
    if len(history) < len(above):
        return f"An earlier turn is missing: {counts}. It is {_quoted(above[len(history)].prompt)}."
    if len(history) > len(above):
        return f"There is an earlier turn more: {counts}. It is {_quoted(history[len(above)].prompt)}."
    return "The recorded one followed other turns, which the record no longer holds." if turn.after else ""


def _other(number: int, what: str, then: str, now: str) -> str:
    return (
        f"An earlier turn differs: the {what} of turn {number} is {_quoted(then, now)} in the record, "
        f"and now {_quoted(now, then)}."
    )


def _turns(count: int) -> str:
    return "no turn" if not count else "1 turn" if count == 1 else f"{count} turns"


def _quoted(text: str, other: str = "") -> str:
    """A text in short, from a little before the place where it parts from the ``other``."""
    start = 0
    if other and text:
        same = next((at for at, (a, b) in enumerate(zip(text, other, strict=False)) if a != b), None)
        parted = same if same is not None else min(len(text), len(other))
        start = max(0, parted - 40) if parted > 60 else 0
    short = harmless(text[start : start + 400], 400)
    cut = short if len(short) <= 90 else short[:89] + "…"
    return repr(("…" if start else "") + cut)
