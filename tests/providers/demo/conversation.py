"""A conversation with the demonstration: its provider, a real toolbox, and nothing in between."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Iterable
from dataclasses import dataclass, field
from typing import Any

from agent_magics.providers.demo import DemoProvider
from agent_magics.talk import Message, ProviderEvent, Saying, Thinking, ToolCall
from agent_magics.talk.transcript import assistant_message, result_message
from agent_magics.tools.result import Results
from agent_magics.tools.tool import Tool, tool
from agent_magics.tools.toolbox import Permit, Toolbox

ROUNDS = 12


@dataclass
class Answer:
    """What came of one prompt."""

    reply: str = ""
    thinking: str = ""
    calls: list[tuple[str, dict[str, Any]]] = field(default_factory=list)
    results: list[str] = field(default_factory=list)

    @property
    def names(self) -> list[str]:
        return [name for name, _ in self.calls]


class Conversation:
    """Prompts go in, tools run, answers come out; the history is kept as the loop keeps it."""

    def __init__(
        self,
        *tools: Tool,
        system: str = "",
        refuse: Callable[[str], str] = lambda name: "",
        workbench: Any = None,
    ) -> None:
        self.box = Toolbox(tools, workbench=workbench)
        self.provider = DemoProvider(pace=0)
        self.messages: list[Message] = [{"role": "system", "content": system}] if system else []
        self._refuse = refuse
        self._results = Results()

    def ask(self, prompt: str) -> Answer:
        return asyncio.run(self._ask(prompt))

    async def _ask(self, prompt: str) -> Answer:
        self.messages.append({"role": "user", "content": prompt})
        answer = Answer()
        for _ in range(ROUNDS):
            events = [event async for event in self.provider.fetch(self.messages, self.box.specs())]
            calls = self._heard(answer, events)
            self.messages.append(assistant_message(answer.reply, calls))
            if not calls:
                return answer
            for call in calls:
                result = await self.box.run(call, permit=self._permit, results=self._results)
                answer.results.append(result.text)
                self.messages.append(result_message(call.id, result))
        raise AssertionError(f"no answer after {ROUNDS} rounds: {answer.calls}")

    def _heard(self, answer: Answer, events: Iterable[ProviderEvent]) -> list[ToolCall]:
        calls = [event for event in events if isinstance(event, ToolCall)]
        answer.reply = "".join(event.text for event in events if isinstance(event, Saying))
        answer.thinking += "".join(event.text for event in events if isinstance(event, Thinking))
        answer.calls += [(call.name, dict(call.arguments)) for call in calls]
        return calls

    async def _permit(self, called: Tool, call: ToolCall) -> Permit:
        if reason := self._refuse(called.name):
            return Permit(allowed=False, reason=reason, details={"rejected": True})
        return Permit(allowed=True)


class Maker:
    """A ``make_tool`` that compiles what it is given and offers it from then on.

    ``objects`` may answer for it: it is given the draft, and what it returns is what the model is told.
    """

    def __init__(
        self, objects: Callable[[dict[str, Any]], dict[str, Any] | None] = lambda draft: None
    ) -> None:
        self.drafts: list[dict[str, Any]] = []
        self.conversation = Conversation(self._tool())
        self._objects = objects

    def _tool(self) -> Tool:
        names = ("name", "description", "parameters", "source", "example", "anyway")
        return Tool(
            name="make_tool",
            description="Write a new tool.",
            handler=self._make,
            parameters={"type": "object", "properties": {name: {} for name in names}, "required": ["name"]},
        )

    def _make(self, **draft: Any) -> dict[str, Any]:
        self.drafts.append(draft)
        if (objection := self._objects(draft)) is not None:
            return objection
        made = compiled(draft["source"], draft["name"])
        made(**draft["example"])
        self.conversation.box.add(
            Tool(
                name=draft["name"],
                description=draft["description"],
                parameters=draft["parameters"],
                handler=made,
            )
        )
        return {"made": draft["name"], "name": draft["name"], "version": 1}


def compiled(source: str, name: str) -> Callable[..., Any]:
    """The function of a recipe's source."""
    namespace: dict[str, Any] = {}
    exec(compile(source, f"<{name}>", "exec"), namespace)
    return namespace[name]


@tool
def celsius_to_fahrenheit(celsius: float) -> float:
    """Convert degrees Celsius to Fahrenheit."""
    return celsius * 9 / 5 + 32


@tool
def word_count(text: str) -> int:
    """Count the words of a text."""
    return len(text.split())


@tool
def page_title(page: str) -> str:
    """The title of a page."""
    return f"The story of {page}"


@tool
def round_number(value: float, digits: int = 0) -> float:
    """Round a number to some digits."""
    return round(value, digits)
