"""Keys are planted, everything fails, and whatever was written anywhere is searched for them."""

from __future__ import annotations

import json
import re
import subprocess
import sys
import threading
from collections.abc import Iterator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any

import nbformat
import pytest
from cryptography.hazmat.primitives import serialization
from cryptography.hazmat.primitives.asymmetric import rsa
from nbclient import NotebookClient

ROOT = Path(__file__).resolve().parents[2]
KERNEL = "ipykernel-7.4.0"
LIMIT = 250

pytestmark = pytest.mark.timeout(300)

PLANTED = {
    "ANTHROPIC_API_KEY": "planted.anthropic.0a1b2c3d4e5f",
    "OPENAI_API_KEY": "planted.openai.6a7b8c9d0e1f",
    "GEMINI_API_KEY": "planted.gemini.2a3b4c5d6e7f",
    "OLLAMA_API_KEY": "planted.ollama.8a9b0c1d2e3f",
}
GIVEN = "planted.given-in-code.4a5b6c7d8e9f"
TOKEN = "planted.google-token.1a2b3c4d5e6f"

SPECS: dict[str, dict[str, Any]] = {
    "anthropic:m": {},
    "openai:m": {"api": "responses"},
    "openai:c": {"api": "chat", "headers": {"x-extra": GIVEN}},
    "gemini:m": {},
    "ollama:m": {},
    "llama": {"api_key": GIVEN},
    "vertex:claude-m": {},
    "vertex:gemini-m": {},
}
MODES = ("refused", "bad-request", "in-stream", "garbage", "dropped", "redirected")


class Echo(BaseHTTPRequestHandler):
    """Gives every key back that it is sent, in the way that the address names."""

    protocol_version = "HTTP/1.1"

    def do_GET(self) -> None:
        self.do_POST()

    def do_POST(self) -> None:
        body = self.rfile.read(int(self.headers.get("content-length") or 0))
        secrets = [self.headers.get(name, "") for name in ("authorization", "x-api-key", "x-goog-api-key")]
        said = f"Incorrect key {' '.join(secrets)} {self.headers.get('x-extra', '')} in {len(body)} bytes"
        self.server.seen.append(said)  # type: ignore[attr-defined]
        error = {"error": {"message": said, "type": "invalid_request_error", "param": said, "code": "x"}}
        match self.path.split("/")[1]:
            case "token":
                self._send(200, {"access_token": TOKEN, "expires_in": 3600, "token_type": "Bearer"})
            case "refused":
                self._send(401, error)
            case "bad-request":
                self._send(400, error)
            case "in-stream":
                self._send(200, f"data: {json.dumps(error)}\n\n".encode())
            case "garbage":
                self._send(200, f"data: {said}\n\n".encode())
            case "redirected":
                self._send(302, said.encode(), location=f"http://127.0.0.1:9/?key={secrets[0]}")
            case _:
                self.close_connection = True

    def _send(self, status: int, body: Any, **headers: str) -> None:
        data = body if isinstance(body, bytes) else json.dumps(body).encode()
        self.send_response(status)
        for name, value in {**headers, "content-length": str(len(data))}.items():
            self.send_header(name, value)
        self.end_headers()
        self.wfile.write(data)

    def log_message(self, *args: Any) -> None:
        pass


@pytest.fixture(scope="module")
def echo() -> Iterator[ThreadingHTTPServer]:
    with ThreadingHTTPServer(("127.0.0.1", 0), Echo) as server:
        server.seen = []  # type: ignore[attr-defined]
        thread = threading.Thread(target=server.serve_forever, args=(0.05,))
        thread.start()
        yield server
        server.shutdown()
        thread.join(10)


@pytest.fixture(scope="module")
def url(echo: ThreadingHTTPServer) -> str:
    return f"http://127.0.0.1:{echo.server_port}"


@pytest.fixture(scope="module")
def pem() -> str:
    form = serialization.PrivateFormat.PKCS8
    key = rsa.generate_private_key(public_exponent=65537, key_size=2048)
    return key.private_bytes(serialization.Encoding.PEM, form, serialization.NoEncryption()).decode()


@pytest.fixture
def secrets(pem: str) -> list[str]:
    return [*PLANTED.values(), GIVEN, TOKEN, pem.splitlines()[5]]


@pytest.fixture
def planted(monkeypatch: pytest.MonkeyPatch, tmp_path: Path, url: str, pem: str) -> None:
    """The keys where each provider looks for them."""
    account = {
        "type": "service_account",
        "project_id": "a-project",
        "private_key_id": "1",
        "private_key": pem,
        "client_email": "agent@a-project.iam.gserviceaccount.com",
        "token_uri": f"{url}/token",
    }
    (tmp_path / "account.json").write_text(json.dumps(account))
    monkeypatch.setenv("GOOGLE_APPLICATION_CREDENTIALS", str(tmp_path / "account.json"))
    monkeypatch.setenv("PYTHONPATH", str(ROOT))
    for name, value in PLANTED.items():
        monkeypatch.setenv(name, value)
    for name in ("ANTHROPIC_BASE_URL", "OPENAI_BASE_URL", "GOOGLE_GEMINI_BASE_URL"):
        monkeypatch.setenv(name, f"{url}/refused")


def leaks(secrets: list[str], folder: Path, *texts: str) -> dict[str, list[str]]:
    """Where a secret stands, with what is around it."""
    files = {str(path): path.read_bytes() for path in folder.rglob("*") if path.is_file()}
    places = files | {f"text {number}": text.encode() for number, text in enumerate(texts)}
    return {
        place: [
            data[max(0, at.start() - 60) : at.end() + 20].decode(errors="replace")
            for secret in secrets
            for at in re.finditer(re.escape(secret.encode()), data)
        ]
        for place, data in places.items()
        if any(secret.encode() in data for secret in secrets)
    }


def test_a_program_that_shows_logs_and_keeps_everything_never_holds_a_key(
    planted: None, tmp_path: Path, url: str, home: Path, secrets: list[str], echo: Any
) -> None:
    folder = home / "kept"
    folder.mkdir()
    done = subprocess.run(
        [sys.executable, Path(__file__).with_name("careless.py"), url, folder],
        capture_output=True,
        text=True,
        timeout=LIMIT,
        check=True,
    )
    assert {} == leaks(secrets, home, done.stdout, done.stderr)
    assert len(SPECS) * len(MODES) <= done.stdout.count("ASKED")
    assert all(any(secret in said for said in echo.seen) for secret in secrets[:-1])
    assert "[key]" in done.stdout
    assert {"facts.jsonl", "program.log", "turns.json"} == {path.name for path in folder.iterdir()}


def test_a_saved_notebook_never_holds_a_key(
    planted: None, tmp_path: Path, url: str, home: Path, secrets: list[str], capfd: pytest.CaptureFixture[str]
) -> None:
    asked = [
        f"%agent -p {spec} --base-url {url}/{mode} hello"
        for spec in ("anthropic:m", "openai:m", "gemini:m", "ollama:m", "vertex:claude-m")
        for mode in ("refused", "in-stream", "garbage")
    ]
    code = [
        "%load_ext agent_magics",
        "import logging; logging.basicConfig(level=logging.DEBUG)",
        *asked,
        "%agent -p openai:m --base-url http://[no-address hello",
        "%agent /doctor",
        "%agent /status",
        "_turn",
        "from agent_magics import current_session; current_session().conversation",
        f"from agent_magics import Session; s = Session('openai:m', base_url='{url}/refused', "
        f"api_key={GIVEN[:9]!r} + {GIVEN[9:]!r}); s.ask('hello')",
        "print(s, s.provider, s.turn); s.provider",
    ]
    notebook = nbformat.v4.new_notebook(cells=[nbformat.v4.new_code_cell(each) for each in code])
    client = NotebookClient(notebook, kernel_name=KERNEL, timeout=LIMIT, allow_errors=True)
    client.execute(cwd=str(home))
    nbformat.write(notebook, home / "saved.ipynb")
    saved = (home / "saved.ipynb").read_text()
    out, err = capfd.readouterr()
    assert {} == leaks(secrets, home, out, err)
    assert len(asked) <= saved.count("[key]")
    assert len(saved) > 10_000
