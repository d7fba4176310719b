"""A turn with a judge: an answer that will not do is sent back, within the same turn."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import pytest

from agent_magics import Session, extract, tool
from agent_magics.errors import ConfigError, ExtractionError, SessionError
from agent_magics.extract.extraction import Extraction
from agent_magics.extract.schema import Schema
from agent_magics.talk import JSON, Stop, ToolCall, Turn, Usage, fold
from agent_magics.talk.codec import decode, encode
from agent_magics.testing import RecordingView, ScriptedProvider

SCHEMA = Schema.of("name, age int")
RIGHT, WRONG = '{"name": "Ada", "age": 36}', '{"name": "Ada", "age": "36"}'


def asked(
    provider: Any, prompt: str = "Ada is 36.", **options: Any
) -> tuple[Turn, Extraction, RecordingView]:
    view = RecordingView()
    with Session(provider=provider, tool_making="off", **options) as session:
        extraction = Extraction(SCHEMA)
        held = extraction.holding(session.provider)
        turn = session.start(prompt, view, provider=held, judge=extraction).result(10)
    return turn, extraction, view


def test_a_right_answer_ends_the_turn_with_its_value():
    turn, extraction, view = asked(ScriptedProvider([f"Here:\n~~~json\n{RIGHT}\n~~~"]))
    assert ("done", RIGHT) == (turn.stop, turn.reply)
    assert {"name": "Ada", "age": 36} == extraction.value
    assert SCHEMA.wanted == turn.wanted
    assert turn == fold(view.events)
    assert turn == decode(encode(turn))


def test_an_answer_that_is_sent_back_is_a_step_a_notice_and_a_cost():
    provider = ScriptedProvider([WRONG, RIGHT], repeat=False)
    turn, extraction, _ = asked(provider)
    assert ("done", True, [WRONG, RIGHT]) == (turn.stop, extraction.done, [step.text for step in turn.steps])
    assert ("The answer was sent back: age: '36' is not of type 'integer'",) == turn.notices
    assert Usage(input=2, output=2) == turn.usage
    assert provider.requests[1][0][-2] == {"role": "assistant", "content": WRONG}


def test_an_answer_that_never_fits_ends_the_turn_with_three_lines():
    turn, extraction, _ = asked(ScriptedProvider([WRONG]))
    assert ("provider_error", 3, False) == (turn.stop, len(turn.steps), extraction.done)
    assert (
        "The answer does not keep the schema.\nage: '36' is not of type 'integer'; asked 3 times.\n"
        "Say in the prompt what is wanted there, loosen the schema, or take a stronger model."
    ) == turn.error


@pytest.mark.parametrize(("reason", "stop"), [("max_tokens", "truncated"), ("refusal", "refused_by_model")])
def test_the_stop_is_read_before_the_answer_is_judged(reason: Any, stop: str):
    turn, extraction, _ = asked(ScriptedProvider([[Stop(reason=reason)]]))
    assert (stop, False, 1) == (turn.stop, extraction.done, len(turn.steps))


def test_the_next_turn_is_sent_only_the_answer_that_was_taken():
    provider = ScriptedProvider([WRONG, RIGHT, "Fine."], repeat=False)
    with Session(provider=provider) as session:
        extraction = Extraction(SCHEMA)
        held = extraction.holding(session.provider)
        session.start("Ada is 36.", provider=held, judge=extraction).result(10)
        session.ask("thanks")
    assert [RIGHT] == [one["content"] for one in provider.requests[2][0] if one["role"] == "assistant"]


class Caller(ScriptedProvider):
    holds = "tool"


def test_tools_may_be_called_before_the_answer_where_they_stand_beside_it():
    @tool(read_only=True)
    def age_of(name: str) -> int:
        """The age of a person."""
        return 36

    def answer(messages: Any) -> ToolCall:
        age = 36 if "36" in messages[-1]["content"] else 0
        return ToolCall(id="b", name="answer", arguments={"name": "Ada", "age": age})

    provider = Caller([ToolCall(id="a", name="age_of", arguments={"name": "Ada"}), answer], repeat=False)
    turn, extraction, _ = asked(provider, "How old is Ada?", tools=[age_of])
    assert ("done", {"name": "Ada", "age": 36}) == (turn.stop, extraction.value)
    assert ["age_of"] == [call.name for call in turn.calls]


def test_a_cap_without_a_right_answer_is_a_failure():
    @tool(read_only=True)
    def look() -> int:
        """Look."""
        return 1

    provider = Caller([ToolCall(id="a", name="look"), WRONG])
    turn, extraction, _ = asked(provider, tools=[look], max_rounds=1)
    assert ("provider_error", False) == (turn.stop, extraction.done)


def test_extract_raises_what_was_wrong_and_closes_no_provider_of_yours():
    class Own(ScriptedProvider):
        gone = False

        async def aclose(self) -> None:
            self.gone = True

    own = Own([WRONG])
    with pytest.raises(ExtractionError) as caught:
        extract("Ada is 36.", "name, age int", provider=own, repairs=1)
    assert ("invalid", 2, ["age: '36' is not of type 'integer'"], False) == (
        caught.value.kind,
        caught.value.attempts,
        caught.value.errors,
        own.gone,
    )


def test_extract_finds_what_is_wrong_with_a_schema_before_it_asks():
    own = ScriptedProvider([RIGHT])
    with pytest.raises(ConfigError):
        extract("x", {"type": "text"}, provider=own)
    assert [] == own.requests


def test_extract_is_refused_inside_a_turn():
    seen: list[str] = []

    @tool(read_only=True)
    def deeper() -> Mapping[str, JSON]:
        """Ask again."""
        try:
            return extract("Ada is 36.", "name, age int", provider="demo")
        except SessionError as error:
            seen.append(error.what)
            raise

    with Session(
        provider=ScriptedProvider([ToolCall(id="a", name="deeper"), "done"]), tools=[deeper]
    ) as session:
        session.ask("go")
    assert ["Nothing can be extracted from inside a turn."] == seen


def test_extract_stays_the_function_after_its_package_was_imported():
    import agent_magics

    assert callable(agent_magics.extract)
    assert {"born": 1815} == agent_magics.extract("Ada was born in 1815.", "born int", provider="demo")
