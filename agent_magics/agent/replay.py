"""A turn that is played from a record instead of being run.

Whoever wants a replay hands the session a :class:`Replay` as the turn's provider. When the turn's time has
come it looks for the recorded turn; if there is one, the loop goes on as always, with a provider that says
what was said and a toolbox that returns what was returned. So a replayed turn is told, shown and kept like
any other, and nothing is sent, run or made. One thing is asked for again: ``run_python``, since later cells
need what it bound; it runs if the policy, or a person, allows it now. What the record says of permissions
counts for nothing.
"""

from __future__ import annotations

import asyncio
from collections.abc import AsyncGenerator, Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Literal

from agent_magics.agent.loop import TurnRun
from agent_magics.agent.playing import PLAYS, Player, RecordedCaps, Returns
from agent_magics.errors import AgentMagicsError, UsageError
from agent_magics.ports import Provider
from agent_magics.record.matching import Asking, Miss, find
from agent_magics.record.reading import Record, read_record, shown_name
from agent_magics.record.trust import adopted
from agent_magics.talk import JSON, Message, ProviderEvent, Step, ToolSpec, Turn
from agent_magics.talk.history import above

Mode = Literal["off", "auto", "only"]
"""Run every turn; play those that are recorded and run the others; play, and never run."""


class Records:
    """The files that turns are looked for in, each read again when it has changed."""

    def __init__(self) -> None:
        self._read: dict[Path, tuple[tuple[int, int], Record]] = {}

    def read(self, path: Path) -> Record:
        """The record in a file; raises as :func:`~agent_magics.record.reading.read_record` does."""
        state = _state(path)
        if path not in self._read or self._read[path][0] != state or state == (0, 0):
            self._read[path] = state, read_record(path)
        return self._read[path][1]


@dataclass(kw_only=True)
class Replay:
    """A provider for one turn: what the files have recorded, or somebody else.

    Parameters
    ----------
    paths : sequence of Path
        The files to look in, in order.
    otherwise : callable
        Who answers a turn that is not recorded; called only then.
    mode : {"auto", "only"}
        Whether a turn that is not recorded is run, or is an error.
    records : Records
        Reads the files, and remembers them.
    paced : bool
        Whether the answer comes about as fast as it did; else at once.
    """

    paths: Sequence[Path]
    otherwise: Callable[[], Provider]
    mode: Literal["auto", "only"] = "only"
    records: Records = field(default_factory=Records)
    paced: bool = False
    name: str = PLAYS
    model: str = ""
    window: int = 0

    async def prepared(self, run: TurnRun) -> TurnRun:
        """The run with this turn played, or with whoever answers otherwise.

        Raises
        ------
        UsageError
            If it is not recorded and may not be run; it says what differs.
        """
        found = await asyncio.to_thread(self._find, run)
        if not isinstance(found, str):
            record, turn = found
            return _played(run, record, turn, paced=self.paced)
        if self.mode == "only":
            raise UsageError(
                "This turn is not in the record, so it was not run.",
                found,
                "Ask exactly what was recorded, or run it: without --replay, or with replay = 'auto'.",
            )
        provider = await asyncio.to_thread(self.otherwise)
        run.meter.check_price(provider)
        return replace(run, provider=provider, notices=(*run.notices, f"Not replayed. {found}"))

    async def fetch(
        self,
        messages: Sequence[Message],
        tools: Sequence[ToolSpec],
        *,
        schema: Mapping[str, JSON] | None = None,
    ) -> AsyncGenerator[ProviderEvent]:
        """A request outside of a turn; no record holds any."""
        async for event in self.otherwise().fetch(messages, tools, schema=schema):
            yield event

    async def aclose(self) -> None:
        """Nothing to give back."""

    def _find(self, run: TurnRun) -> tuple[Record, Turn] | str:
        """The recorded turn; or in one line why there is none."""
        if not self.paths:
            return (
                "There is no record: this notebook's path is not known, and neither --record nor "
                "$AGENT_MAGICS_RECORD names a file."
            )
        asking = Asking(
            prompt=run.prompt,
            images=run.images,
            wanted=run.judge.wanted if run.judge else None,
            history=above(run.conversation.turns, run.replaces),
            has=lambda name: name in run.toolbox,
        )
        misses: list[str] = []
        for path in self.paths:
            try:
                record = self.records.read(path)
            except AgentMagicsError as error:
                misses.append(f"{error.what} {error.why}".strip())
                continue
            found = find(record, asking)
            if not isinstance(found, Miss):
                return record, found
            misses.append(found.why if len(self.paths) == 1 else f"{shown_name(path)}: {found.why}")
        return " ".join(misses)


def _state(path: Path) -> tuple[int, int]:
    try:
        found = path.stat()
    except (OSError, ValueError):
        return (0, 0)
    return found.st_mtime_ns, found.st_size


def _played(run: TurnRun, record: Record, turn: Turn, *, paced: bool) -> TurnRun:
    taken = {call.id for each in run.conversation.turns for call in each.calls}
    (turn,) = adopted([turn], set(), taken)
    steps = turn.steps or (Step(text=turn.reply),)
    return replace(
        run,
        provider=Player(turn.model, steps, paced=paced),
        toolbox=Returns(run.toolbox, [call for step in steps for call in step.calls]),
        caps=RecordedCaps(stop=turn.stop, rounds=len(steps) - 1),
        meter=type(run.meter)(),
        origin=f"replayed from {record.name}, not run",
    )
