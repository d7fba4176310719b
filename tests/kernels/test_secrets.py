"""Keys turn up wherever they can in real notebooks, and then every byte that was kept or sent is searched."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from pathlib import Path

import nbformat
import pytest
from nbclient import NotebookClient

from tests.kernels.conftest import on_kernel
from tests.kernels.kernel import ROOT, LiveKernel
from tests.kernels.page import Page

pytestmark = pytest.mark.timeout(300)

PLANTED = {
    "OPENAI_API_KEY": "planted-openai-6a7b8c9d0e1f",
    "GITHUB_TOKEN": "planted-github-2a3b4c5d6e7f",
    "GEMINI_API_KEY": 'planted"quoted/4f5a6b7c8d9e',
}

CELLS = (
    "%load_ext agent_magics",
    """
import logging, os
logging.basicConfig(level=logging.DEBUG)
from agent_magics import current_session, tool
from agent_magics.talk import Saying, Stop, Thinking, ToolCall, Usage
from agent_magics.testing import ScriptedProvider
from agent_magics.tools.running import progress

KEYS = [os.environ[name] for name in ("OPENAI_API_KEY", "GITHUB_TOKEN", "GEMINI_API_KEY")]
ALL = " and ".join(KEYS)
session = current_session()
session.policy.approve = "always"

@tool
def leak() -> dict:
    "Returns keys."
    progress(f"now {ALL}")
    return {"keys": KEYS, KEYS[0]: {"deep": [ALL]}, "long": "x" * 11_990 + ALL + "y" * 9_000}

@tool
def fail() -> str:
    "Fails with keys."
    raise ValueError(f"no such key: {ALL}")

session.toolbox.add(leak)
session.toolbox.add(fail)

def pieces(kind, text):
    "Every key is split over two pieces."
    cuts = [0, *(text.index(key) + len(key) // 2 for key in KEYS), len(text)]
    return [kind(text=text[a:b]) for a, b in zip(cuts, cuts[1:])]

def call(name, **arguments):
    return ToolCall(id="c1", name=name, arguments=arguments)

def play(*replies):
    session.provider = ScriptedProvider(replies)
""",
    """
thoughts, words = pieces(Thinking, f"I see {ALL} here"), pieces(Saying, f"You said {ALL} there.")
play([*thoughts, *words, Stop(reason="end")])
""",
    "turn = session.ask(f'My keys are {ALL}, are they good?'); turn",
    "play(call('leak'), call('more', handle='r1', page=1), call('fail'), call('leak', key=ALL), 'Done.')",
    "%agent go on",
    "play(call('run_python', code='print(ALL); ALL'), call('run_python', code='raise KeyError(ALL)'), "
    "call('run_python', code=f'x = {KEYS[0]!r}'), 'Done.')",
    "%agent run something",
    "play(RuntimeError(f'the vendor refuses {ALL}'))",
    "%agent hello",
    "play([*pieces(Saying, f'Half of it: {ALL} and'), RuntimeError(f'dropped {KEYS[1]}')])",
    "%agent hello",
    """
def watch(event):
    raise RuntimeError(f"a subscriber fails with {ALL}")

_ = session.subscribe(watch)
play(call("remember", fact=f"the key is {ALL}"), "Noted.")
""",
    "%agent remember it",
    "print(session.command(f'/remember also {KEYS[0]}'))",
    "%agent /facts",
    "%agent /context",
    "%agent /status",
    "_turn",
    "print(session, session.conversation, _turn)",
    "try: session.command(f'/provider {KEYS[0]}')\nexcept Exception as error: print(error)",
    "%agent /key openai",
    "logging.getLogger('agent_magics').warning('keys: %s', ALL)",
)


@pytest.fixture(autouse=True)
def planted(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PYTHONPATH", str(ROOT))
    for name, value in PLANTED.items():
        monkeypatch.setenv(name, value)


def forms(secret: str) -> set[str]:
    """A key as it is, and as JSON writes it, also JSON within JSON."""
    once = json.dumps(secret)[1:-1]
    return {secret, once, json.dumps(once)[1:-1]}


def leaks(folder: Path, *texts: str) -> dict[str, list[str]]:
    """Where a key stands, with what is around it."""
    files = {str(path): path.read_bytes() for path in folder.rglob("*") if path.is_file()}
    places = files | {f"text {number}": text.encode() for number, text in enumerate(texts)}
    found = {
        place: [
            data[max(0, at.start() - 80) : at.end() + 20].decode(errors="replace")
            for secret in PLANTED.values()
            for form in forms(secret)
            for at in re.finditer(re.escape(form.encode()), data)
        ]
        for place, data in places.items()
    }
    return {place: at for place, at in found.items() if at}


def test_planted_secrets_appear_nowhere_on_disk(home: Path, capfd: pytest.CaptureFixture[str]) -> None:
    notebook = nbformat.v4.new_notebook(cells=[nbformat.v4.new_code_cell(each) for each in CELLS])
    client = NotebookClient(notebook, kernel_name="ipykernel-7.4.0", timeout=120, allow_errors=True)
    client.execute(cwd=str(home))
    nbformat.write(notebook, home / "saved.ipynb")
    saved, (out, err) = (home / "saved.ipynb").read_text(), capfd.readouterr()
    assert leaks(home, out, err) == {}
    assert "The prompt held an API key" in saved
    assert "You said [key] and [key] and [key] there." in saved
    assert "no such key: [key] and [key] and [key]" in saved
    assert "the vendor refuses [key] and [key] and [key]" in saved
    assert "Half of it: [key] and [key] and [key] and" in saved
    assert "also [key]" in saved
    assert "Set $OPENAI_API_KEY" in saved, "nobody can type here, and the error says what to do"
    assert "a subscriber fails with [key]" in saved + out + err
    stored = [path for path in (home / "agent_magics").rglob("*") if path.is_file()]
    assert any(path.suffix == ".db" or "db" in path.name for path in stored), stored


@pytest.fixture(params=[on_kernel("6.31.0"), on_kernel("7.4.0")])
def page(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[Page]:
    folder = tmp_path / "notebooks"
    folder.mkdir()
    with LiveKernel(request.param, folder) as kernel:
        yield Page(kernel)


def test_a_front_end_is_never_sent_a_key(page: Page, tmp_path: Path) -> None:
    for cell in (each for each in CELLS if "/key" not in each):
        page.start(cell).result(60)
    heard = [json.dumps(message, default=str) for _, message in page.kernel.heard]
    sent = [each for each in heard if '"execute_input"' not in each]
    assert leaks(tmp_path, *sent) == {}
    assert any("[key]" in each for each in sent)


def test_a_key_is_typed_hidden_and_appears_nowhere(page: Page, tmp_path: Path) -> None:
    page.run("%load_ext agent_magics")
    cell = page.kernel.execute("%agent /key anthropic", allow_stdin=True)
    asked = page.kernel.next("stdin", "input_request")["content"]
    assert asked == {"prompt": "Key for anthropic (not shown): ", "password": True}
    page.kernel._client.input("typed-by-hand-" + "8f9e0d1c")
    assert cell.result()["status"] == "ok"
    said = page.run("from agent_magics.providers import keys\nprint(keys.find(['ANTHROPIC_API_KEY']))")
    assert page.printed(said) == "Key([key] from typed here)\n"
    assert "typed here" in page.shown(page.run("%agent /key"))
    everything = b"".join(path.read_bytes() for path in tmp_path.rglob("*") if path.is_file())
    heard = json.dumps([message for _, message in page.kernel.heard], default=str)
    assert "typed-by-hand-8f9e0d1c" not in heard + everything.decode(errors="replace")


def test_a_key_that_was_written_into_a_cell_is_not_kept_in_the_history_of_lines(
    page: Page, home: Path
) -> None:
    page.run("%load_ext agent_magics\nfrom agent_magics import current_session")
    page.run("current_session().provider = 'stub'")
    for code in (
        "%agent /key openai sk-on-the-line-1a2b3c4d",
        f"%%agent\nis {PLANTED['GITHUB_TOKEN']} good?",
    ):
        page.start(code).result()
        page.run("get_ipython().history_manager.writeout_cache()")
    kept = page.printed(
        page.run("print(In, _i3, _i5, _ii, _iii, list(get_ipython().history_manager.get_tail(9)))")
    )
    assert "/key openai [key]" in kept
    assert "is [key] good?" in kept
    page.kernel.close()
    files = {path.name: path.read_bytes() for path in home.rglob("*") if path.is_file()}
    assert "history.sqlite" in files
    for secret in (b"sk-on-the-line", PLANTED["GITHUB_TOKEN"].encode()):
        assert [] == [name for name, data in files.items() if secret in data]
        assert secret.decode() not in kept
