"""What a recorded turn is played with: a provider, a toolbox and caps that do again what was recorded.

Nothing is sent and nothing is executed, with one exception: ``run_python`` may run again, if the policy or a
person allows it now, since later cells need the names that it bound. If it doesn't, those names are told.
"""

from __future__ import annotations

import ast
import asyncio
import json
import re
from collections.abc import AsyncGenerator, Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, cast, get_args

from agent_magics.agent.rounds import Caps
from agent_magics.record.matching import CAPS
from agent_magics.talk import (
    JSON,
    CallRecord,
    Message,
    ProviderEvent,
    Saying,
    Step,
    Stop,
    Thinking,
    ToolCall,
    ToolResult,
    ToolSpec,
)
from agent_magics.talk.events import StopReason
from agent_magics.talk.transcript import NO_RESULT
from agent_magics.tools.result import Results
from agent_magics.tools.tool import Tool
from agent_magics.tools.toolbox import Notice, Permit, Permitter, Toolbox

PLAYS = "replay"
RUNS_AGAIN = "run_python"

_PIECE = re.compile(r"\s*\S+\s*")
_BEAT = 0.03
_FIRST = 2.0
_LONGEST = 8.0
"""Seconds between two pieces, until the first one, and for a whole step: at most."""

_MOST_NAMES = 50


class Player:
    """Says what was said, one step a request."""

    name = PLAYS
    window = 1_000_000_000  # nothing is sent, so nothing has to be made to fit

    def __init__(self, model: str, steps: Sequence[Step], *, paced: bool) -> None:
        self.model = model
        self._steps = iter(steps)
        self._paced = paced

    async def fetch(
        self,
        messages: Sequence[Message],
        tools: Sequence[ToolSpec],
        *,
        schema: Mapping[str, JSON] | None = None,
    ) -> AsyncGenerator[ProviderEvent]:
        step = next(self._steps, Step())
        if self._paced:
            await asyncio.sleep(min(step.first, _FIRST))
        said = [(Thinking, step.thinking), (Saying, step.text)]
        pieces = [(kind, piece) for kind, text in said for piece in _pieces(text, whole=not self._paced)]
        rest = min(max(0.0, step.seconds - step.first), _LONGEST)
        pause, owed = rest / max(1, len(pieces)), 0.0
        for kind, piece in pieces:
            yield kind(text=piece)
            owed += pause if self._paced else 0.0
            if owed >= _BEAT:
                await asyncio.sleep(owed)
                owed = 0.0
        for record in step.calls:
            yield record.call
        if step.stop in get_args(StopReason):
            yield Stop(reason=cast("StopReason", step.stop))

    async def aclose(self) -> None:
        """Nothing to give back."""


def _pieces(text: str, *, whole: bool) -> Iterable[str]:
    if whole:
        return [text] if text else []
    return _PIECE.findall(text) if text.strip() else []


class Returns(Toolbox):
    """Returns what was returned; only ``run_python`` may run, if it is allowed now."""

    def __init__(self, real: Toolbox, calls: Iterable[CallRecord]) -> None:
        super().__init__(real, workbench=real.workbench)
        self._real = real
        self._calls = {call.id: call for call in calls}
        self._shown = {call.name: call.shown for call in self._calls.values()}

    def specs(self) -> list[ToolSpec]:
        """Nobody is told of tools: nothing is sent."""
        return []

    def shown(self, name: str) -> str:
        return super().shown(name) if name in self else self._shown.get(name, f"{name}?")

    async def run(
        self,
        call: ToolCall,
        *,
        permit: Permitter,
        results: Results,
        notice: Notice = lambda text: None,
    ) -> ToolResult:
        record = self._calls.get(call.id)
        result = record.result if record and record.result else ToolResult(ok=False, text=NO_RESULT)
        tool = self._real.resolve(call.name)
        if tool is None or tool.name != RUNS_AGAIN or not result.ok or call.problem:
            return result
        door = _Door(permit)
        ran = await self._real.run(call, permit=door, results=results, notice=notice)
        if door.opened:
            notice(f"{RUNS_AGAIN} was run again" + ("." if ran.ok else ", and failed this time."))
            return ran
        if names := bound_names(call, result):
            notice(f"{RUNS_AGAIN} was not run again. Not rebuilt: {', '.join(names)}.")
        return result


class _Door:
    """A permission that remembers whether it was given."""

    def __init__(self, permit: Permitter) -> None:
        self._permit = permit
        self.opened = False

    async def __call__(self, tool: Tool, call: ToolCall, /) -> Permit:
        permitted = await self._permit(tool, call)
        self.opened = permitted.allowed
        return permitted


@dataclass(kw_only=True)
class RecordedCaps(Caps):
    """Ends a turn where the recorded one was ended."""

    stop: str
    rounds: int
    _done: int = 0

    def after(self, calls: Sequence[ToolCall], results: Sequence[ToolResult]) -> str:
        self._done += 1
        return self.stop if self.stop in CAPS and self._done >= self.rounds else ""


def bound_names(call: ToolCall, result: ToolResult) -> list[str]:
    """The names that the code bound: as its result tells; where that was cut, as the code says."""
    try:
        told: Any = json.loads(result.text).get("changed")
    except (ValueError, RecursionError, AttributeError):
        told = None
    changed = cast("dict[str, Any]", told) if isinstance(told, dict) else {}
    names = [name for kind in ("new", "rebound") for name in _names(changed.get(kind))]
    names = names or _assigned(str(call.arguments.get("code", "")))
    return list(dict.fromkeys(name for name in names if name.isidentifier()))[:_MOST_NAMES]


def _names(value: Any) -> list[str]:
    names = cast("list[Any]", value) if isinstance(value, list) else []
    return [name for name in names if isinstance(name, str)]


def _assigned(code: str) -> list[str]:
    try:
        nodes = list(ast.walk(ast.parse(code)))
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        return []
    stored = [node.id for node in nodes if isinstance(node, ast.Name) and isinstance(node.ctx, ast.Store)]
    return stored + [node.name for node in nodes if isinstance(node, ast.FunctionDef | ast.ClassDef)]
