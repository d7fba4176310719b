"""SmolLM2 and the JSON planner: how often the loop of call, result and answer goes well.

    python -m tests.benchmarks.bench_small_model

Each case is one turn of a real session with all tools offered. *called*: the right tool; *arguments*: the
right ones; *read*: the answer was asked for with the result; *right*: the answer holds what the tool said.
Nothing is tried twice. With ``native`` behind it, it shows what the model does without the planner.
"""

from __future__ import annotations

import os
import sys
import time
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from agent_magics import Session, tool
from agent_magics.providers.local import weights
from agent_magics.talk import Turn

HOME = Path(__file__).resolve().parents[2] / ".build" / "home"


@tool(read_only=True)
def celsius_to_fahrenheit(celsius: float) -> float:
    """Convert a temperature from Celsius to Fahrenheit."""
    return celsius * 9 / 5 + 32


@tool(read_only=True)
def miles_to_kilometres(miles: float) -> float:
    """Convert a distance from miles to kilometres."""
    return round(miles * 1.609344, 2)


@tool(read_only=True)
def count_letter(word: str, letter: str) -> int:
    """Count how often a letter occurs in a word."""
    return word.count(letter)


@tool(read_only=True)
def add(a: float, b: float) -> float:
    """Add two numbers: their sum."""
    return a + b


@tool(read_only=True)
def multiply(a: float, b: float) -> float:
    """Multiply two numbers: their product."""
    return a * b


@tool(read_only=True)
def reverse(text: str) -> str:
    """Reverse a text, letter by letter."""
    return text[::-1]


@tool(read_only=True)
def population(city: str) -> int:
    """Look up how many people live in a city: its population."""
    return {"Paris": 2_102_650, "Rome": 2_748_109}.get(city, 0)


TOOLS = (
    celsius_to_fahrenheit,
    miles_to_kilometres,
    count_letter,
    add,
    multiply,
    reverse,
    population,
)


@dataclass(frozen=True, kw_only=True)
class Case:
    """A prompt, the call that it needs, and what the answer has to hold."""

    prompt: str
    name: str
    arguments: dict[str, Any]
    answer: str


CASES = (
    Case(
        prompt="Convert 30 degrees Celsius to Fahrenheit.",
        name="celsius_to_fahrenheit",
        arguments={"celsius": 30},
        answer="86",
    ),
    Case(
        prompt="What is 100 Celsius in Fahrenheit?",
        name="celsius_to_fahrenheit",
        arguments={"celsius": 100},
        answer="212",
    ),
    Case(
        prompt="How many kilometres are 26 miles?",
        name="miles_to_kilometres",
        arguments={"miles": 26},
        answer="41.84",
    ),
    Case(
        prompt="Convert a distance of 10 miles to kilometres.",
        name="miles_to_kilometres",
        arguments={"miles": 10},
        answer="16.09",
    ),
    Case(
        prompt="Count the letter r in the word strawberry.",
        name="count_letter",
        arguments={"word": "strawberry", "letter": "r"},
        answer="3",
    ),
    Case(prompt="Add the numbers 17 and 25.", name="add", arguments={"a": 17, "b": 25}, answer="42"),
    Case(prompt="What is the sum of 8 and 5?", name="add", arguments={"a": 8, "b": 5}, answer="13"),
    Case(prompt="Multiply 6 and 7.", name="multiply", arguments={"a": 6, "b": 7}, answer="42"),
    Case(prompt="Reverse the text planet.", name="reverse", arguments={"text": "planet"}, answer="tenalp"),
    Case(
        prompt="Look up the population of the city Paris.",
        name="population",
        arguments={"city": "Paris"},
        answer="2102650",
    ),
)


@dataclass(frozen=True, kw_only=True)
class Outcome:
    """How one case went."""

    called: bool
    arguments: bool
    read: bool
    right: bool
    said: str


def judge(case: Case, turn: Turn) -> Outcome:
    calls = turn.calls
    first = calls[0] if calls else None
    answer = turn.reply.replace(",", "")
    return Outcome(
        called=bool(first and first.name == case.name),
        arguments=bool(first and first.name == case.name and dict(first.arguments) == case.arguments),
        read=bool(calls and len(turn.steps) > 1 and turn.reply.strip()),
        right=bool(calls) and case.answer in answer,
        said=" ".join(turn.reply.split())[:60] or turn.stop,
    )


def run(case: Case, planner: str) -> Outcome:
    """One turn in a session of its own; the server is shared."""
    with Session(
        "llama",
        planner=planner,  # type: ignore[arg-type]
        tools=TOOLS,
        allowed_tools=[each.name for each in TOOLS],
        max_rounds=3,
        temperature=0,
        max_tokens=120,
    ) as session:
        return judge(case, session.ask(case.prompt))


def main(planner: str = "json") -> None:
    os.environ.setdefault("AGENT_MAGICS_HOME", str(HOME))
    print(f"SmolLM2-135M ({weights.install().name}), planner {planner}, {len(TOOLS)} tools offered")
    names = ("called", "arguments", "read", "right")
    print(f"{'case':<46} {' '.join(f'{name:>9}' for name in names)}       s  answer")
    outcomes: list[Outcome] = []
    with Session("llama", tool_making="off"):  # holds the server for all cases
        for case in CASES:
            began = time.monotonic()
            outcomes.append(outcome := run(case, planner))
            marks = " ".join(f"{'yes' if getattr(outcome, name) else '-':>9}" for name in names)
            print(f"{case.prompt:<46} {marks} {time.monotonic() - began:7.1f}  {outcome.said}", flush=True)
    shares = " ".join(f"{sum(getattr(each, name) for each in outcomes):>6}/{len(CASES)}" for name in names)
    print(f"{'passed':<46} {shares}")


if __name__ == "__main__":
    main(*sys.argv[1:])
