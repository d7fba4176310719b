"""The notebook is the record: a conversation comes back from the file alone, in real kernels."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import nbformat
import pytest
from nbclient.exceptions import CellExecutionError

from agent_magics.record.reading import MIME
from tests.kernels.running import run_notebook

KERNEL = "ipykernel-7.4.0"

LOAD = "%load_ext agent_magics"

TALK = """
from agent_magics import current_session
from agent_magics.talk import ToolCall
from agent_magics.testing import ScriptedProvider
current_session().policy.approve = "always"
current_session().provider = ScriptedProvider([
    ToolCall(id="c1", name="run_python", arguments={"code": "answer = 6 * 7"}),
    "It is **42**.",
    "As I said.",
])
"""

SENT = """
from agent_magics import current_session
from agent_magics.testing import ScriptedProvider
current_session().provider = model = ScriptedProvider(["You asked for six times seven."])
"""

LISTED = "for message in model.requests[-1][0][1:]:\n    print(message['role'], '|', message['content'])"


def run(folder: Path, *cells: str) -> Any:
    notebook = nbformat.v4.new_notebook(cells=[nbformat.v4.new_code_cell(cell) for cell in cells])
    return run_notebook(notebook, timeout=60, kernel_name=KERNEL, cwd=folder)


def printed(cell: Any) -> str:
    return "".join(output.get("text", "") for output in cell.outputs)


def said(cell: Any) -> str:
    return "\n".join(output.data["text/plain"] for output in cell.outputs if "data" in output)


@pytest.fixture
def mailed(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A folder with a notebook that somebody ran elsewhere, and a home that knows nothing of it."""
    (tmp_path / "theirs").mkdir()
    (tmp_path / "ours").mkdir()
    monkeypatch.setenv("AGENT_MAGICS_MODEL", "stub")
    monkeypatch.setenv("AGENT_MAGICS_HOME", str(tmp_path / "their home"))
    ran = run(tmp_path / "theirs", LOAD, TALK, "%%agent\nWhat is six times seven?", "%agent again", "_turn")
    nbformat.write(ran, tmp_path / "ours" / "mail.ipynb")
    monkeypatch.setenv("AGENT_MAGICS_HOME", str(tmp_path / "our home"))
    return tmp_path / "ours"


@pytest.mark.kernels
def test_a_notebook_that_came_by_mail_goes_on_without_the_database(mailed: Path) -> None:
    ran = run(mailed, LOAD, SENT, "%agent /restore mail.ipynb", "%agent and what did I ask?", LISTED)
    assert "2 turns from `mail.ipynb`" in said(ran.cells[2])
    lines = printed(ran.cells[-1])
    assert "user | " in lines and "What is six times seven?" in lines
    assert "assistant | It is **42**." in lines
    assert '"changed": {"new": ["answer"]}' in lines
    assert 2 == lines.count("from file mail.ipynb")


@pytest.mark.kernels
def test_it_brings_text_and_no_rights(mailed: Path) -> None:
    standing = (
        "session = current_session()\n"
        "print(session.policy.approve, session.policy.phase, session.policy.granted, 'answer' in globals())"
    )
    ran = run(mailed, LOAD, SENT, "%agent /restore mail.ipynb", standing, "%agent /context")
    assert "ask default set() False\n" == printed(ran.cells[3])
    assert "from file mail.ipynb" in said(ran.cells[4])


@pytest.mark.kernels
def test_alone_it_reads_this_notebooks_own_file(mailed: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("JPY_SESSION_NAME", str(mailed / "mail.ipynb"))
    ran = run(mailed, LOAD, SENT, "%agent /restore", "%agent /restore")
    assert "2 turns from `mail.ipynb`" in said(ran.cells[2])
    assert "Nothing new in `mail.ipynb`: 2 turns of it were here already." == said(ran.cells[3])


@pytest.mark.kernels
def test_a_notebook_plays_its_own_outputs(mailed: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("JPY_SESSION_NAME", str(mailed / "mail.ipynb"))
    monkeypatch.setenv("AGENT_MAGICS_MODEL", "anthropic")
    ran = run(mailed, LOAD, "%%agent --replay\nWhat is six times seven?", "%agent --replay again")
    data = [output.data[MIME] for cell in ran.cells[1:] for output in cell.outputs]
    assert ["It is **42**.", "As I said."] == [each["reply"] for each in data]
    assert {"replayed from mail.ipynb, not run"} == {each["origin"] for each in data}


@pytest.mark.kernels
@pytest.mark.parametrize(
    ("line", "why"),
    [
        ("%agent /restore", "/restore doesn't know which file to read."),
        ("%agent /restore gone.ipynb", "There is no file 'gone.ipynb'."),
        ("%agent /restore cleared.ipynb", "There are no turns in 'cleared.ipynb'."),
        ("%agent /restore talk.py", "'talk.py' can't be taken as a record."),
        ("%agent --replay hello", "This turn is not in the record, so it was not run."),
    ],
)
def test_what_can_not_be_done_is_said_in_three_lines(mailed: Path, line: str, why: str) -> None:
    book = nbformat.read(mailed / "mail.ipynb", as_version=4)
    for cell in book.cells:
        cell.outputs = []
    nbformat.write(book, mailed / "cleared.ipynb")
    (mailed / "talk.py").write_text("print('hello')\n")
    with pytest.raises(CellExecutionError) as failed:
        run(mailed, LOAD, line)
    assert why in str(failed.value)
    assert "Traceback" not in str(failed.value)


@pytest.mark.kernels
def test_an_exported_notebook_runs_again_and_is_a_record(
    mailed: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    run(
        mailed,
        LOAD,
        SENT,
        "%agent /restore mail.ipynb",
        "%agent /export copy.ipynb",
        "%agent /export copy.md",
    )
    monkeypatch.setenv("AGENT_MAGICS_RECORD", "copy.ipynb")
    copied = nbformat.read(mailed / "copy.ipynb", as_version=4)
    ran = run_notebook(copied, timeout=60, kernel_name=KERNEL, cwd=mailed)
    origins = [output.data[MIME]["origin"] for cell in ran.cells[2:] for output in cell.outputs]
    assert ["replayed from copy.ipynb, not run"] * 2 == origins
    assert "> What is six times seven?" in (mailed / "copy.md").read_text()
