"""Where keys are found, and how they stay hidden."""

from __future__ import annotations

import os
from importlib import import_module
from typing import Any

import keyring
import pytest
from keyring.backend import KeyringBackend

from agent_magics.api import approve_by_default
from agent_magics.errors import ConfigError, MissingKey
from agent_magics.masking import environment_without_secrets, masked
from agent_magics.providers import keys
from agent_magics.providers.keys import Key, find, forget, keep, mask, require
from agent_magics.providers.registry import Registry
from agent_magics.providers.settings import Vendor, settings

NAMES = ("TEST_VENDOR_KEY",)


def found(given: str | None = None) -> str:
    key = find(NAMES, given)
    return key.value if key else ""


class Drawer(KeyringBackend):
    """A keyring in memory."""

    priority = 1  # type: ignore[assignment]

    def __init__(self) -> None:
        super().__init__()
        self.kept: dict[tuple[str, str], str] = {}

    def get_password(self, service: str, username: str) -> str | None:
        return self.kept.get((service, username))

    def set_password(self, service: str, username: str, password: str) -> None:
        self.kept[service, username] = password

    def delete_password(self, service: str, username: str) -> None:
        del self.kept[service, username]


@pytest.fixture
def drawer():
    before = keyring.get_keyring()
    keyring.set_keyring(Drawer())
    yield keyring.get_keyring()
    keyring.set_keyring(before)


@pytest.fixture(autouse=True)
def folder(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    return tmp_path


def test_the_nearest_place_wins(folder, monkeypatch, drawer):
    assert find(NAMES) is None
    drawer.set_password("agent_magics", NAMES[0], "from-the-keyring")
    assert found() == "from-the-keyring"
    (folder / ".env").write_text("# mine\nexport TEST_VENDOR_KEY='from-dotenv'\n")
    assert found() == "from-dotenv"
    monkeypatch.setenv(NAMES[0], "from-environment")
    assert found() == "from-environment"
    assert found("from-code") == "from-code"


def test_a_missing_key_is_three_lines_that_name_the_variable():
    with pytest.raises(MissingKey) as caught:
        require("vendor", NAMES)
    what, why, remedy = str(caught.value).splitlines()
    assert what == "No API key for 'vendor'."
    assert "$TEST_VENDOR_KEY" in why
    assert "demo" in remedy


def test_a_key_shows_where_it_came_from_and_nothing_else():
    assert repr(Key(value="abcdefgh", source="$X")) == "Key([key] from $X)"


def test_a_key_that_no_header_can_carry_is_refused_without_showing_it():
    for value in ("abc def", "abcdéf", "abc\ndef"):
        with pytest.raises(ConfigError) as caught:
            Key(value=value, source="$X")
        assert value not in str(caught.value)


def test_what_was_found_once_is_masked_everywhere():
    Key(value="no-known-form-9", source="$X")
    assert mask("a no-known-form-9 b") == "a [key] b"


@pytest.mark.parametrize(
    "secret",
    ["sk-ant-api03-abcdefghijklmnop", "AIzaSyA1234567890abcdefghijklmnop", "ya29.abcdefghijklmnop"],
)
def test_what_looks_like_a_key_is_masked(secret):
    Key(value="abcdefgh", source="$X")  # a short key that is a piece of the others hides no less of them
    assert mask(f"Wrong key: {secret}!") == "Wrong key: [key]!"
    assert mask(f"Bearer {secret}") == "Bearer [key]"


def test_ordinary_text_is_not_masked():
    text = "task-based sk-learn, Bearer bonds, AIza"
    assert text == mask(text)


def test_children_get_an_environment_without_secrets(monkeypatch):
    monkeypatch.setenv("OPENAI_API_KEY", "x")
    monkeypatch.setenv("HF_TOKEN", "x")
    monkeypatch.setenv("PLAIN", "x")
    left = environment_without_secrets()
    assert "PLAIN" in left
    assert not {"OPENAI_API_KEY", "HF_TOKEN"} & set(left)


def test_a_typed_key_counts_at_once_and_is_kept_in_the_keyring(monkeypatch, drawer):
    monkeypatch.setenv(NAMES[0], "from-environment")
    assert keep(NAMES[0], "typed-by-hand").startswith("in the keyring (")
    assert found() == "typed-by-hand"
    assert drawer.kept == {("agent_magics", NAMES[0]): "typed-by-hand"}
    assert mask("it was typed-by-hand") == "it was [key]"
    assert forget(NAMES[0])
    assert (found(), drawer.kept) == ("from-environment", {})
    assert not forget(NAMES[0])


@pytest.mark.parametrize("backend", ["fail", "null"])
def test_without_a_keyring_a_typed_key_is_for_this_process_only(backend):
    before = keyring.get_keyring()
    keyring.set_keyring(import_module(f"keyring.backends.{backend}").Keyring())
    try:
        assert keys.find(NAMES) is None
        assert keep(NAMES[0], "typed-by-hand").startswith("for this process only")
        assert found() == "typed-by-hand"
        assert forget(NAMES[0])
        assert keys.find(NAMES) is None
    finally:
        keyring.set_keyring(before)


def test_a_file_of_plain_text_is_no_keyring():
    class Plain(Drawer):
        priority = 0.5  # type: ignore[assignment]

    before, plain = keyring.get_keyring(), Plain()
    keyring.set_keyring(plain)
    try:
        assert keep(NAMES[0], "typed-by-hand").startswith("for this process only")
        assert plain.kept == {}
    finally:
        forget(NAMES[0])
        keyring.set_keyring(before)


def test_the_nearest_dotenv_above_is_read_up_to_the_repository(folder, monkeypatch):
    (folder / ".env").write_text("TEST_VENDOR_KEY=not-of-this-repository\n")
    (folder / "repository" / ".git").mkdir(parents=True)
    notebooks = folder / "repository" / "a" / "b"
    notebooks.mkdir(parents=True)
    monkeypatch.chdir(notebooks)
    assert found() == ""
    (folder / "repository" / ".env").write_text('# mine\nTEST_VENDOR_KEY="at the-root" # old\n')
    (folder / "repository" / "a" / ".env").write_text("OTHER=1\nTEST_VENDOR_KEY=nearest # mine\n")
    assert found() == "nearest"


def test_a_dotenv_of_somebody_else_is_left_alone(folder, monkeypatch):
    (folder / ".env").write_text("TEST_VENDOR_KEY=planted-by-another\n")
    monkeypatch.setattr(os, "getuid", lambda: 54321)
    assert found() == ""


def test_a_dotenv_supplies_keys_and_never_an_address(folder, monkeypatch):
    (folder / ".env").write_text(
        "OPENAI_API_KEY=from-dotenv-1\nOPENAI_BASE_URL=http://evil.example\nAGENT_MAGICS_APPROVE=always\n"
    )
    provider: Any = Registry().build("openai")
    assert provider.address == "https://api.openai.com/v1"
    assert approve_by_default() == "ask"


def test_a_secret_in_a_header_is_known():
    settings(
        Vendor(name="v", url="http://v"),
        "m",
        {"api_key": "x", "headers": {"Authorization": "Bearer tok-123456"}},
    )
    assert masked("it was tok-123456, not Bearer") == "it was [key], not Bearer"
