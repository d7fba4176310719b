"""The toolbox, and the path that every call takes.

One call goes through the same doors, always in this order; the first that refuses ends it::

    alias -> known? -> in order? -> schema -> permission -> before hooks -> handler -> after hooks -> result

Whatever happens behind a door, the model gets one JSON text that says what happened. Only two things leave
this path as exceptions: the turn's cancellation, and a :class:`~agent_magics.errors.Halt`.
"""

from __future__ import annotations

import asyncio
import copy
import difflib
import inspect
import re
from collections.abc import Awaitable, Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass, replace
from typing import Any, Protocol

from agent_magics.errors import AgentMagicsError, ConfigError, Halt, ToolError
from agent_magics.ports import Workbench
from agent_magics.talk import JSON, ToolCall, ToolResult, ToolSpec
from agent_magics.tools.result import Results, text_of
from agent_magics.tools.tasks import in_task
from agent_magics.tools.threads import contained, in_thread
from agent_magics.tools.tool import Tool
from agent_magics.tools.validation import Validator


@dataclass(frozen=True, kw_only=True)
class Permit:
    """Whether a call may run, and what the model is told if it may not."""

    allowed: bool
    reason: str = ""
    details: Mapping[str, JSON] | None = None


@dataclass(frozen=True, kw_only=True)
class Deny:
    """Returned by a before hook: this call must not run, for this reason."""

    reason: str


@dataclass(frozen=True, kw_only=True)
class ToolUse:
    """What a hook is told: the tool's own name, the call's id and its arguments."""

    tool: str
    id: str
    arguments: Mapping[str, JSON]


Said = Deny | Mapping[str, JSON] | None
Before = Callable[[ToolUse], Said | Awaitable[Said]]
"""A before hook: ``None`` lets the call pass, :class:`Deny` refuses it, a dict replaces its arguments."""

After = Callable[[ToolUse, Any], object]
"""An after hook: sees the value that the handler returned."""


Notice = Callable[[str], None]
"""Told, in one sentence, what the person should know and what ends nothing."""

_NAME = re.compile(r"[A-Za-z0-9_-]{1,64}")


class Permitter(Protocol):
    """Decides about one call; perhaps by asking a person."""

    async def __call__(self, tool: Tool, call: ToolCall, /) -> Permit: ...


Missing = Callable[[ToolCall], Awaitable["Tool | Mapping[str, JSON] | None"]]
"""Asked about a call of a name that no tool has: the tool, which is there by then; or the result at once; or
nothing, and the name is unknown."""


class Toolbox:
    """The tools that a session offers to its model.

    Parameters
    ----------
    tools : iterable of Tool
        What is in it from the start.
    workbench : Workbench, optional
        Where tools that need the kernel run.

    Examples
    --------
    >>> from agent_magics import tool
    >>> @tool
    ... def double(x: int) -> int:
    ...     return 2 * x
    >>> box = Toolbox([double])
    >>> "double" in box, box.names()
    (True, ['double'])
    """

    def __init__(self, tools: Iterable[Tool] = (), *, workbench: Workbench | None = None) -> None:
        self._tools: dict[str, Tool] = {}
        self._aliases: dict[str, str] = {}
        self._before: list[tuple[re.Pattern[str] | None, Before]] = []
        self._after: list[tuple[re.Pattern[str] | None, After]] = []
        self._validators: dict[str, Validator] = {}
        self.workbench = workbench
        self.missing: Missing | None = None
        for each in tools:
            self.add(each)

    # -- what is in it ---------------------------------------------------------------------------

    def add(self, tool: Tool) -> Tool:
        """Put a tool in; one of the same name is replaced.

        Raises
        ------
        ConfigError
            If it is not a :class:`Tool`, vendors would refuse its name, or its schema is not of an object.
        """
        if not isinstance(tool, Tool):  # pyright: ignore[reportUnnecessaryIsInstance]  # people pass functions
            raise ConfigError(
                f"{tool!r} is not a tool.", "Tools are made with the decorator @tool.", "Decorate it first."
            )
        if not _NAME.fullmatch(tool.name):
            raise ConfigError(
                f"{tool.name!r} can't be the name of a tool.",
                "Vendors take 1 to 64 letters, digits, underscores and hyphens.",
                "Give it a name: `@tool(name=...)`.",
            )
        if tool.parameters.get("type") != "object":
            raise ConfigError(f"The schema of {tool.name!r} is not of type 'object'.")
        self.remove(tool.name)
        self._tools[tool.name] = tool
        self._aliases.update(dict.fromkeys(tool.aliases, tool.name))
        self._validators.pop(tool.name, None)
        return tool

    def remove(self, name: str) -> None:
        """Take a tool out; nothing happens if it isn't in."""
        if self._tools.pop(name, None):
            self._aliases = {alias: target for alias, target in self._aliases.items() if target != name}

    def resolve(self, name: str) -> Tool | None:
        """The tool of that name or alias (one level)."""
        return self._tools.get(name) or self._tools.get(self._aliases.get(name, ""))

    def shown(self, name: str) -> str:
        """The name to show for a call: the tool's own, or ``name?`` when there is none."""
        tool = self.resolve(name)
        return tool.name if tool else f"{name}?"

    def names(self) -> list[str]:
        return list(self._tools)

    def specs(self) -> list[ToolSpec]:
        """All tools as a provider is told of them."""
        return [tool.spec for tool in self]

    def __contains__(self, name: str) -> bool:
        return self.resolve(name) is not None

    def __iter__(self) -> Iterator[Tool]:
        return iter(self._tools.values())

    def __len__(self) -> int:
        return len(self._tools)

    # -- hooks -----------------------------------------------------------------------------------

    def before(self, hook: Before, matching: str | None = None) -> Before:
        """Run ``hook`` before each call, or before calls of the tools that ``matching`` matches in full."""
        self._before.append((re.compile(matching) if matching else None, hook))
        return hook

    def after(self, hook: After, matching: str | None = None) -> After:
        """Run ``hook`` after each call whose handler returned; see :meth:`before`."""
        self._after.append((re.compile(matching) if matching else None, hook))
        return hook

    # -- one call --------------------------------------------------------------------------------

    async def run(
        self,
        call: ToolCall,
        *,
        permit: Permitter,
        results: Results,
        notice: Notice = lambda text: None,
    ) -> ToolResult:
        """Take one call through all doors and return what the model reads.

        ``notice`` is told of what a person should know although the model is not stopped by it: a hook that
        failed, a handler that was left behind when the turn was cancelled.
        """
        tool = self.resolve(call.name) or await self._made(call)
        if tool is None:
            return results.failure(self._unknown(call.name))
        if not isinstance(tool, Tool):
            return results.wrap(tool)
        if call.problem:
            return results.failure(call.problem)
        call = replace(call, name=tool.name)
        try:
            refusal = self._invalid(tool, call.arguments) or await self._refused(tool, call, permit)
            if not refusal:
                call, refusal = await self._hooked(tool, call, permit, notice)
            if refusal:
                return results.wrap(refusal)
            value = await self._handle(tool, call.arguments, notice)
            await self._run_after(tool, call, value, notice)
        except Halt:
            raise
        except (Exception, SystemExit, KeyboardInterrupt) as error:
            return results.failure(_said(contained(error)), tool=tool.name, arguments=dict(call.arguments))
        return results.wrap(value)

    async def _made(self, call: ToolCall) -> Tool | Mapping[str, JSON] | None:
        if self.missing is None or call.problem:
            return None
        try:
            return await self.missing(call)
        except Halt:
            raise
        except Exception as error:
            return {"error": _said(error), "tool": call.name}

    def _unknown(self, name: str) -> str:
        near = difflib.get_close_matches(name, [*self._tools, *self._aliases], n=1)
        hint = f" Did you mean {near[0]}?" if near else ""
        return f'unknown tool: "{name}". Available: {", ".join(self._tools) or "none"}.{hint}'

    def _invalid(self, tool: Tool, arguments: Mapping[str, JSON]) -> dict[str, JSON] | None:
        if tool.name not in self._validators:
            self._validators[tool.name] = Validator(tool.parameters)
        problems = self._validators[tool.name].problems(dict(arguments))
        if not problems and tool.convert:
            try:
                _converted(tool, arguments)
            except ValueError as error:  # what a schema can't say: a date that isn't one
                problems = [str(error)]
        return {"error": f"invalid arguments for {tool.name}: {'; '.join(problems)}"} if problems else None

    async def _refused(self, tool: Tool, call: ToolCall, permit: Permitter) -> dict[str, JSON] | None:
        permitted = await permit(tool, call)
        if permitted.allowed:
            return None
        return {"error": permitted.reason, **(permitted.details or {})}

    async def _hooked(
        self, tool: Tool, call: ToolCall, permit: Permitter, notice: Notice
    ) -> tuple[ToolCall, dict[str, JSON] | None]:
        """The call after the before hooks, and a refusal if one of them refused."""
        for hook in self._matching(self._before, tool.name):
            try:
                said = hook(_use(call))
                said = await said if inspect.isawaitable(said) else said
                rewritten = None if said is None or isinstance(said, Deny) else copy.deepcopy(dict(said))
            except Halt:
                raise
            except Exception as error:
                text = f"A hook failed, so this call of {tool.name} was denied: {_said(error)}"
                notice(text)
                return call, {"error": text}
            if isinstance(said, Deny):
                return call, {"error": said.reason}
            if rewritten is not None and rewritten != call.arguments:
                # What runs is what was approved: rewritten arguments are checked and permitted again.
                call = replace(call, arguments=rewritten)
                if refusal := self._invalid(tool, call.arguments) or await self._refused(tool, call, permit):
                    return call, refusal
        return call, None

    async def _handle(self, tool: Tool, arguments: Mapping[str, JSON], notice: Notice) -> Any:
        values = _converted(tool, arguments)
        for name in tool.objects & values.keys():
            values[name] = self._variable(values[name])

        def work() -> Any:
            return tool.handler(**values)

        def left_behind() -> None:
            notice(f"{tool.name} could not be interrupted: it was left behind; its result will be discarded.")

        if inspect.iscoroutinefunction(tool.handler):
            return await in_task(work(), left_behind=left_behind)
        if tool.needs_kernel and self.workbench is not None:
            return await self.workbench.run(work)
        try:
            value = await in_thread(work)
        except asyncio.CancelledError:
            left_behind()
            raise
        return (
            await in_task(_awaited(value), left_behind=left_behind) if inspect.isawaitable(value) else value
        )

    def _variable(self, name: Any) -> Any:
        if not isinstance(name, str):
            return name  # a default value, already the object
        namespace = self.workbench.namespace if self.workbench else {}
        if name not in namespace:
            raise ToolError(f"There is no variable {name!r} in the notebook.")
        return namespace[name]

    async def _run_after(self, tool: Tool, call: ToolCall, value: Any, notice: Notice) -> None:
        """The after hooks. The call has run, so a hook that fails changes nothing about its result."""
        for hook in self._matching(self._after, tool.name):
            try:
                said = hook(_use(call), value)
                if inspect.isawaitable(said):
                    await said
            except Halt:
                raise
            except Exception as error:
                notice(f"A hook failed after {tool.name} had run: {_said(error)}")

    @staticmethod
    def _matching(hooks: list[tuple[re.Pattern[str] | None, Any]], name: str) -> list[Any]:
        """Hooks for every tool first, then those for this one."""
        every = [hook for pattern, hook in hooks if pattern is None]
        return every + [hook for pattern, hook in hooks if pattern is not None and pattern.fullmatch(name)]


def _use(call: ToolCall) -> ToolUse:
    """What a hook is told. The arguments are a copy: what was approved can't be changed behind its back."""
    return ToolUse(tool=call.name, id=call.id, arguments=copy.deepcopy(dict(call.arguments)))


def _converted(tool: Tool, arguments: Mapping[str, JSON]) -> dict[str, Any]:
    """The handler's keywords; a copy, so that the record keeps what was asked for."""
    own = copy.deepcopy(dict(arguments))
    return tool.convert(own) if tool.convert else own


async def _awaited(value: Awaitable[Any]) -> Any:
    return await value


def _said(error: Exception) -> str:
    text = text_of(error)
    if isinstance(error, AgentMagicsError):
        return " ".join(text.split("\n"))
    return f"{type(error).__name__}: {text}" if text else type(error).__name__
