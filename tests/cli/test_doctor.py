"""`agent-magics doctor` and `local`: what is here, said honestly, and never a key."""

from __future__ import annotations

import os
import re

from agent_magics.cli.local import Bar
from agent_magics.providers.local.weights import Progress
from tests.cli.processes import at_terminal, run

SECRET = "sk-test-0123456789abcdef"


def test_the_table_says_what_is_here_and_what_to_do():
    done = run("doctor")
    for line in ("agent-magics  0.", "Python        3.", "isolation     level ", "data folder   "):
        assert f"  {line}" in done.stdout or f"! {line}" in done.stdout
    assert (
        "openai        no key; default model gpt-6.1-terra\n                → Set $OPENAI_API_KEY."
        in done.stdout
    )
    assert "Traceback" not in done.stderr


def test_a_key_is_told_by_its_place_and_never_shown(monkeypatch):
    monkeypatch.setenv("OPENAI_API_KEY", SECRET)
    done = run("doctor")
    assert "openai        key found ($OPENAI_API_KEY)" in done.stdout
    assert "model         openai, because its key was found" in done.stdout
    assert SECRET not in done.stdout + done.stderr


def test_a_key_that_can_not_be_sent_is_a_finding_not_a_crash(monkeypatch):
    monkeypatch.setenv("ANTHROPIC_API_KEY", "two words")
    done = run("doctor")
    assert 1 == done.returncode
    assert "! anthropic     The key from $ANTHROPIC_API_KEY can't be sent." in done.stdout
    assert "two words" not in done.stdout + done.stderr


def test_a_data_folder_that_can_not_be_made_is_said(monkeypatch, tmp_path):
    (tmp_path / "file").write_text("")
    monkeypatch.setenv("AGENT_MAGICS_HOME", str(tmp_path / "file" / "home"))
    done = run("doctor")
    assert (1, True) == (done.returncode, "can't be written" in done.stdout)


def test_the_conversations_are_counted_where_they_are_kept(monkeypatch, home):
    assert "none yet" in run("doctor").stdout
    run("chat", "-p", "stub", stdin="hello\n")
    file = home / "agent_magics" / "sessions.db"
    assert re.search(rf"1 in\s+{re.escape(str(file))}", run("doctor").stdout)
    monkeypatch.setenv("AGENT_MAGICS_STORE", "off")
    assert "$AGENT_MAGICS_STORE is off" in run("doctor").stdout


def test_the_doctor_says_at_what_it_runs():
    assert "no terminal for input, output, errors" in run("doctor").stdout
    with at_terminal("doctor") as screen:
        screen.expect("front end     terminal (xterm)")
        screen.expect("data folder")
        screen.end()


def test_a_bar_without_a_terminal_is_a_line_a_stage(capsys):
    bar = Bar()
    for stage in ("Fetching", "Checking"):
        for done in range(0, 101, 10):
            bar(Progress(stage=stage, done=done, total=100))
    assert "Fetching\nChecking\n" == capsys.readouterr().err


def test_the_version_is_told():
    assert os.linesep in run("--version").stdout or "agent-magics" in run("--version").stdout
