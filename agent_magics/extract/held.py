"""A provider that is held to a schema, each by what it can.

A provider may say how it can be held, with a method ``holds(schema)``:

=============  =================================================================================
``"native"``   its API has a JSON mode and shows the model the schema (the default where ``fetch``
               takes ``schema``)
``"grammar"``  its decoding is bound to the schema, but the model must be told the keys in words
``"tool"``     it calls tools: the answer is a call of one whose parameters are the schema (the
               default elsewhere)
``"text"``     it can only be asked, for a ``~~~json`` block
=============  =================================================================================

An API that refuses its own JSON mode, as some that copy another one do, is asked in words from then on.
"""

from __future__ import annotations

import inspect
import json
import weakref
from collections.abc import AsyncGenerator, Mapping, Sequence
from contextlib import aclosing
from typing import Any, Literal, cast, get_args

from agent_magics.errors import ProviderError
from agent_magics.extract.outline import outline
from agent_magics.extract.schema import Schema
from agent_magics.ports import Provider
from agent_magics.talk import JSON, Message, ProviderEvent, Saying, Stop, ToolCall, ToolSpec

Hold = Literal["native", "grammar", "tool", "text"]

ANSWER = "answer"
"""The tool that carries the answer where there is no JSON mode."""

BLOCK = """\
Answer with JSON that keeps this JSON Schema, in one ~~~json block and nothing else:
{schema}

~~~json
...
~~~"""
GRAMMAR = "Answer as JSON: {outline}."
CALL = "When you have the answer, call `{tool}` with it, once. Do not answer in text."

_REFUSED = (400, 404, 415, 422, 501)
_in_words: weakref.WeakSet[Any] = weakref.WeakSet()


def hold_of(provider: Any, schema: Mapping[str, JSON]) -> Hold:
    """How ``provider`` can be held to ``schema``."""
    if provider in _in_words:
        return "text"
    said: Any = getattr(provider, "holds", None)
    hold = said(schema) if callable(said) else said
    if hold in get_args(Hold):
        return cast("Hold", hold)
    parameters = inspect.signature(provider.fetch).parameters
    return "native" if "schema" in parameters else "tool"


class Held:
    """``provider``, answering in JSON of ``schema``. Its answer is text, whichever way it came.

    Attributes
    ----------
    problem : str
        Why the last answer can't be read although the model gave one; mostly empty.
    """

    def __init__(self, provider: Provider, schema: Schema) -> None:
        self._inner = provider
        self._schema = schema
        self._hold: Hold = hold_of(provider, schema.wanted)
        self.name, self.model, self.window = provider.name, provider.model, provider.window
        self.planner: str = getattr(provider, "planner", "native")
        self.problem = ""

    def __repr__(self) -> str:
        return f"Held({self._inner!r}, {self._hold})"

    @property
    def hold(self) -> Hold:
        """How it is held."""
        return self._hold

    async def fetch(
        self,
        messages: Sequence[Message],
        tools: Sequence[ToolSpec],
        *,
        schema: Mapping[str, JSON] | None = None,
    ) -> AsyncGenerator[ProviderEvent]:
        heard = False
        try:
            async with aclosing(self._held(messages, tools)) as events:
                async for event in events:
                    heard = True
                    yield event
            return
        except ProviderError as error:
            if heard or self._hold not in ("native", "grammar") or error.status not in _REFUSED:
                raise
            self._hold, refusal = "text", error
        try:
            async with aclosing(self._held(messages, tools)) as events:
                async for event in events:
                    _in_words.add(self._inner)
                    yield event
        except ProviderError as error:
            raise (refusal if error.status in _REFUSED else error) from None

    async def aclose(self) -> None:
        await self._inner.aclose()

    def _held(self, messages: Sequence[Message], tools: Sequence[ToolSpec]) -> AsyncGenerator[ProviderEvent]:
        wanted = self._schema.wanted
        text = json.dumps(wanted, ensure_ascii=False)
        match self._hold:
            case "native":
                beside = getattr(self._inner, "tools_beside_schema", False)
                return self._said(messages, tools if beside else (), schema=wanted)
            case "grammar":
                said = outline(self._schema.json) or "the value alone"
                return self._said(asked(messages, GRAMMAR.format(outline=said)), (), schema=wanted)
            case "tool":
                return self._called(messages, tools)
            case "text":
                return self._said(asked(messages, BLOCK.format(schema=text)), tools)

    async def _said(
        self, messages: Sequence[Message], tools: Sequence[ToolSpec], **schema: Any
    ) -> AsyncGenerator[ProviderEvent]:
        # What every provider really returns is a generator; the port promises a little less.
        source: Any = self._inner.fetch(messages, tools, **schema)
        async with aclosing(source) as events:
            async for event in events:
                yield event
        self.window = self._inner.window

    async def _called(
        self, messages: Sequence[Message], tools: Sequence[ToolSpec]
    ) -> AsyncGenerator[ProviderEvent]:
        name = ANSWER
        while any(tool["function"]["name"] == name for tool in tools):
            name += "_"
        function = {
            "name": name,
            "description": "Give the final answer. Its arguments are the answer.",
            "parameters": self._schema.wanted,
        }
        spec: ToolSpec = {"type": "function", "function": function}
        calls: list[ToolCall] = []
        self.problem = ""
        messages = asked(messages, CALL.format(tool=name))
        async with aclosing(self._said(messages, [*tools, spec])) as events:
            async for event in events:
                match event:
                    case ToolCall(name=called) if called == name:
                        calls.append(event)
                    case ToolCall():
                        calls.append(event)
                        yield event
                    case Stop(reason="tool_calls") if all(call.name == name for call in calls):
                        for said in self._answers(calls):
                            yield said
                        yield Stop(reason="end", detail=event.detail)
                    case Stop(reason="end") if calls and all(call.name == name for call in calls):
                        for said in self._answers(calls):
                            yield said
                        yield event
                    case _:
                        yield event

    def _answers(self, calls: Sequence[ToolCall]) -> list[Saying]:
        self.problem = next((call.problem for call in calls if call.problem), "")
        texts = [json.dumps(dict(call.arguments), ensure_ascii=False) for call in calls if not call.problem]
        return [Saying(text="\n".join(texts))] if texts else []


def asked(messages: Sequence[Message], wish: str) -> list[Message]:
    """``messages`` with a wish at the end of what the person said last."""
    last = max((at for at, one in enumerate(messages) if one["role"] == "user"), default=None)
    if last is None:
        return [*messages, {"role": "user", "content": wish}]
    return [*messages[:last], _with(messages[last], wish), *messages[last + 1 :]]


def _with(message: Message, wish: str) -> Message:
    content = message["content"]
    if isinstance(content, str):
        return {**message, "content": f"{content}\n\n{wish}"}
    return {**message, "content": [*content, {"type": "text", "text": wish}]}
