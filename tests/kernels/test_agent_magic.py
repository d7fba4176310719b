"""``%%agent`` in a running cell, as people use it: approvals, order, what a turn binds; on every kernel."""

from __future__ import annotations

import pytest

from tests.kernels.conftest import oldest_and_newest, on_kernel
from tests.kernels.kernel import VERSIONS
from tests.kernels.page import Page

ROUTES = [on_kernel(version, "shell") for version in VERSIONS] + [
    on_kernel(version, "subshell") for version in VERSIONS if version != "6.31.0"
]
ASK = "play(run_python('answer = 6 * 7'), 'It is 42.')"

COUNTING = """
import ipywidgets.widgets.widget as widgets
current_session().policy.approve = "always"

def once():
    play(Thinking(text="Hm."), run_python("n = 1"), "Done.")
    get_ipython().run_line_magic("agent", "again")

def counted():
    return len(widgets._instances), sorted(thread.name for thread in threading.enumerate())
"""


@pytest.mark.parametrize(("kernel", "route"), ROUTES, indirect=["kernel"])
@pytest.mark.parametrize("button", ["Approve", "Always this session"])
def test_a_click_lets_the_call_run_inside_the_running_cell(page: Page, route: str, button: str) -> None:
    subshell = page.kernel.new_subshell() if route == "subshell" else None
    page.run(ASK)
    cell = page.start("%%agent\nWhat is six times seven?")
    page.press(button, subshell)
    assert cell.result()["status"] == "ok", page.error(cell)
    assert page.shown(cell).endswith("It is 42.")
    assert page.printed(page.run("print(answer)")) == "42\n"


@pytest.mark.parametrize(("kernel", "route"), ROUTES, indirect=["kernel"])
def test_reject_with_a_comment_is_told_to_the_model(page: Page, route: str) -> None:
    subshell = page.kernel.new_subshell() if route == "subshell" else None
    page.run(ASK)
    cell = page.start("%%agent\nWhat is six times seven?")
    page.button("Approve")
    page.write("Comment for the model", "not on the raw data")
    page.press("Reject", subshell)
    cell.result()
    assert "rejected by you" in page.shown(cell)
    assert "The user rejected this call: not on the raw data" in page.printed(page.run("print(told())"))
    assert page.printed(page.run("print('answer' in globals())")) == "False\n"


def test_queued_cells_keep_their_order_and_see_what_the_turn_bound(page: Page) -> None:
    page.run(ASK)
    cells = [
        page.start("%%agent reply <<\nWhat is six times seven?"),
        page.start("print(1, answer)"),
        page.start("print(2, reply)"),
        page.start("print(3, _turn.stop, _turn.reply == reply, len(_turn.steps))"),
    ]
    page.press("Approve")
    for cell in cells:
        assert cell.result()["status"] == "ok", page.error(cell)
    assert [page.printed(cell) for cell in cells[1:]] == ["1 42\n", "2 It is 42.\n", "3 done True 2\n"]
    assert [cell.result()["execution_count"] for cell in cells] == sorted(
        cell.result()["execution_count"] for cell in cells
    )


@oldest_and_newest
@pytest.mark.parametrize("line", ["--into reply", "reply <<", "--into=reply -- "])
def test_the_reply_is_bound_to_the_name_that_the_line_gives(page: Page, line: str) -> None:
    page.run("play('Forty-two.')")
    page.run(f"%%agent {line}\nWhat is six times seven?")
    assert page.printed(page.run("print(reply)")) == "Forty-two.\n"


@oldest_and_newest
def test_an_always_covers_the_same_text_and_no_other(page: Page) -> None:
    page.run("play(run_python('n = 1'), 'one.', run_python('n = 1'), 'again.', run_python('n = 2'), 'two.')")
    first = page.start("%agent set n")
    page.press("Always this session")
    first.result()
    page.run("%agent set n again")
    other = page.start("%agent set n to two")
    page.press("Reject")
    other.result()
    assert page.printed(
        page.run("print(n, [turn.reply for turn in current_session().conversation.turns])")
    ) == ("1 ['one.', 'again.', 'two.']\n")


@pytest.mark.parametrize(("word", "outcome"), [("approve", "42"), ("reject", "no answer")])
def test_an_approval_can_be_typed_under_its_id(page: Page, word: str, outcome: str) -> None:
    page.run(ASK)
    cell = page.start("%%agent\nWhat is six times seven?")
    page.button("Approve")
    typed = page.start(f"%agent /{word} {page.question()}")
    assert typed.result()["status"] == "ok"
    assert cell.result()["status"] == "ok"
    assert page.shown(typed) == f"{'Approved' if word == 'approve' else 'Rejected'}: `run_python`."
    assert page.printed(page.run("print(globals().get('answer', 'no answer'))")) == f"{outcome}\n"


def test_an_approval_for_another_question_changes_nothing(page: Page) -> None:
    page.run(ASK)
    cell = page.start("%%agent\nWhat is six times seven?")
    page.button("Approve")
    stale = page.start("%agent /approve 0000000")
    assert stale.result()["status"] == "ok"
    assert not cell.done
    assert page.shown(stale).startswith("Nothing waits for an answer under `0000000`.")
    page.press("Reject")
    cell.result()
    assert page.printed(page.run("print('answer' in globals())")) == "False\n"
    after = page.run("%agent /approve 0000000")
    assert page.shown(after) == "Nothing waits for an answer under `0000000`."


def test_what_waits_is_listed_whole_where_no_card_is_seen(page: Page) -> None:
    page.run(ASK)
    cell = page.start("%%agent\nWhat is six times seven?")
    page.button("Approve")
    listed = page.start("%agent /approve")
    assert listed.result()["status"] == "ok"
    shown = page.shown(listed)
    assert f"%agent /reject {page.question()}" in shown
    assert "answer = 6 * 7" in shown
    page.press("Reject")
    cell.result()
    assert page.shown(page.run("%agent /reject")) == "Nothing waits for an answer."


def test_the_second_of_two_clicks_does_nothing(page: Page) -> None:
    page.run("play(run_python('n = globals().get(\"n\", 0) + 1'), run_python('m = 1'), 'Done.')")
    cell = page.start("%%agent\nCount.")
    approve = page.button("Approve")
    first, second = page.kernel.click(approve), page.kernel.click(approve)
    page.kernel.until(lambda: first.handled and second.handled, "both clicks to be handled")
    page.press("Reject")
    cell.result()
    assert page.printed(page.run("print(n, globals().get('m'))")) == "1 None\n"


def test_messages_of_a_closed_panel_are_harmless(page: Page) -> None:
    page.run(ASK)
    first = page.start("%%agent\nWhat is six times seven?")
    approve = page.button("Approve")
    page.press("Approve")
    first.result()
    page.run("play(run_python('late = True'), 'Done.')")
    second = page.start("%%agent\nAnd now?")
    page.button("Approve")
    page.kernel.click(approve)
    page.kernel.comm(approve, {"method": "update", "state": {"description": "x"}, "buffer_paths": []})
    page.press("Reject")
    assert second.result()["status"] == "ok"
    page.kernel.click(approve)
    assert page.printed(page.run("print('late' in globals())")) == "False\n"


def test_a_magic_above_the_magic_changes_nothing(page: Page) -> None:
    page.run(ASK)
    cell = page.start("%%time\n%%agent --into reply\nWhat is six times seven?")
    page.press("Approve")
    assert cell.result()["status"] == "ok", page.error(cell)
    assert "Wall time" in page.printed(cell)
    assert page.printed(page.run("print(answer, reply)")) == "42 It is 42.\n"


def test_a_console_is_asked_by_a_line_of_input(page: Page) -> None:
    page.run(ASK)
    cell = page.kernel.execute("%%agent\nWhat is six times seven?", allow_stdin=True)
    prompt = page.kernel.answer("yes")
    assert cell.result()["status"] == "ok"
    assert prompt.startswith("Approve? [y]es")
    assert cell.text.count("   1  answer = 6 * 7\n") == 1
    assert "It is 42.\n" in cell.text
    assert page.widgets == {}
    assert page.printed(page.run("print(answer)")) == "42\n"


@pytest.mark.parametrize("kernel", [on_kernel("7.0.1"), on_kernel("7.4.0")], indirect=True)
def test_a_cell_on_a_subshell_where_no_click_arrives_asks_by_a_line_of_input(page: Page) -> None:
    page.run(ASK)
    cell = page.start("%agent What is six times seven?", page.kernel.new_subshell())
    page.kernel.answer("y")
    assert cell.result()["status"] == "ok", page.error(cell)
    assert page.shown(cell).endswith("It is 42.")
    assert page.printed(page.run("print(answer)")) == "42\n"


@oldest_and_newest
def test_a_front_end_that_takes_no_input_after_all_is_a_no(page: Page) -> None:
    page.run(ASK)
    page.run("%config AgentMagics.frontend = 'input'")
    cell = page.start("%agent go on", person=False)
    assert cell.result()["status"] == "ok", page.error(cell)
    assert "reject, by policy: this front end takes no input" in page.printed(cell)


@oldest_and_newest
@pytest.mark.parametrize("typed", ["n not today", "", "why?"])
def test_a_line_that_is_not_clearly_a_yes_is_a_no(page: Page, typed: str) -> None:
    page.run(ASK)
    page.run("%config AgentMagics.frontend = 'input'")
    cell = page.start("%%agent\nWhat is six times seven?")
    page.kernel.answer(typed)
    cell.result()
    assert page.printed(page.run("print('answer' in globals())")) == "False\n"
    page.run("%config AgentMagics.frontend = 'auto'")


def test_without_anybody_to_ask_the_call_is_rejected_and_the_output_says_so(page: Page) -> None:
    page.run(ASK)
    cell = page.start("%%agent\nWhat is six times seven?", person=False)
    assert cell.result()["status"] == "ok", page.error(cell)
    assert "rejected, nobody was asked" in page.shown(cell)
    assert "rejected, nobody was asked" in page.shown(cell, "text/html")
    assert page.widgets == {}
    assert page.printed(page.run("print('answer' in globals())")) == "False\n"


@oldest_and_newest
@pytest.mark.parametrize("prompt", ["how big is df?", "what's {x} in $HOME and {{y}}?", 'say "hi'])
def test_a_prompt_in_one_line_is_taken_word_for_word(page: Page, prompt: str) -> None:
    page.run("x = 1; play('Yes.')")
    cell = page.run(f"%agent {prompt}")
    assert page.shown(cell).endswith("Yes.")
    assert page.printed(page.run("print(_turn.prompt)")) == f"{prompt}\n"


@oldest_and_newest
def test_a_cell_without_a_body_takes_its_prompt_from_the_line(page: Page) -> None:
    page.run("play('Yes.')")
    page.run("%%agent how big is df?")
    assert page.printed(page.run("print(_turn.prompt)")) == "how big is df?\n"


@oldest_and_newest
def test_the_body_of_a_cell_is_taken_word_for_word(page: Page) -> None:
    page.run("name = 'x'; play('Yes.')")
    body = '    Why is {name} "$5"?\n\n\tIt\'s {{not}} %time !ls `it` \\\\n?\n'
    page.run(f"%%agent\n{body}")
    assert page.printed(page.run("print(repr(_turn.prompt))")) == f"{body.strip(chr(10))!r}\n"


@oldest_and_newest
def test_the_question_mark_alone_shows_help(page: Page) -> None:
    reply = page.start("%agent?").result()
    assert "--into NAME" in reply["payload"][0]["data"]["text/plain"]


REGISTER = """
@provider("parrot")
def parrot(model=None, **options):
    made.append(script := ScriptedProvider(["{said}"]))
    return script
"""


@oldest_and_newest
def test_a_provider_for_one_cell_is_kept_until_it_is_registered_anew(page: Page) -> None:
    page.run("made = []")
    page.run(REGISTER.replace("{said}", "First."))
    said = [page.shown(page.run("%agent --provider parrot hello")) for _ in range(2)]
    page.run(REGISTER.replace("{said}", "Second."))
    said.append(page.shown(page.run("%agent -p parrot hello")))
    assert [each.rpartition("\n")[2] for each in said] == ["First.", "First.", "Second."]
    assert page.printed(page.run("print(len(made), current_session().provider in made)")) == "2 False\n"


@oldest_and_newest
@pytest.mark.parametrize("line", ["%agent --help", "%agent -h", "%%agent --help", "%agent ?"])
def test_help_is_a_table_of_the_options(page: Page, line: str) -> None:
    assert "| `--into NAME` | Bind the reply's text to a variable" in page.shown(page.run(line))


def test_twenty_turns_leave_no_widget_and_no_thread(page: Page) -> None:
    page.run(COUNTING)
    page.run("once(); before = counted()")
    for _ in range(20):
        page.run("once()")
    assert page.printed(page.run("print(counted() == before, before)")).startswith("True")
    assert page.widgets == {}
