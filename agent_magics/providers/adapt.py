"""Any object with ``fetch(messages, tools)`` -> a provider.

A plugin's provider may be as small as a class with one generator method: sync or async, yielding plain
dicts or our event types, with or without ``schema``, ``name``, ``model``, ``window`` and ``aclose``. Events
of kinds that are not known are left out.

>>> class Echo:
...     def fetch(self, messages, tools):
...         yield {"type": "saying", "text": messages[-1]["content"]}
>>> adapt(Echo(), name="echo").name
'echo'
"""

from __future__ import annotations

import inspect
from collections.abc import AsyncGenerator, AsyncIterator, Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import aclosing
from typing import Any, cast, get_args

from agent_magics.errors import ConfigError
from agent_magics.ports import Provider
from agent_magics.providers.calls import fresh_id
from agent_magics.providers.loose import count, obj, text
from agent_magics.providers.threads import Tell, from_thread
from agent_magics.talk import (
    JSON,
    Message,
    Opaque,
    ProviderEvent,
    Saying,
    Stop,
    Thinking,
    ToolCall,
    ToolSpec,
    Usage,
)
from agent_magics.talk.events import StopReason

_KINDS: tuple[type[Any], ...] = get_args(ProviderEvent)
_REASONS: tuple[str, ...] = get_args(StopReason)


def adapt(thing: Any, *, name: str = "", model: str = "") -> Provider:
    """``thing`` as a provider; one that is a provider already is returned as it is.

    Raises
    ------
    ConfigError
        If it has no ``fetch``.
    """
    if not callable(getattr(thing, "fetch", None)):
        raise ConfigError(
            f"{thing!r} is no provider.",
            "It has no method `fetch(messages, tools)`.",
            "Give it one that yields events; the simplest is {'type': 'saying', 'text': ...}.",
        )
    return thing if _is_complete(thing) else _Adapted(thing, name, model)


def _is_complete(thing: Any) -> bool:
    typed = inspect.isasyncgenfunction(thing.fetch) and "schema" in inspect.signature(thing.fetch).parameters
    return typed and isinstance(thing, Provider) and type(thing).__module__.startswith("agent_magics.")


class _Adapted:
    def __init__(self, thing: Any, name: str, model: str) -> None:
        self._thing = thing
        self.name: str = getattr(thing, "name", "") or name or type(thing).__name__.lower()
        self.model: str = getattr(thing, "model", "") or model
        self.window: int = count(getattr(thing, "window", 0))
        self.planner: str = getattr(thing, "planner", "native")
        self._takes_schema = _takes_schema(thing.fetch)
        self.holds: Any = getattr(thing, "holds", "native" if self._takes_schema else "tool")

    def __repr__(self) -> str:
        return f"<provider {self.name!r} made of {type(self._thing).__name__}>"

    async def fetch(
        self,
        messages: Sequence[Message],
        tools: Sequence[ToolSpec],
        *,
        schema: Mapping[str, JSON] | None = None,
    ) -> AsyncGenerator[ProviderEvent]:
        options = {"schema": schema} if self._takes_schema else {}
        said = self._thing.fetch(messages, tools, **options)
        if inspect.isawaitable(said):
            said = await said
        stop: Stop | None = None
        async with aclosing(_asynchronous(said)) as things:
            async for thing in things:
                match event_of(thing):
                    case None:
                        pass
                    case Stop() as stop:
                        pass  # held back: it comes last, whatever else the object says after it
                    case event:
                        yield event
        if stop:
            yield stop

    async def aclose(self) -> None:
        close = getattr(self._thing, "aclose", None) or getattr(self._thing, "close", None)
        if close and inspect.isawaitable(done := close()):
            await done


def _takes_schema(fetch: Callable[..., Any]) -> bool:
    parameters = inspect.signature(fetch).parameters.values()
    return any(one.name == "schema" or one.kind is one.VAR_KEYWORD for one in parameters)


def event_of(thing: Any) -> ProviderEvent | None:
    """An event as our type: one of ours as it is, a plain dict built anew, anything else ``None``."""
    if isinstance(thing, _KINDS):
        return cast("ProviderEvent", thing)
    fields = obj(dict(cast("Mapping[str, Any]", thing))) if isinstance(thing, Mapping) else {}
    match text(fields.get("type")):
        case "saying":
            return Saying(text=_words(fields.get("text")))
        case "thinking":
            return Thinking(text=_words(fields.get("text")))
        case "doing":
            return _call(fields)
        case "usage":
            numbers = {name: count(fields.get(name)) for name in ("input", "output", "cached", "reasoning")}
            return Usage(**numbers)
        case "stop":
            reason = text(fields.get("reason"))
            known = cast("StopReason", reason if reason in _REASONS else "end")
            return Stop(reason=known, detail=_words(fields.get("detail")))
        case "opaque":
            return Opaque(provider=text(fields.get("provider")), block=fields.get("block"))
        case _:
            return None


def _call(fields: dict[str, Any]) -> ToolCall:
    arguments = fields.get("arguments")
    problem = "" if isinstance(arguments, dict | None) else "The arguments must be a JSON object."
    name, key = text(fields.get("name")), text(fields.get("id")) or fresh_id()
    return ToolCall(id=key, name=name, arguments=obj(arguments), problem=problem)


def _words(value: Any) -> str:
    return "" if value is None else str(value)


async def _asynchronous(said: Any) -> AsyncGenerator[Any]:
    if isinstance(said, AsyncIterator):
        things = cast("AsyncIterator[Any]", said)
        try:
            async for thing in things:
                yield thing
        finally:
            close = getattr(things, "aclose", None)  # only generators have one
            if close:
                await close()
    elif isinstance(said, Iterable):
        async with aclosing(_on_a_thread(iter(cast("Iterable[Any]", said)))) as things:
            async for thing in things:
                yield thing


def _on_a_thread(things: Iterator[Any]) -> AsyncGenerator[Any]:
    """A sync iterator's things, taken on a thread of its own, so that it may block."""

    def work(tell: Tell[Any]) -> None:
        try:
            for thing in things:
                if tell(thing):
                    return
        finally:
            close = getattr(things, "close", None)  # only generators have one
            if close:
                close()

    return from_thread(work)
