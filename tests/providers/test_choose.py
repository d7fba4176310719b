"""`auto`: what is chosen when nobody said, and why."""

from __future__ import annotations

import json
import threading
from http.server import BaseHTTPRequestHandler, HTTPServer

import pytest

from agent_magics.providers import Registry
from agent_magics.providers.addresses import ollama_host, ollama_url
from agent_magics.providers.choose import choose
from agent_magics.providers.local import weights
from tests.providers.servers import free_port

EVERY = ("anthropic", "openai", "gemini", "ollama", "llama", "demo")


@pytest.fixture(autouse=True)
def nothing_here(monkeypatch, tmp_path):
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("OLLAMA_HOST", f"127.0.0.1:{free_port()}")


@pytest.fixture
def ollama(monkeypatch):
    class Tags(BaseHTTPRequestHandler):
        def do_GET(self):
            body = json.dumps({"models": [{"name": "qwen3:8b"}, {"name": "other"}]}).encode()
            self.send_response(200)
            self.send_header("content-length", str(len(body)))
            self.end_headers()
            self.wfile.write(body)

        def log_message(self, *_):
            pass

    with HTTPServer(("127.0.0.1", 0), Tags) as server:
        thread = threading.Thread(target=server.serve_forever)
        thread.start()
        monkeypatch.setenv("OLLAMA_HOST", f"127.0.0.1:{server.server_port}")
        yield
        server.shutdown()
        thread.join(10)


def test_with_nothing_at_all_it_is_demo():
    choice = choose(EVERY)
    assert choice.spec == "demo"
    assert "no key is set" in choice.why


def test_the_order_is_configured_then_keys_then_ollama_then_weights(monkeypatch, ollama):
    path = weights.home() / "models" / weights.NAME
    path.parent.mkdir(parents=True)
    with path.open("wb") as file:
        file.truncate(weights.SIZE)
    assert choose(set(EVERY) - {"ollama"}).spec == "llama"
    assert choose(EVERY).spec == "ollama:qwen3:8b"
    for variable, expected in (
        ("GOOGLE_API_KEY", "gemini"),
        ("OPENAI_API_KEY", "openai"),
        ("ANTHROPIC_API_KEY", "anthropic"),
    ):
        monkeypatch.setenv(variable, "a-planted-key")
        choice = choose(EVERY)
        assert expected == choice.spec
        assert f"${variable}" in choice.why
        assert "a-planted-key" not in choice.why
    monkeypatch.setenv("AGENT_MAGICS_MODEL", "stub:x")
    assert choose(EVERY).spec == "stub:x"


def test_a_key_of_a_provider_that_is_not_there_is_passed_over(monkeypatch):
    monkeypatch.setenv("ANTHROPIC_API_KEY", "a-planted-key")
    assert choose({"openai", "demo"}).spec == "demo"


def test_an_ollama_on_another_machine_is_never_called_unasked(monkeypatch):
    monkeypatch.setenv("OLLAMA_HOST", "203.0.113.7")
    assert choose(EVERY).spec == "demo"


def test_the_registry_builds_what_was_chosen_and_says_why(monkeypatch):
    monkeypatch.setenv("AGENT_MAGICS_MODEL", "stub:x")
    assert Registry().build("auto").name == "stub"
    assert Registry().why("auto") == "stub:x, because $AGENT_MAGICS_MODEL says so."
    assert Registry().why("stub") == "stub was asked for."


@pytest.mark.parametrize(
    ("value", "expected"),
    [
        ("", ("127.0.0.1", 11434, False)),
        ("box", ("box", 11434, False)),
        ("http://box", ("box", 80, False)),
        ("https://box", ("box", 443, True)),
        ("0.0.0.0:9", ("127.0.0.1", 9, False)),
        ("[::1]:9", ("::1", 9, False)),
        ("box:many", ("box", 11434, False)),
    ],
)
def test_the_address_of_ollama_is_read_as_ollama_reads_it(value, expected):
    assert expected == ollama_host(value)


def test_an_ipv6_address_is_written_in_brackets():
    assert ollama_url("[::1]") == "http://[::1]:11434"
