"""The JSON planner: tools for models that were never taught to call them.

It is a provider around a provider. The model is held to a schema: it answers either ``{"steps": [...]}``,
each step a tool and its parameters, or ``{"answer": "..."}``. Steps become tool calls, and an answer streams
while its JSON arrives; so the loop has one way for all models, and a step may name a tool that nobody has
written yet.
"""

from __future__ import annotations

import json
from collections.abc import AsyncGenerator, Iterator, Mapping, Sequence
from contextlib import aclosing
from typing import Any

from agent_magics.ports import Provider
from agent_magics.providers.calls import fresh_id
from agent_magics.providers.flatten import without_tools
from agent_magics.providers.guidance import examples, related
from agent_magics.providers.loose import dumps, items, obj, text
from agent_magics.providers.partial_json import TextField
from agent_magics.providers.parts import plain
from agent_magics.providers.schemas import without_nulls
from agent_magics.talk import JSON, Message, ProviderEvent, Saying, Stop, ToolCall, ToolSpec

NAME = "^[a-z][a-z0-9_]{2,49}$"
"""The names that a step may use: those that a tool may have."""

_MOST_STEPS = 4

RULES = """\
You reply with JSON only, in one of two forms.
To use tools: {{"steps": [{{"tool": "NAME", "params": {{...}}}}]}}
To answer: {{"answer": "TEXT"}}
Use a tool when it can find out what is asked. When a result is there, answer from it in a short sentence.

Tools:
{tools}"""

GUIDED_RULES = """\
You answer questions with the help of tools. You write JSON only.

Tools:
{tools}"""


class JSONPlanner:
    """A provider whose tool calls are written as JSON under a schema.

    Parameters
    ----------
    inner : Provider
        The model that plans.
    invent : bool
        Whether a step may name a tool that is not there, so that it can be made.
    guided : bool
        Whether the model is so small that it must be led: see :mod:`~agent_magics.providers.guidance`.
    """

    planner = "json"

    def __init__(self, inner: Provider, *, invent: bool = True, guided: bool = False) -> None:
        self._inner = inner
        self._invent = invent
        self._guided = guided
        self.name = inner.name
        self.model = inner.model
        self.window = inner.window
        self.description: str = getattr(inner, "description", "")
        self.holds: Any = getattr(inner, "holds", None)

    @property
    def inner(self) -> Provider:
        """The model that plans."""
        return self._inner

    def __repr__(self) -> str:
        return f"JSONPlanner({self._inner!r})"

    async def fetch(
        self,
        messages: Sequence[Message],
        tools: Sequence[ToolSpec],
        *,
        schema: Mapping[str, JSON] | None = None,
    ) -> AsyncGenerator[ProviderEvent]:
        offered = related(messages, tools) if self._guided else tools
        planning = bool(offered) and schema is None
        if planning:
            schema = self._schema(messages, offered)
            messages = self._asked(messages, offered)
        else:
            messages = without_tools(messages)
        # What every provider really returns is a generator; the port promises a little less.
        source: Any = self._inner.fetch(messages, (), schema=schema)
        plan = _Plan(offered)
        self.window = self._inner.window  # a server may have told it by now
        async with aclosing(source) as events:
            async for event in events:
                for said in plan.read(event) if planning else (event,):
                    yield said

    async def aclose(self) -> None:
        await self._inner.aclose()

    def _schema(self, messages: Sequence[Message], tools: Sequence[ToolSpec]) -> dict[str, JSON]:
        if not self._guided:
            return _either(ANSWER, steps_schema(tools, invent=self._invent))
        has_result = messages[-1]["role"] == "tool"
        return ANSWER if has_result else steps_schema(tools, invent=False)

    def _asked(self, messages: Sequence[Message], tools: Sequence[ToolSpec]) -> list[Message]:
        system = "\n\n".join(plain(one["content"]) for one in messages if one["role"] == "system")
        rules = RULES.format(tools="\n".join(map(signature, tools)))
        if self._guided:
            system, rules = "", GUIDED_RULES.format(tools="\n".join(map(signature, tools)))
        asked: list[Message] = [{"role": "system", "content": f"{system}\n\n{rules}".strip()}]
        for question, answer in examples(tools) if self._guided else ():
            asked.append({"role": "user", "content": question})
            asked.append({"role": "assistant", "content": dumps(answer)})
        return without_tools([*asked, *_as_plans(messages)])


def signature(tool: ToolSpec) -> str:
    """A tool on one line: its name, its parameters with their kinds, what it does."""
    function = obj(tool.get("function"))
    parameters = obj(function.get("parameters"))
    required = items(parameters.get("required"))
    listed = [
        f"{name}{'' if name in required else '?'}: {_kind(obj(kind))}"
        for name, kind in obj(parameters.get("properties")).items()
    ]
    does = text(function.get("description")).strip().partition("\n")[0]
    return f"- {function.get('name')}({', '.join(listed)})" + (f": {does}" if does else "")


def _kind(schema: dict[str, Any]) -> str:
    if choices := items(schema.get("enum")):
        return " | ".join(map(dumps, choices))
    return text(schema.get("type")) or "any"


def steps_schema(tools: Sequence[ToolSpec], *, invent: bool) -> dict[str, JSON]:
    """The schema of a plan: a few steps of these tools or, perhaps, of unknown ones."""
    steps = [_step({"const": tool["name"]}, obj(tool.get("parameters"))) for tool in _functions(tools)]
    if invent:
        steps.append(_step({"type": "string", "pattern": NAME}, {"type": "object"}))
    return _object(steps={"type": "array", "items": _either(*steps), "minItems": 1, "maxItems": _MOST_STEPS})


def _either(first: dict[str, JSON], *others: dict[str, JSON]) -> dict[str, JSON]:
    return {"anyOf": [first, *others]} if others else first


def _functions(tools: Sequence[ToolSpec]) -> Iterator[dict[str, Any]]:
    return (obj(tool.get("function")) for tool in tools)


def _step(name: JSON, parameters: dict[str, JSON]) -> dict[str, JSON]:
    return _object(tool=name, params=parameters or {"type": "object", "properties": {}})


def _object(**properties: JSON) -> dict[str, JSON]:
    return {
        "type": "object",
        "properties": properties,
        "required": list(properties),
        "additionalProperties": False,
    }


ANSWER = _object(answer={"type": "string"})


def _as_plans(messages: Sequence[Message]) -> Iterator[Message]:
    """The conversation as if it had always been held in this form."""
    names: dict[str, str] = {}
    for message in messages:
        match message["role"]:
            case "system":
                continue
            case "assistant":
                calls = items(message.get("tool_calls"))
                names |= {call["id"]: call["name"] for call in calls}
                steps: list[JSON] = [
                    {"tool": call["name"], "params": call.get("arguments") or {}} for call in calls
                ]
                said: JSON = {"steps": steps} if steps else {"answer": plain(message.get("content"))}
                yield {"role": "assistant", "content": dumps(said)}
            case "tool":
                name = names.get(message["tool_call_id"], "the tool")
                yield {"role": "user", "content": f"Result of {name}: {plain(message['content'])}"}
            case _:
                yield message


class _Plan:
    """A reply in the making: its answer at once, its steps when they are whole."""

    def __init__(self, tools: Sequence[ToolSpec]) -> None:
        self._parameters = {tool["name"]: obj(tool.get("parameters")) for tool in _functions(tools)}
        self._written: list[str] = []
        self._field = TextField("answer")
        self._said = False

    def read(self, event: ProviderEvent) -> Iterator[ProviderEvent]:
        match event:
            case Saying(text=piece):
                self._written.append(piece)
                if answer := self._field.feed(piece):
                    self._said = True
                    yield Saying(text=answer)
            case Stop(reason="end" | "tool_calls"):
                calls = list(self._end())
                yield from calls
                made = any(isinstance(call, ToolCall) for call in calls)
                yield Stop(reason="tool_calls" if made else "end", detail=event.detail)
            case _:
                yield event

    def _end(self) -> Iterator[ProviderEvent]:
        if self._said:
            return
        written = "".join(self._written)
        plan = _parsed(written)
        if steps := items(plan.get("steps")):
            yield from (self._call(obj(step)) for step in steps)
        elif said := text(plan.get("answer")) or (written.strip() if not plan else ""):
            yield Saying(text=said)  # no JSON at all: a model that no schema holds has simply answered

    def _call(self, step: dict[str, Any]) -> ToolCall:
        name, params = text(step.get("tool")), step.get("params")
        problem = "" if isinstance(params, dict | None) else "The params must be a JSON object."
        # A strict schema wants every key; what the model would have left out is null.
        given = without_nulls(obj(params), self._parameters.get(name, {}))
        return ToolCall(id=fresh_id(), name=name, arguments=given, problem=problem)


def _parsed(written: str) -> dict[str, Any]:
    """The object in ``written``, also with words or a fence around it."""
    begin, end = written.find("{"), written.rfind("}")
    try:
        return obj(json.loads(written[begin : end + 1])) if begin >= 0 else {}
    except ValueError:
        return {}
