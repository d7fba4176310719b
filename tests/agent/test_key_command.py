"""``/key``: typed hidden, kept, listed and forgotten, and never on the line."""

from __future__ import annotations

import getpass
from typing import Any

import keyring
import pytest
from keyring.backends import null

from agent_magics.agent.commands import key
from agent_magics.errors import UsageError
from agent_magics.masking import masked
from agent_magics.providers import keys
from agent_magics.providers.vault import Vault

TYPED = "typed-in-the-dark-77"


@pytest.fixture
def session(make: Any, tmp_path: Any, monkeypatch: pytest.MonkeyPatch):
    monkeypatch.chdir(tmp_path)
    before = keyring.get_keyring()
    keyring.set_keyring(null.Keyring())
    session = make()
    session.commands.add(key.command(Vault(), lambda prompt: f" {TYPED}\n"))
    yield session
    keys.forget("ANTHROPIC_API_KEY")
    keyring.set_keyring(before)


def test_a_key_is_typed_hidden_and_the_reply_says_where_it_is_kept(session: Any) -> None:
    said = session.command("/key anthropic")
    assert said == (
        "The key for anthropic is kept for this process only: this system has no keyring that can be used. "
        "`/provider anthropic` makes it answer here."
    )
    assert keys.require("anthropic", ("ANTHROPIC_API_KEY",)).value == TYPED
    assert masked(f"x{TYPED}y") == "x[key]y"


def test_the_list_says_where_each_key_was_found_and_no_key(session: Any) -> None:
    session.command("/key anthropic")
    said = session.command("/key")
    assert "| anthropic | `$ANTHROPIC_API_KEY` | typed here |" in said
    assert "| openai | `$OPENAI_API_KEY` | none |" in said
    assert TYPED not in said


def test_a_key_can_be_forgotten(session: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    session.command("/key anthropic")
    monkeypatch.setenv("ANTHROPIC_API_KEY", "another-one-123")
    said = session.command("/key anthropic --forget")
    assert said == "The key for anthropic is forgotten. One is still found: $ANTHROPIC_API_KEY."
    monkeypatch.delenv("ANTHROPIC_API_KEY")
    assert session.command("/key anthropic --forget") == "No key for anthropic was typed or kept."


def test_the_reply_tells_of_a_variable_that_will_win_later(session: Any, monkeypatch: Any) -> None:
    monkeypatch.setenv("ANTHROPIC_API_KEY", "another-one-123")
    said = session.command("/key anthropic")
    assert "the next one takes $ANTHROPIC_API_KEY again" in said


@pytest.mark.parametrize(
    "line", ["openai sk-proj-on-the-line-1", "sk-proj-on-the-line-1", "--forget sk-proj-on-the-line-1"]
)
def test_a_key_on_the_line_is_refused_not_repeated_and_masked_from_then_on(session: Any, line: str) -> None:
    with pytest.raises(UsageError) as refused:
        session.command(f"/key {line}")
    assert "on-the-line" not in str(refused.value)
    assert keys.find(("OPENAI_API_KEY",)) is None
    assert masked("it was sk-proj-on-the-line-1") == "it was [key]"


@pytest.mark.parametrize("line", ["antropic", "openai --forget please", "openrouter"])
def test_a_word_that_is_no_key_is_refused_and_stays_a_word(session: Any, line: str) -> None:
    with pytest.raises(UsageError):
        session.command(f"/key {line}")
    assert masked(line) == line


@pytest.mark.parametrize(
    "problem", [NotImplementedError(), EOFError(), OSError(), getpass.GetPassWarning("it would be shown")]
)
def test_where_nothing_can_be_typed_the_error_names_the_variable(make: Any, problem: Exception) -> None:
    def hidden(prompt: str) -> str:
        raise problem

    session = make()
    session.commands.add(key.command(Vault(), hidden))
    with pytest.raises(UsageError, match="Set \\$GEMINI_API_KEY"):
        session.command("/key gemini")


def test_an_empty_line_changes_nothing(make: Any) -> None:
    session = make()
    session.commands.add(key.command(Vault(), lambda prompt: ""))
    assert session.command("/key ollama") == "Nothing was typed; the key for ollama stays as it was."
