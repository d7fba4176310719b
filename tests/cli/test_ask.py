"""L16: `agent-magics ask`: the reply on standard output, the rest aside, and a telling exit code."""

from __future__ import annotations

import subprocess
import sys
import threading

import pytest

from agent_magics import Session
from agent_magics.cli import main
from agent_magics.testing import ScriptedProvider
from tests.cli.processes import PROGRAM, at_terminal, environment, run


def test_the_reply_is_on_standard_output_and_the_progress_on_standard_error():
    done = run("ask", "-p", "scripted:two-steps", "1", "+", "2?")
    assert ("It is 3.\n", 0) == (done.stdout, done.returncode)
    assert "· add(a=1, b=2) → 3" in done.stderr
    assert "[script · " in done.stderr
    assert "It is 3." not in done.stderr


def test_the_model_may_be_named_by_itself():
    assert "hi\n" == run("ask", "-p", "scripted", "--model", "echo", "hi").stdout


@pytest.mark.parametrize(
    ("model", "code", "out", "said"),
    [
        ("failure", 1, "Half an\n", "No connection.\nThe cable is out.\nPlug it in.\n"),
        ("halt", 1, "", "Enough."),
        ("circle", 3, "That is all.\n", "same calls"),
        ("truncated", 3, "Too lo\n", "Cut off"),
        ("window", 3, "", "no longer fits"),
        ("refusal", 4, "I won't.\n", "declined"),
    ],
)
def test_the_exit_code_says_how_the_turn_ended(model, code, out, said):
    done = run("ask", "-p", f"scripted:{model}", "go")
    assert (code, out) == (done.returncode, done.stdout)
    assert said in done.stderr


def test_a_cap_on_rounds_can_be_set():
    done = run("ask", "-p", "scripted:circle", "--max-rounds", "1", "go")
    assert 3 == done.returncode


def test_a_recorded_turn_is_played_without_asking_anybody(tmp_path):
    record, first = tmp_path / "talk.json", Session(ScriptedProvider(["It is 4."]), cwd=tmp_path)
    first.ask("2 + 2?")
    first.command(f"/export {record}")
    played = run("ask", "-p", "scripted:failure", "--replay", str(record), "2 + 2?")
    assert ("It is 4.\n", 0) == (played.stdout, played.returncode)
    missed = run("ask", "-p", "scripted:echo", "--replay", str(record), "3 + 3?")
    assert ("", 2) == (missed.stdout, missed.returncode)
    assert "not in the record" in missed.stderr


def test_a_budget_ends_the_turn_with_what_it_had_and_the_exit_code_of_a_cap():
    done = run("ask", "-p", "scripted:hang", "--max-seconds", "0.3", "go")
    assert ("Once upon\n", 3) == (done.stdout, done.returncode)
    assert "the budget of this turn is used up" in done.stderr
    assert "of 300 ms." in done.stderr


def test_tokens_have_a_budget_too():
    done = run("ask", "-p", "scripted:circle", "--max-total-tokens", "1", "go")
    assert 3 == done.returncode
    assert "of 1 token." in done.stderr


def test_a_budget_in_dollars_needs_a_price():
    done = run("ask", "-p", "scripted:echo", "--budget", "1", "hi")
    assert ("", 2) == (done.stdout, done.returncode)
    assert "its price is not known" in done.stderr
    assert 0 == run("ask", "-p", "demo", "--budget", "1", "hello").returncode


# -- input -----------------------------------------------------------------------------------------


def test_piped_input_is_appended_in_a_fence():
    assert (
        "Count:\n\n```\none two\nthree\n```\n"
        == run("ask", "-p", "scripted:echo", "Count:", stdin="one two\nthree\n").stdout
    )


def test_a_fence_in_the_input_does_not_end_the_fence():
    done = run("ask", "-p", "scripted:echo", "Explain:", stdin="```py\n1\n```")
    assert "Explain:\n\n````\n```py\n1\n```\n````\n" == done.stdout


def test_piped_input_alone_is_the_prompt():
    assert "hello\n" == run("ask", "-p", "scripted:echo", stdin="hello").stdout


def test_input_that_is_no_text_is_taken_as_far_as_it_is():
    done = run("ask", "-p", "scripted:echo", "What?", stdin=b"\xff\xfe ok")
    assert (0, "What?\n\n```\n\ufffd\ufffd ok\n```\n") == (done.returncode, done.stdout)


def test_an_input_that_stays_open_is_waited_for_and_that_is_said():
    with subprocess.Popen(
        [sys.executable, PROGRAM, "ask", "-p", "scripted:echo", "Count:"],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        env=environment(),
        text=True,
    ) as process:
        limit = threading.Timer(60, process.kill)
        limit.start()
        try:
            assert process.stderr is not None
            assert process.stderr.readline().startswith("Reading standard input to its end")
            out, _ = process.communicate("one\n")
        finally:
            limit.cancel()
            process.kill()
    assert "Count:\n\n```\none\n```\n" == out


def test_words_that_look_like_options_come_after_two_dashes():
    assert "-p is what?\n" == run("ask", "-p", "scripted:echo", "--", "-p is what?").stdout


# -- what can't be taken ---------------------------------------------------------------------------


@pytest.mark.parametrize("words", [[], ["   "]])
def test_without_a_prompt_it_is_2(words):
    done = run("ask", *words)
    assert (2, "") == (done.returncode, done.stdout)
    assert done.stderr.startswith("There is no prompt.")


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        ([], "usage: agent-magics"),
        (["sing"], "invalid choice: 'sing'"),
        (["ask", "--sing", "go"], "--sing"),
        (["ask", "--approve", "perhaps", "go"], "invalid choice: 'perhaps'"),
        (["ask", "--max-rounds", "many", "go"], "invalid int value: 'many'"),
        (["chat", "-p", "stub", "--max-rounds", "0"], "It must be at least 1."),
        (["local"], "usage: agent-magics local"),
    ],
)
def test_a_command_line_that_can_not_be_taken_is_2(arguments, said, capsys):
    try:
        code = main(arguments)
    except SystemExit as left:  # argparse leaves by itself
        code = left.code
    shown = capsys.readouterr()
    assert (2, "") == (code, shown.out)
    assert said in shown.err


def test_an_unknown_provider_is_an_error_in_three_lines():
    done = run("ask", "-p", "nobody", "go")
    assert (1, "", 3) == (done.returncode, done.stdout, len(done.stderr.strip().split("\n")))
    assert done.stderr.startswith("unknown provider 'nobody'. Available: ")


def test_a_missing_key_is_an_error_that_names_the_variable():
    done = run("ask", "-p", "openai:gpt-x", "go")
    assert (1, "") == (done.returncode, done.stdout)
    assert "OPENAI_API_KEY" in done.stderr
    assert "Traceback" not in done.stderr


# -- approvals -------------------------------------------------------------------------------------


def test_where_standard_input_is_no_terminal_nobody_is_asked_and_that_is_said():
    done = run("ask", "-p", "scripted:approval", "go")
    assert (0, "Done.\n") == (done.returncode, done.stdout)
    assert "reject, by policy: standard input is not a terminal, so nobody could be asked" in done.stderr


def test_approve_always_asks_nobody_and_says_so():
    done = run("ask", "-p", "scripted:approval", "--approve", "always", "go")
    assert "Nobody was asked about remove: approve='always'." in done.stderr
    assert "→ removed 9 characters" in done.stderr


def test_at_a_terminal_everything_is_shown_with_nothing_hidden_and_the_answer_is_taken():
    with at_terminal("ask", "-p", "scripted:approval", "go") as screen:
        shown = screen.expect("Approve? [y]es, [a]lways this session, [N]o, and perhaps a comment: ")
        assert 'path = "a⟨U+202E⟩txt.exe"' in shown
        assert "\x1b[2J" not in shown
        assert "2Jy" in shown
        screen.type("y\n")
        screen.expect("→ removed 9 characters")
        screen.expect("Approve? ")
        screen.type("n not again\n")
        screen.expect("“not again”")
        screen.expect("Done.")
        assert 0 == screen.end()


@pytest.mark.parametrize("typed", ["\n", "N\n", "maybe\n", "\x04"])
def test_what_is_no_clear_yes_is_a_no(typed):
    with at_terminal("ask", "-p", "scripted:approval", "go") as screen:
        screen.expect("Approve? ")
        screen.type(typed)
        screen.expect("rejected")
        screen.expect("Done.")
        assert 0 == screen.end()
        assert "removed" not in screen.text


def test_always_is_asked_once():
    with at_terminal("ask", "-p", "scripted:approval", "go") as screen:
        screen.expect("Approve? ")
        screen.type("a\n")
        screen.expect("Done.")
        assert 0 == screen.end()
        assert 1 == screen.text.count("Approve? ")


def test_what_was_typed_before_the_question_is_no_answer():
    with at_terminal("ask", "-p", "scripted:approval", "go") as screen:
        screen.type("y\ny\n")
        screen.expect("Approve? ")
        screen.type("n\n")
        screen.expect("rejected by you")
        screen.expect("Done.")
        assert 0 == screen.end()
        assert "removed" not in screen.text


def test_a_script_at_a_terminal_asks_there_and_prints_what_it_likes():
    with at_terminal("script") as screen:
        screen.expect("Run this? remove")
        screen.expect("Approve? ")
        screen.type("y\n")
        screen.expect("Approve? ")
        screen.type("n\n")
        assert "[script" not in screen.expect("reply: Done.")
        screen.expect("nobody waits for this turn at the terminal")
        assert 0 == screen.end()


def test_a_question_that_nobody_answers_is_over_and_the_turn_goes_on():
    with at_terminal("impatient") as screen:
        screen.expect("Approve? ")
        screen.expect("The time to answer is over.")
        screen.expect("rejected, nobody answered")
        screen.expect("Done.")
        assert 0 == screen.end()


# -- interrupts and closed pipes -------------------------------------------------------------------


def test_an_interrupt_cancels_keeps_what_was_said_and_is_130(tmp_path):
    with (
        (tmp_path / "out").open("w") as out,
        at_terminal("ask", "-p", "scripted:hang", "go", stdout=out.fileno()) as screen,
    ):
        screen.expect("Once upon")
        screen.interrupt()
        screen.expect("Stopped.")
        assert 130 == screen.end()
    assert "Once upon\n" == (tmp_path / "out").read_text()


def test_an_interrupt_leaves_a_tool_behind_that_will_not_end():
    with at_terminal("ask", "-p", "scripted:sleep", "go") as screen:
        screen.expect("asleep")
        screen.interrupt()
        screen.expect("it was left behind")
        assert 130 == screen.end()


def test_an_interrupt_while_somebody_is_asked_is_obeyed():
    with at_terminal("ask", "-p", "scripted:approval", "go") as screen:
        screen.expect("Approve? ")
        screen.interrupt()
        screen.expect("Stopped.")
        assert 130 == screen.end()


def test_a_reader_that_has_enough_ends_it_without_a_traceback():
    command = f"{sys.executable} {PROGRAM} ask -p scripted:long go | head -c 10"
    done = subprocess.run(
        ["sh", "-c", command],
        stdin=subprocess.DEVNULL,
        capture_output=True,
        timeout=60,
        env=environment(),
        check=False,
    )
    assert b"word word " == done.stdout
    assert b"Traceback" not in done.stderr
    assert b"Exception" not in done.stderr


def test_what_a_model_says_does_not_steer_the_terminal():
    with at_terminal("ask", "-p", "scripted:codes", "go") as screen:
        screen.expect("plain")
        assert 0 == screen.end()
        assert "\x1b[2J" not in screen.text
        assert "\x1b]0;" not in screen.text


def test_at_a_terminal_that_goes_into_a_file_the_words_are_watched_and_the_reply_is_kept(tmp_path):
    with (
        (tmp_path / "out").open("w") as out,
        at_terminal("ask", "-p", "scripted:two-steps", "go", stdout=out.fileno()) as screen,
    ):
        screen.expect("Let me add.")
        screen.expect("It is 3.")
        assert 0 == screen.end()
    assert "It is 3.\n" == (tmp_path / "out").read_text()


@pytest.mark.parametrize(
    ("command", "said"),
    [
        ("ask -p scripted:echo hi > /dev/full", "No space left on device."),
        ("doctor > /dev/full", "No space left on device."),
        ("local install", "/proc/nothing: No such file or directory."),
    ],
)
def test_a_file_that_fails_is_told_in_three_lines(command, said):
    done = subprocess.run(
        ["sh", "-c", f"{sys.executable} {PROGRAM} {command}"],
        stdin=subprocess.DEVNULL,
        capture_output=True,
        text=True,
        timeout=60,
        env={**environment(), "AGENT_MAGICS_HOME": "/proc/nothing"},
        check=False,
    )
    assert 1 == done.returncode
    assert [
        "A file or the output can't be used.",
        said,
        "Make room or give it another place; $AGENT_MAGICS_HOME names the data folder.",
    ] == done.stderr.splitlines()[-3:]


def test_an_error_does_not_steer_the_terminal():
    done = run("ask", "-p", "nobody\x1b[2J", "hi")
    assert (1, True, False) == (done.returncode, "unknown provider" in done.stderr, "\x1b" in done.stderr)
