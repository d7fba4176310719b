"""Making a history shorter without changing it: a view over the messages, and the steps that narrow it.

Turns are never touched. A :class:`Compaction` says which results are sent shortened and which messages a
summary stands for; :func:`applied` lays it over the originals, and laid aside it leaves them as they were.

The steps, in order, as far as needed: old results are capped; then they are left out, down to one line that
says so; then the middle is summed up (by a model: see ``summary``). The first and the last messages, pinned
ones and the running prompt stay. A call and its results are one unit, which is kept or summed up as a whole.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import Any, cast

from agent_magics.agent.estimate import size_of
from agent_magics.agent.summary import joint, stand_ins
from agent_magics.talk import Message

KEPT = 6
"""Messages at the beginning and at the end that no summary takes in; a unit that is begun is kept whole.
Results among the last ones are not old."""

CAP = 2_000
"""Characters of a capped result."""

HEAD = 0.75

Key = tuple[str, int]
"""A message's place: the turn's id, and its number in the turn."""


@dataclass(frozen=True, kw_only=True, slots=True)
class Entry:
    """One message of the history, where it stands, and the characters that it counts for."""

    key: Key
    message: Message
    size: int
    pinned: bool = False


def entry(key: Key, message: Message, *, pinned: bool = False) -> Entry:
    return Entry(key=key, message=message, size=size_of(message), pinned=pinned)


@dataclass(frozen=True, kw_only=True)
class Compaction:
    """What is sent otherwise than it was said.

    Attributes
    ----------
    replaced : mapping of Key to Entry
        Results that were capped or left out, as they are sent.
    left_out : frozenset of Key
        Those of them of which only a line is left.
    covered : frozenset of Key
        The messages that the summary stands for.
    summary : str
        The model's text.
    """

    replaced: Mapping[Key, Entry] = field(default_factory=dict[Key, Entry])
    left_out: frozenset[Key] = frozenset()
    covered: frozenset[Key] = frozenset()
    summary: str = ""

    def __bool__(self) -> bool:
        return bool(self.replaced or self.covered)

    @cached_property
    def turns(self) -> frozenset[str]:
        """The turns that the summary is about."""
        return frozenset(turn for turn, _ in self.covered)

    @cached_property
    def in_order(self) -> tuple[Key, ...]:
        """What the summary stands for, as it is stored."""
        return tuple(sorted(self.covered))

    def done(self, since: Compaction | None = None) -> str:
        """What was done, counted, perhaps only ``since`` an earlier one; what is summed up counts as that."""
        gone = self.left_out - self.covered
        short = self.replaced.keys() - self.left_out - self.covered
        counts = {"shortened": short, "left out": gone, "summed up": self.covered}
        if since is not None:
            counts["shortened"] = short - since.replaced.keys()
            counts["left out"], counts["summed up"] = gone - since.left_out, self.covered - since.covered
        return ", ".join(
            f"{len(keys)} {'message' if what == 'summed up' else 'result'}{'s' * (len(keys) != 1)} {what}"
            for what, keys in counts.items()
            if keys
        )

    def over(self, turns: Iterable[str]) -> Compaction:
        """What of it holds for these turns. A summary of a turn that is gone would bring it back."""
        if not self.covered or self.turns <= set(turns):
            return self
        return replace(self, covered=frozenset(), summary="")

    def and_summed_up(self, entries: Iterable[Entry], summary: str) -> Compaction:
        """The same with a summary that stands for these, too."""
        covered = self.covered | {each.key for each in entries}
        return replace(self, covered=covered, summary=summary)


NOTHING = Compaction()


def applied(entries: Sequence[Entry], compaction: Compaction) -> list[Entry]:
    """The entries as they are sent. What is pinned is sent as it was said."""
    if not compaction:
        return list(entries)
    kept: list[Entry] = []
    gaps, open_ = 0, False
    for each in entries:
        if not each.pinned and each.key in compaction.covered:
            gaps, open_ = gaps + (not open_), True
            continue
        if open_:
            kept += _across(compaction, kept, each.message["role"], gaps)
            open_ = False
        kept.append(each if each.pinned else compaction.replaced.get(each.key, each))
    return [*kept, *_across(compaction, kept, "user", gaps)] if open_ else kept


def _across(compaction: Compaction, kept: Sequence[Entry], after: str, gap: int) -> list[Entry]:
    """What stands in a gap: the summary in the first; in those behind pinned turns, as little as can be."""
    before = kept[-1].message["role"] if kept else ""
    said = stand_ins(compaction.summary, before=before, after=after) if gap == 1 else joint(before, after)
    return [entry(("", 10 * gap + number), message) for number, message in enumerate(said)]


def total(entries: Sequence[Entry], compaction: Compaction) -> int:
    """The characters that would be sent."""
    return sum(each.size for each in applied(entries, compaction))


def lighter(entries: Sequence[Entry], compaction: Compaction, aim: int) -> Compaction:
    """Cap old results, then leave old results out, the oldest first, until ``aim`` characters are left."""
    compaction = shortened(entries, compaction, aim, capped)
    return shortened(entries, compaction, aim, left_out)


def shortened(
    entries: Sequence[Entry],
    compaction: Compaction,
    aim: int,
    how: Callable[[Entry, str], Entry | None],
    *,
    recent: bool = False,
) -> Compaction:
    """Replace results one by one until ``aim`` characters are left; also ``recent`` ones if asked to."""
    excess = total(entries, compaction) - aim
    if excess <= 0:
        return compaction
    replaced, gone = dict(compaction.replaced), set(compaction.left_out)
    for each, name in _results(entries, compaction, recent=recent):
        if excess <= 0:
            break
        now, short = replaced.get(each.key, each), how(each, name)
        if short is not None and short.size < now.size:
            replaced[each.key] = short
            gone |= {each.key} if how is left_out else set()
            excess -= now.size - short.size
    return replace(compaction, replaced=replaced, left_out=frozenset(gone))


def middle(entries: Sequence[Entry], compaction: Compaction) -> list[Entry]:
    """What a summary would take in next: neither first nor last, not pinned, not summed up yet."""
    units = _units(_shown(entries, compaction))
    first, last = _reach(units), len(units) - _reach(units[::-1])
    return [each for unit in units[first:last] if not _pinned(unit) for each in unit]


def _shown(entries: Sequence[Entry], compaction: Compaction) -> list[Entry]:
    return [each for each in entries if each.pinned or each.key not in compaction.covered]


def _units(entries: Sequence[Entry]) -> list[list[Entry]]:
    """Messages in the groups that must stay together: calls with all their results, others alone."""
    units: list[list[Entry]] = []
    for each in entries:
        if each.message["role"] == "tool" and units:
            units[-1].append(each)
        else:
            units.append([each])
    return units


def _reach(units: Sequence[Sequence[Entry]]) -> int:
    """How many units from the start hold at least as many messages as are kept."""
    messages = 0
    for count, unit in enumerate(units):
        if messages >= KEPT:
            return count
        messages += len(unit)
    return len(units)


def _pinned(unit: Collection[Entry]) -> bool:
    return any(each.pinned for each in unit)


def _results(entries: Sequence[Entry], compaction: Compaction, *, recent: bool) -> list[tuple[Entry, str]]:
    """The results that may be shortened, the oldest first, each with its tool's name."""
    units = _units(_shown(entries, compaction))
    old = units if recent else units[: len(units) - _reach(units[::-1])]
    found: list[tuple[Entry, str]] = []
    for unit in old:
        names = {call["id"]: call["name"] for call in unit[0].message.get("tool_calls", ())}
        results = [each for each in unit[1:] if not _pinned(unit)]
        found += [(each, names.get(each.message["tool_call_id"], "the tool")) for each in results]
    return found


# -- one result --------------------------------------------------------------------------------------


def capped(result: Entry, name: str) -> Entry | None:
    """The result with its beginning and its end; nothing if it is short."""
    text: str = result.message["content"]
    if len(text) <= CAP:
        return None
    head = int(CAP * HEAD)
    tail = CAP - head
    cut = f"Shortened to save room: the first {head:,} and the last {tail:,} of {len(text):,} characters."
    said = {"cut": f"{cut} Call {name} again for the rest.", "head": text[:head], "tail": text[-tail:]}
    return _instead(result, said)


def left_out(result: Entry, name: str) -> Entry:
    """A line in place of the result."""
    size = len(result.message["content"])
    said = f"A result of {name} ({size:,} characters) was left out to save room. Call it again if needed."
    return _instead(result, {"left_out": said})


def _instead(result: Entry, said: dict[str, Any]) -> Entry:
    content = json.dumps({**said, "ok": _was_ok(result.message["content"])}, ensure_ascii=False)
    return entry(result.key, {**result.message, "content": content})


def _was_ok(text: str) -> bool:
    try:
        read = json.loads(text)
    except (ValueError, RecursionError):
        return True
    return not isinstance(read, dict) or bool(cast("dict[str, Any]", read).get("ok", True))
