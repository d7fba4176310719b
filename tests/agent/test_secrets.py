"""What a session shows, keeps, runs and sends holds no known key."""

from __future__ import annotations

import json
from typing import Any

import pytest

from agent_magics.errors import UsageError
from agent_magics.masking import hide
from agent_magics.talk import (
    ApprovalAsked,
    Opaque,
    Saying,
    Stop,
    Thinking,
    ToolCall,
    ToolCalled,
    ToolProgress,
    TurnBegan,
)
from agent_magics.testing import FakeAsker, RecordingView
from agent_magics.tools.running import progress
from agent_magics.tools.tool import tool

KEY = "agent-secret-0f9e8d7c"


@pytest.fixture(autouse=True)
def planted(nothing_hidden: None) -> None:
    hide(KEY)


@tool(asks=True)
def send(text: str) -> str:
    """Send a text."""
    progress(f"sending {text} with {KEY}")
    seen.append(text)
    return f"sent {text} with {KEY}"


seen: list[str] = []


def test_a_key_in_a_prompt_is_masked_before_it_is_sent_and_that_is_said(make: Any) -> None:
    session, view = make("Fine."), RecordingView()
    turn = session.ask(f"my key is {KEY}", on_event=view)
    assert turn.prompt == view.of(TurnBegan)[0].prompt == "my key is [key]"
    assert session.provider.requests[0][0][-1]["content"] == "my key is [key]"
    assert len(turn.notices) == 1
    assert turn.notices[0].startswith("The prompt held an API key.")
    assert make("Fine.").ask("nothing secret").notices == ()


def test_a_key_from_the_environment_is_known_when_the_turn_begins(make: Any, monkeypatch: Any) -> None:
    session = make("Fine.")
    monkeypatch.setenv("NEW_VENDOR_API_KEY", "set-after-the-start-1")
    assert session.ask("it is set-after-the-start-1").prompt == "it is [key]"


def test_a_key_that_arrives_in_pieces_is_masked_as_it_streams(make: Any) -> None:
    reply = [
        *(Thinking(text=each) for each in ("I think ", KEY[:5], KEY[5:], " so")),
        *(Saying(text=each) for each in ("It is a", KEY[:1], KEY[1:9], KEY[9:] + ", ", "agent-")),
        Stop(reason="end"),
    ]
    session, view = make(reply), RecordingView()
    turn = session.ask("hello", on_event=view)
    assert view.text == turn.reply == "It is a[key], agent-"
    assert "".join(each.text for each in view.of(Thinking)) == turn.steps[0].thinking == "I think [key] so"
    kinds = [type(event) for event in view.events if isinstance(event, Thinking | Saying)]
    assert kinds == sorted(kinds, key=lambda kind: kind is Saying), "nothing said before all was thought"


def test_what_is_shown_of_a_call_is_what_runs(make: Any) -> None:
    seen.clear()
    asker = FakeAsker("approve")
    call = ToolCall(id="c", name="send", arguments={"text": f"a {KEY} b"})
    session, view = make(call, "Done.", tools=[send], asker=asker), RecordingView()
    turn = session.ask("go", on_event=view)
    assert turn.stop == "done"
    assert seen == ["a [key] b"]
    assert [each.call.arguments for each in view.of(ApprovalAsked, ToolCalled)] == [{"text": "a [key] b"}] * 2
    assert [each.text for each in view.of(ToolProgress)] == ["sending a [key] b with [key]"]
    told = json.loads(session.provider.requests[1][0][-1]["content"])
    assert told == {"result": "sent a [key] b with [key]", "ok": True}


def test_a_sealed_block_that_holds_a_key_is_dropped_and_not_mended(make: Any) -> None:
    sealed = [Opaque(provider="scripted", block={"signed": text}) for text in ("fine", KEY)]
    session = make([*sealed, Saying(text="Hello."), Stop(reason="end")])
    assert session.ask("hello").steps[0].opaque == (sealed[0],)


def test_an_error_of_a_command_and_of_a_provider_holds_no_key(make: Any) -> None:
    session = make(RuntimeError(f"bad {KEY}"))
    assert "bad [key]" in session.ask("hello").error
    with pytest.raises(UsageError) as refused:
        session.command(f"/{KEY}")
    assert KEY not in str(refused.value) + repr(refused.value)


def test_the_answer_of_a_command_holds_no_key(make: Any) -> None:
    session = make("Fine.", system_prompt=f"Use {KEY}.")
    assert KEY not in session.command("/context")
    assert "[key]" in session.command("/context")
