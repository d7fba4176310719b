"""The messages that a provider is sent, read as a situation: who said what, what was called, what is known.

Nothing is remembered between two requests. All that the rules go by is here, and it was all in the messages
and in the tool list; so the same request always has the same answer.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any

from agent_magics.providers.demo.outcomes import Outcome, outcome
from agent_magics.providers.loose import items, obj, text
from agent_magics.providers.parts import parts_of, plain
from agent_magics.talk import JSON, Message, ToolSpec

_FACT = re.compile(
    r"^\s*(?:[-*•]\s*)?(?:\[(?P<id>\d+|[0-9a-f]{6})\]|[-*•](?=\s*(?:the )?(?:user|i |my ))|(?=The user\b))"
    r"\s*(?P<fact>\S.*)$",
    re.IGNORECASE,
)
_ORIGIN = re.compile(r"\s*[(\[](?:from|by|origin|source|said|since)\b[^)\]]*[)\]]\s*$", re.IGNORECASE)
MOST_CHARACTERS = 200_000
"""Of a system prompt, for facts; nobody remembers more."""


@dataclass(frozen=True, kw_only=True)
class Tool:
    """A tool as the request offers it."""

    name: str
    description: str
    parameters: Mapping[str, JSON]

    @classmethod
    def of(cls, spec: ToolSpec) -> Tool:
        function = obj(spec.get("function")) or obj(spec)
        return cls(
            name=text(function.get("name")),
            description=text(function.get("description")),
            parameters=obj(function.get("parameters")),
        )

    @cached_property
    def properties(self) -> dict[str, dict[str, Any]]:
        return {name: obj(schema) for name, schema in obj(self.parameters.get("properties")).items()}

    @cached_property
    def required(self) -> tuple[str, ...]:
        return tuple(name for name in items(self.parameters.get("required")) if name in self.properties)


@dataclass(frozen=True, kw_only=True)
class Done:
    """A call that was made, and its outcome."""

    name: str
    arguments: Mapping[str, JSON]
    outcome: Outcome


@dataclass(frozen=True, kw_only=True)
class Exchange:
    """A prompt, the calls that it led to, and what was said in the end."""

    prompt: str
    done: tuple[Done, ...] = ()
    reply: str = ""


@dataclass(frozen=True, kw_only=True)
class Fact:
    """Something that the system prompt says is known; ``id`` is empty where it has none."""

    text: str
    id: str = ""


@dataclass(frozen=True, kw_only=True)
class Situation:
    """One request, read.

    Parameters
    ----------
    system : str
        The system prompt.
    past : tuple of Exchange
        The earlier exchanges, oldest first.
    now : Exchange
        The one that is running: its prompt, and what was done so far.
    tools : tuple of Tool
        What may be called now.
    asked : int
        How many calls the messages hold in all; it numbers the next one.
    """

    system: str
    past: tuple[Exchange, ...]
    now: Exchange
    tools: tuple[Tool, ...] = ()
    asked: int = 0
    facts: tuple[Fact, ...] = field(default=())

    def tool(self, name: str) -> Tool | None:
        """The tool of that name, if it is offered."""
        return next((tool for tool in self.tools if tool.name == name), None)

    def done(self, tool: str, /, **arguments: JSON) -> Done | None:
        """The last call of ``tool`` with these arguments in the running exchange."""
        for done in reversed(self.now.done):
            if done.name == tool and all(
                done.arguments.get(key) == value for key, value in arguments.items()
            ):
                return done
        return None


def situation(messages: Sequence[Message], tools: Sequence[ToolSpec]) -> Situation:
    """Read a request."""
    system = "\n".join(
        plain(message.get("content")) for message in messages if message.get("role") == "system"
    )
    exchanges = list(_exchanges(messages)) or [Exchange(prompt="")]
    return Situation(
        system=system,
        past=tuple(exchanges[:-1]),
        now=exchanges[-1],
        tools=tuple(Tool.of(spec) for spec in tools),
        asked=sum(len(items(message.get("tool_calls"))) for message in messages),
        facts=tuple(_facts(system[:MOST_CHARACTERS])),
    )


def _exchanges(messages: Sequence[Message]) -> Iterator[Exchange]:
    """The exchanges in order. A prompt that follows right upon a tool's result is no new question: it is the
    loop's own word, such as that no more tools can be called, and belongs to the exchange that runs."""
    current: Exchange | None = None
    calls: dict[str, tuple[str, Mapping[str, JSON]]] = {}
    before = ""
    for message in messages:
        role, said = message.get("role"), _said(message.get("content"))
        match role:
            case "user" if before != "tool":
                if current is not None:
                    yield current
                current = Exchange(prompt=said)
            case "assistant":
                current = current or Exchange(prompt="")
                current = Exchange(prompt=current.prompt, done=current.done, reply=said)
                calls |= dict(_calls(message))
            case "tool":
                current = current or Exchange(prompt="")
                name, arguments = calls.get(text(message.get("tool_call_id")), ("", {}))
                done = Done(name=name, arguments=arguments, outcome=outcome(said))
                current = Exchange(prompt=current.prompt, done=(*current.done, done), reply=current.reply)
            case _:
                pass
        before = role if role != "system" else before
    if current is not None:
        yield current


def _said(content: Any) -> str:
    """The text of a content; pictures say nothing to rules."""
    texts = (text(part.get("text")) for part in parts_of(content) if part.get("type") == "text")
    return content if isinstance(content, str) else "\n".join(texts)


def _calls(message: Message) -> Iterator[tuple[str, tuple[str, Mapping[str, JSON]]]]:
    for call in map(obj, items(message.get("tool_calls"))):
        arguments = call.get("arguments")
        if isinstance(arguments, str):
            try:
                arguments = json.loads(arguments)
            except (ValueError, RecursionError):
                arguments = {}
        yield text(call.get("id")), (text(call.get("name")), obj(arguments))


def _facts(system: str) -> Iterator[Fact]:
    for line in system.splitlines():
        if len(line) <= 1_000 and (match := _FACT.match(line)):
            yield Fact(text=_unquoted(match["fact"]), id=match["id"] or "")


def _unquoted(fact: str) -> str:
    """A fact without its origin, and without the quotes in which a session tells it."""
    try:
        if fact.startswith('"'):
            return str(json.JSONDecoder().raw_decode(fact)[0])
    except ValueError:  # it begins with a quotation of its own
        pass
    return _ORIGIN.sub("", fact).strip()
