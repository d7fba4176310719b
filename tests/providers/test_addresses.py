"""Addresses as people write them, and where requests then go."""

from __future__ import annotations

import pytest

from agent_magics.providers import Registry
from tests.providers.servers import ScriptedServer, answer

PATHS = {
    "anthropic:m": "/v1/messages",
    "gemini:m": "/v1beta/models/m:streamGenerateContent?alt=sse",
    "ollama:m": "/api/chat",
    "openai:m": "/v1/chat/completions",
}


@pytest.mark.parametrize(
    ("spec", "written"),
    [
        ("anthropic:m", ""),
        ("anthropic:m", "/v1"),
        ("anthropic:m", "/v1/messages"),
        ("gemini:m", "/"),
        ("gemini:m", "/v1beta/"),
        ("ollama:m", ""),
        ("ollama:m", "/v1"),
        ("ollama:m", "/api"),
        ("openai:m", "/v1/"),
        ("openai:m", "/v1/chat/completions"),
    ],
)
async def test_what_was_copied_along_is_not_doubled(spec: str, written: str):
    async with ScriptedServer([answer(404, {})]) as server:
        provider = Registry().build(spec, base_url=server.url + written, api_key="a-key-of-tests")
        with pytest.raises(Exception, match="HTTP 404"):
            assert not [event async for event in provider.fetch([{"role": "user", "content": "hello"}], [])]
        await provider.aclose()
    assert [PATHS[spec]] == [request.path for request in server.requests]


def test_a_bare_host_is_ollamas_own_way_to_write_it():
    provider = Registry().build("ollama:m", base_url="myhost")
    assert "http://myhost:11434" in repr(provider)
