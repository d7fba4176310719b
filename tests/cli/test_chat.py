"""L16: `agent-magics chat`: the session, its commands and its approvals, line by line."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from tests.cli.processes import at_terminal, run

PROMPT = "agent> "


def test_lines_are_turns_blank_lines_are_nothing_and_a_slash_is_a_command():
    done = run("chat", "-p", "stub", stdin="hello\n\n   \n/clear\nbye\n")
    assert 0 == done.returncode
    assert ["hello", "1 turn is forgotten;", "bye"] == [
        line[:20].strip() for line in done.stdout.strip().split("\n")
    ]


def test_an_unknown_command_is_named_with_its_near_ones_and_the_session_lives_on():
    done = run("chat", "-p", "stub", stdin="/halp\nhello\n")
    assert (0, "hello\n") == (done.returncode, done.stdout)
    assert "Unknown command: /halp.\nDid you mean /help?\nAll commands: /help.\n" in done.stderr


def test_the_conversation_goes_on_from_line_to_line():
    done = run("chat", "-p", "stub", stdin="first\nsecond\n/status\n")
    assert "2 turns" in done.stdout


def test_an_unknown_provider_changes_nothing():
    done = run("chat", "-p", "stub", stdin="/provider nobody\nhello\n/provider scripted:echo\nhi\n")
    assert "unknown provider 'nobody'" in done.stderr
    assert "hello\n" in done.stdout
    assert "**scripted:script** answers from now on" in done.stdout


def test_quit_leaves():
    assert "one\n" == run("chat", "-p", "stub", stdin="one\n/quit\ntwo\n").stdout


def test_an_interrupt_stops_the_turn_and_the_next_one_works():
    with at_terminal("chat", "-p", "scripted:hang") as screen:
        screen.expect(PROMPT)
        screen.type("tell me\n")
        screen.expect("Once upon")
        screen.interrupt()
        screen.expect("Stopped.")
        screen.expect(PROMPT)
        screen.type("again\n")
        screen.expect("Hello again!")
        screen.expect(PROMPT)
        screen.type("\x04")
        assert 0 == screen.end()


def test_an_interrupt_at_the_prompt_throws_the_line_away():
    with at_terminal("chat", "-p", "stub") as screen:
        screen.expect(PROMPT)
        screen.type("half a li")
        screen.expect("half a li")
        screen.interrupt_until(PROMPT)
        screen.type("whole\n")
        screen.expect("whole\r\n")
        screen.expect("whole")
        screen.expect(PROMPT)
        screen.type("\x04")
        assert 0 == screen.end()


def test_an_approval_is_asked_for_between_the_lines():
    with at_terminal("chat", "-p", "scripted:approval") as screen:
        screen.expect("stops a turn, Ctrl-D leaves.")
        screen.expect(PROMPT)
        screen.type("go\n")
        screen.expect("Approve? ")
        screen.type("a\n")
        screen.expect("Done.")
        screen.expect(PROMPT)
        screen.type("/status\n")
        screen.expect("1 granted for this session")
        screen.expect(PROMPT)
        screen.type("\x04")
        assert 0 == screen.end()


def test_a_conversation_is_kept_and_resumed():
    first = run("chat", "-p", "scripted:echo", stdin="my name is Ada\n/sessions\n")
    id_ = re.search(r"\b[0-9a-f]{12}\b", first.stdout)
    assert id_ is not None, first.stdout
    again = run("chat", "-p", "scripted:echo", "--resume", id_[0][:8], stdin="/rewind\n")
    assert "my name is Ada" in again.stdout
    alone = run("chat", "-p", "scripted:echo", stdin="/rewind\n")
    assert "The conversation is empty." in alone.stdout


def test_storing_can_be_turned_off(monkeypatch: pytest.MonkeyPatch, home: Path):
    monkeypatch.setenv("AGENT_MAGICS_STORE", "off")
    done = run("chat", "-p", "stub", stdin="hello\n/sessions\n")
    assert "This session is not stored" in done.stderr
    assert not list(home.rglob("sessions.db*"))


def test_a_session_that_is_not_there_is_named():
    done = run("chat", "-p", "stub", "--resume", "abc", stdin="hello\n")
    assert (2, "There is no session 'abc'.") == (done.returncode, done.stderr.split("\n")[0])


def test_a_key_is_typed_unseen_and_kept_for_the_process():
    with at_terminal("chat", "-p", "stub") as screen:
        screen.expect(PROMPT)
        screen.type("/key gemini\n")
        screen.expect("Key for gemini (not shown): ")
        screen.type("typed-unseen-9a8b7c\n")
        screen.expect("is kept for this process only")
        screen.expect(PROMPT)
        screen.type("/key\n")
        screen.expect("| gemini | `$GEMINI_API_KEY` | typed here |")
        screen.expect(PROMPT)
        screen.type("is it typed-unseen-9a8b7c?\n")
        screen.expect("is it [key]?")
        screen.expect(PROMPT)
        screen.type("\x04")
        assert 0 == screen.end()
    assert 1 == screen.text.count("typed-unseen"), "the prompt that a person typed in plain sight"


def test_in_a_pipe_no_key_can_be_typed_and_the_variable_is_named():
    done = run("chat", "-p", "stub", stdin="/key openai\n/key openai sk-on-the-line-123456\nhello\n")
    assert "Set $OPENAI_API_KEY" in done.stderr
    assert "A key doesn't belong on the line" in done.stderr
    assert "sk-on-the-line" not in done.stdout + done.stderr
    assert done.stdout.endswith("hello\n")


def test_a_trace_is_a_table_with_bars_and_a_budget_tells_what_was_used():
    done = run("chat", "-p", "scripted:two-steps", stdin="1 + 2?\n/trace\n/budget tokens 500\n")
    table = [line for line in done.stdout.split("\n") if line.startswith("| ")]
    assert any(line.startswith("| tool add ") and "█" in line for line in table)
    assert "in all · model " in done.stdout
    assert "| **500 tokens** |" in done.stdout
