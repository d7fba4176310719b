"""IPython in a terminal: the same magics, with lines of text in place of a panel."""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

pexpect = pytest.importorskip("pexpect")  # IPython brings it, but not to Windows

PROMPT = r"In \[\d+\]: "
SCRIPT = """\
from agent_magics import current_session; from agent_magics.talk import Saying, ToolCall; \
from agent_magics.testing import Hang, ScriptedProvider; \
play = lambda *said: setattr(current_session(), "provider", ScriptedProvider(said)); \
run = lambda code: ToolCall(id="c1", name="run_python", arguments={"code": code})"""

Type = Callable[..., str]


@pytest.fixture
def typed(tmp_path: Path) -> Iterator[Type]:
    """Type a line; what the terminal says until it waits for the next one."""
    child = pexpect.spawn(
        sys.executable,
        ["-m", "IPython", "--simple-prompt", "--no-banner", "--colors=NoColor", "--no-confirm-exit"],
        cwd=str(tmp_path),
        encoding="utf-8",
        timeout=60,
        dimensions=(60, 200),
    )
    child.expect(PROMPT)

    def line(text: str, until: str = PROMPT) -> str:
        child.sendintr() if text == "^C" else child.sendline(text)
        child.expect(until)
        return child.before.replace("\r\n", "\n")

    line("%load_ext agent_magics")
    line(SCRIPT)
    yield line
    child.close(force=True)


def test_a_turn_is_told_in_lines_and_asks_for_a_line(typed: Type) -> None:
    typed("play(run('answer = 6 * 7'), 'It is 42.')")
    asked = typed("%agent --into reply What is six times seven?", until="comment: ")
    assert asked.count("   1  answer = 6 * 7\n") == 1
    said = typed("y")
    assert "It is 42.\n" in said
    assert "42 It is 42." in typed("print(answer, reply)")


def test_a_no_is_told_to_the_model(typed: Type) -> None:
    typed("play(run('answer = 6 * 7'), 'As you like.')")
    typed("%agent What is six times seven?", until="comment: ")
    assert "reject, by you: not today" in typed("n not today")
    assert "False" in typed("print('answer' in globals())")


def test_an_interrupt_stops_the_turn_and_not_the_shell(typed: Type) -> None:
    typed("play([Saying(text='So far, '), Hang()])")
    typed("%agent go on", until="So far, ")
    assert "Stopped." in typed("^C")
    assert "cancelled" in typed("print(_turn.stop)")
    typed("play(run('n = 1'))")
    typed("%agent go on", until="comment: ")
    assert "Stopped." in typed("^C")
    assert "Here I am." in typed("play('Here I am.')") + typed("%agent hello")


def test_a_look_at_the_session_is_readable_as_text(typed: Type) -> None:
    typed("play('')")
    assert "lines of text" in typed("%agent")
    assert "--into NAME" in typed("%agent --help")


def test_a_script_without_a_terminal_prints_the_whole_answer(tmp_path: Path) -> None:
    script = tmp_path / "talk.ipy"
    script.write_text(f"%load_ext agent_magics\n{SCRIPT}\nplay('word ' * 200 + 'end')\n%agent go on\n")
    ran = subprocess.run(
        [sys.executable, "-m", "IPython", "--colors=NoColor", str(script)],
        check=False,
        cwd=tmp_path,
        stdin=subprocess.DEVNULL,
        capture_output=True,
        text=True,
        timeout=60,
    )
    assert "word " * 200 + "end" in ran.stdout
