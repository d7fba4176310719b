"""Vertex AI: the real google-auth signs in, with a service account and a token server of our own."""

from __future__ import annotations

import asyncio
import json
import threading
from collections.abc import Iterator
from datetime import UTC, datetime, timedelta
from http.server import BaseHTTPRequestHandler, HTTPServer
from pathlib import Path
from typing import Any
from urllib.parse import parse_qs

import pytest
from cryptography.hazmat.primitives import serialization
from cryptography.hazmat.primitives.asymmetric import rsa

from agent_magics.errors import ConfigError, MissingKey
from agent_magics.providers import Registry
from agent_magics.providers.vertex import host
from agent_magics.talk import Saying, Stop
from tests.providers.servers import ScriptedServer, answer, sse

ASK = [{"role": "system", "content": "Be brief."}, {"role": "user", "content": "hello"}]
CLAUDE = sse(
    {"type": "message_start", "message": {"usage": {"input_tokens": 3}}},
    {"type": "content_block_start", "index": 0, "content_block": {"type": "text", "text": ""}},
    {"type": "content_block_delta", "index": 0, "delta": {"type": "text_delta", "text": "hi"}},
    {"type": "message_delta", "delta": {"stop_reason": "end_turn"}, "usage": {"output_tokens": 1}},
    {"type": "message_stop"},
    done=False,
)
GEMINI = sse({"candidates": [{"content": {"parts": [{"text": "hi"}]}, "finishReason": "STOP"}]}, done=False)


class TokenServer(HTTPServer):
    """Gives out tokens, each one anew, and keeps what it was asked."""

    def __init__(self) -> None:
        super().__init__(("127.0.0.1", 0), _Tokens)
        self.asked: list[dict[str, list[str]]] = []
        self.refuse = False


class _Tokens(BaseHTTPRequestHandler):
    server: TokenServer

    def do_POST(self) -> None:
        form = self.rfile.read(int(self.headers["content-length"])).decode()
        self.server.asked.append(parse_qs(form))
        token = {"access_token": f"ya29.token-number-{len(self.server.asked)}", "expires_in": 3600}
        refusal = {"error": "invalid_grant", "error_description": "Account was disabled"}
        body = json.dumps(refusal if self.server.refuse else {**token, "token_type": "Bearer"}).encode()
        self.send_response(400 if self.server.refuse else 200)
        self.send_header("content-type", "application/json")
        self.send_header("content-length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def log_message(self, *args: Any) -> None:
        pass


@pytest.fixture(scope="module")
def private_key() -> str:
    key = rsa.generate_private_key(public_exponent=65537, key_size=2048)
    form = serialization.PrivateFormat.PKCS8
    return key.private_bytes(serialization.Encoding.PEM, form, serialization.NoEncryption()).decode()


@pytest.fixture
def tokens(private_key: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[TokenServer]:
    with TokenServer() as server:
        thread = threading.Thread(target=server.serve_forever, args=(0.05,))
        thread.start()
        account = {
            "type": "service_account",
            "project_id": "a-project",
            "private_key_id": "1",
            "private_key": private_key,
            "client_email": "tests@a-project.iam.gserviceaccount.com",
            "client_id": "1",
            "token_uri": f"http://127.0.0.1:{server.server_port}/token",
        }
        path = tmp_path / "account.json"
        path.write_text(json.dumps(account))
        monkeypatch.setenv("GOOGLE_APPLICATION_CREDENTIALS", str(path))
        for name in ("GOOGLE_CLOUD_PROJECT", "GOOGLE_CLOUD_LOCATION", "CLOUD_ML_REGION"):
            monkeypatch.delenv(name, raising=False)
        yield server
        server.shutdown()
        thread.join(10)


async def said(provider: Any) -> Any:
    return [event async for event in provider.fetch(ASK, [])]


async def test_claude_is_asked_at_its_own_address_with_a_token_of_the_real_sign_in(tokens):
    async with ScriptedServer([CLAUDE]) as server:
        provider = Registry().build("vertex:claude-sonnet-5-5", base_url=server.url, location="europe-west1")
        events = await said(provider)
        await provider.aclose()
    assert (Saying(text="hi"), Stop(reason="end")) == (events[0], events[-1])
    [asked], [request] = tokens.asked, server.requests
    assert asked["grant_type"] == ["urn:ietf:params:oauth:grant-type:jwt-bearer"]
    place = "/v1/projects/a-project/locations/europe-west1/publishers/anthropic/models"
    assert f"{place}/claude-sonnet-5-5:streamRawPredict" == request.path
    assert request.headers["authorization"] == "Bearer ya29.token-number-1"
    assert request.json["anthropic_version"] == "vertex-2023-10-16"
    assert "model" not in request.json


async def test_gemini_is_asked_in_its_own_protocol(tokens):
    async with ScriptedServer([GEMINI]) as server:
        provider = Registry().build("vertex:gemini-3.8-flash", base_url=server.url)
        events = await said(provider)
        await provider.aclose()
    assert [Saying(text="hi"), Stop(reason="end")] == events
    place = "/v1/projects/a-project/locations/global/publishers/google/models"
    assert f"{place}/gemini-3.8-flash:streamGenerateContent?alt=sse" == server.requests[0].path


async def test_a_token_that_has_run_out_is_renewed_in_the_middle_of_a_session(tokens):
    async with ScriptedServer([CLAUDE]) as server:
        provider: Any = Registry().build("vertex:claude-sonnet-5-5", base_url=server.url)
        await said(provider)
        await said(provider)
        assert len(tokens.asked) == 1
        provider._credentials.expiry = datetime.now(UTC).replace(tzinfo=None) - timedelta(seconds=1)
        await said(provider)
        await provider.aclose()
    expected = ["Bearer ya29.token-number-1", "Bearer ya29.token-number-1", "Bearer ya29.token-number-2"]
    assert expected == [request.headers["authorization"] for request in server.requests]


async def test_a_token_that_was_taken_back_is_renewed_once(tokens):
    async with ScriptedServer([answer(401, {"error": {"message": "expired"}}), CLAUDE]) as server:
        provider = Registry().build("vertex:claude-sonnet-5-5", base_url=server.url)
        assert Saying(text="hi") in await said(provider)
        await provider.aclose()
    assert server.requests[1].headers["authorization"] == "Bearer ya29.token-number-2"


async def test_a_refused_sign_in_is_told_in_three_lines_without_the_key(tokens, private_key):
    tokens.refuse = True
    provider = Registry().build("vertex:claude-sonnet-5-5", base_url="http://127.0.0.1:1")
    with pytest.raises(MissingKey, match="Account was disabled") as caught:
        await said(provider)
    assert len(str(caught.value).splitlines()) == 3
    assert private_key not in str(caught.value)


def test_missing_credentials_name_their_remedy(monkeypatch, tmp_path):
    monkeypatch.setenv("GOOGLE_APPLICATION_CREDENTIALS", str(tmp_path / "none.json"))
    with pytest.raises(MissingKey, match="GOOGLE_APPLICATION_CREDENTIALS"):
        Registry().build("vertex")


def test_a_missing_project_is_asked_for(tokens, tmp_path, monkeypatch):
    path = tmp_path / "account.json"
    path.write_text(json.dumps({**json.loads(path.read_text()), "project_id": ""}))
    with pytest.raises(ConfigError, match="GOOGLE_CLOUD_PROJECT"):
        Registry().build("vertex")


@pytest.mark.parametrize(
    ("location", "expected"),
    [
        ("us-east5", "us-east5-aiplatform.googleapis.com"),
        ("global", "aiplatform.googleapis.com"),
        ("us", "aiplatform.us.rep.googleapis.com"),
        ("eu", "aiplatform.eu.rep.googleapis.com"),
    ],
)
def test_each_location_has_its_host(location, expected):
    assert expected == host(location)


async def test_an_answer_in_one_piece_signs_in_and_renews_what_was_taken_back(tokens):
    taken_back = answer(401, {"error": {"message": "expired"}})
    async with ScriptedServer([GEMINI, taken_back, GEMINI]) as server:
        provider: Any = Registry().build("vertex:gemini-3.8-flash", base_url=server.url)
        assert Saying(text="hi") in await provider.once(ASK, [])
        assert Saying(text="hi") in await provider.once(ASK, [])
        await provider.aclose()
    sent = [request.headers["authorization"][-1] for request in server.requests]
    assert ["1", "1", "2"] == sent


async def test_many_rows_that_find_the_token_run_out_renew_it_once(tokens):
    async with ScriptedServer([GEMINI] * 13) as server:
        provider: Any = Registry().build("vertex:gemini-3.8-flash", base_url=server.url)
        await provider.once(ASK, [])
        provider._credentials.expiry = datetime.now(UTC).replace(tzinfo=None) - timedelta(seconds=1)
        await asyncio.gather(*(provider.once(ASK, []) for _ in range(12)))
        await provider.aclose()
    assert 2 == len(tokens.asked)
