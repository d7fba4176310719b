"""What the doctor says of each provider."""

from __future__ import annotations

from pathlib import Path

import pytest

from agent_magics.doctor import command
from agent_magics.providers import Registry
from agent_magics.providers.survey import LISTS, examine, survey
from tests.providers.servers import Hang, ScriptedServer, Step, answer

KEY = "planted-key-of-the-doctor"
NAMES = {
    "anthropic": ("ANTHROPIC_API_KEY", "ANTHROPIC_BASE_URL"),
    "openai": ("OPENAI_API_KEY", "OPENAI_BASE_URL"),
    "gemini": ("GEMINI_API_KEY", "GOOGLE_GEMINI_BASE_URL"),
}


@pytest.fixture(autouse=True)
def no_ollama(monkeypatch):
    monkeypatch.setenv("OLLAMA_HOST", "127.0.0.1:9")


async def looked(name: str, monkeypatch: pytest.MonkeyPatch, script: list[Step]):
    key, url = NAMES[name]
    async with ScriptedServer([script]) as server:
        monkeypatch.setenv(key, KEY)
        monkeypatch.setenv(url, server.url)
        found = await examine(name)
        requests = server.requests
    return found, [(one.method, one.path) for one in requests]


@pytest.mark.parametrize("name", NAMES)
async def test_a_vendor_with_a_key_is_asked_for_its_models(name, monkeypatch):
    found, asked = await looked(name, monkeypatch, answer(200, {"data": []}))
    assert [("GET", LISTS[name])] == asked
    assert f"key found (${NAMES[name][0]}); reachable, and it takes the key; default model " in found.found
    assert found.ok


async def test_a_refused_key_is_told_with_what_to_do(monkeypatch):
    found, _ = await looked("openai", monkeypatch, answer(401, {"error": {"message": f"bad key {KEY}"}}))
    assert "reachable, but it refuses the key" in found.found
    assert "`%agent /key openai`" in found.remedy
    assert not found.ok
    assert KEY not in repr(found)


async def test_an_address_without_a_list_of_models_is_reachable_all_the_same(monkeypatch):
    found, _ = await looked("openai", monkeypatch, answer(404, {}))
    assert "reachable (HTTP 404)" in found.found
    assert found.ok


async def test_nobody_is_waited_for_longer_than_a_moment(monkeypatch):
    monkeypatch.setattr("agent_magics.providers.survey.PATIENCE", 0.1)
    found, _ = await looked("openai", monkeypatch, [Hang()])
    assert "no answer from http://127.0.0.1" in found.found


async def test_an_address_where_nobody_listens_is_named(monkeypatch):
    monkeypatch.setenv("OPENAI_API_KEY", KEY)
    monkeypatch.setenv("OPENAI_BASE_URL", "http://127.0.0.1:9/v1")
    found = await examine("openai")
    assert "not reachable at http://127.0.0.1:9/v1" in found.found
    assert "Check the address, the network and the proxy." == found.remedy


async def test_without_a_key_a_vendor_is_not_called_and_the_variable_is_named(monkeypatch):
    async with ScriptedServer([answer(200, {})]) as server:
        monkeypatch.setenv("OPENAI_BASE_URL", server.url)
        found = await examine("openai")
    assert ("no key; default model gpt-6.1-terra", "Set $OPENAI_API_KEY.") == (found.found, found.remedy)
    assert [] == server.requests


@pytest.fixture
def account(tmp_path: Path) -> Path:
    file = tmp_path / "account.json"
    file.write_text('{"private_key": "planted"}')
    return file


async def test_credentials_of_vertex_are_found_and_not_shown(monkeypatch, account):
    assert "no credentials" in (await examine("vertex")).found
    monkeypatch.setenv("GOOGLE_APPLICATION_CREDENTIALS", str(account))
    found = await examine("vertex")
    assert f"credentials found ({account})" in found.found
    assert "planted" not in repr(found)


async def test_every_provider_has_its_line():
    conditions = await survey()
    assert Registry().names() == [each.name for each in conditions]
    assert all(each.ok for each in conditions)
    assert all("default" in each.found for each in conditions if each.name in (*NAMES, "vertex"))


def test_the_command_shows_the_same_as_a_table():
    said = command(lambda: "a | b").run(None, "")  # type: ignore[arg-type]
    assert "| | what | found | what to do |" in said
    assert "| front end | a \\| b |" in said
    assert "|  | openai | no key; default model gpt-6.1-terra | Set $OPENAI_API_KEY. |" in said
