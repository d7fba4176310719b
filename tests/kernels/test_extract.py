"""X1: ``%%agent --schema`` in a running cell: what it binds, what it shows, and what a failure leaves."""

from __future__ import annotations

import pytest

from tests.kernels.conftest import oldest_and_newest
from tests.kernels.page import Page

BUGS = """
from dataclasses import dataclass
from typing import TypedDict

@dataclass
class Bug:
    file: str
    line: int
    issue: str

class Named(TypedDict):
    name: str

RIGHT = '{"value": [{"file": "a.py", "line": 3, "issue": "<b>off</b> by one"}]}'
WRONG = RIGHT.replace("3", '"three"')
"""


@pytest.fixture
def bugs(page: Page) -> Page:
    page.run(BUGS)
    return page


@oldest_and_newest
@pytest.mark.parametrize("line", ["--schema list[Bug] --into rows", "rows << --schema list[Bug]"])
def test_the_value_is_bound_as_plain_lists_and_dicts_and_shown_as_a_table(bugs: Page, line: str) -> None:
    bugs.run("play(RIGHT)")
    cell = bugs.run(f"%%agent {line}\nWhat is wrong in a.py?")
    assert cell.result()["status"] == "ok", bugs.error(cell)
    assert bugs.printed(bugs.run("print(rows, _turn.stop, len(_turn.steps))")) == (
        "[{'file': 'a.py', 'line': 3, 'issue': '<b>off</b> by one'}] done 1\n"
    )
    html = bugs.shown(cell, "text/html")
    assert "<table" in html
    assert "&lt;b&gt;off&lt;/b&gt; by one" in html
    assert "<b>off</b>" not in html
    assert "| a.py | 3 |" in bugs.shown(cell)


@pytest.mark.parametrize(
    ("schema", "said", "value"),
    [
        ("'name, age int'", '{"name": "Ada", "age": 36}', "{'name': 'Ada', 'age': 36}"),
        ('"tags [str]"', '{"tags": ["a"]}', "{'tags': ['a']}"),
        ("[str]", '{"value": ["a", "b"]}', "['a', 'b']"),
        ("Named", '{"name": "Ada"}', "{'name': 'Ada'}"),
        ("named.json", '{"name": "Ada"}', "{'name': 'Ada'}"),
    ],
)
def test_a_schema_is_a_short_form_a_name_or_a_file(
    bugs: Page, schema: str, said: str, value: str, tmp_path_factory: pytest.TempPathFactory
) -> None:
    folder = tmp_path_factory.mktemp("schema")
    (folder / "named.json").write_text('{"type": "object", "required": ["name"]}')
    bugs.run(f"play({said!r})")
    bugs.run(f"import os; here = os.getcwd(); os.chdir({str(folder)!r})")
    cell = bugs.run(f"%agent --schema {schema} --into it Read this.")
    bugs.run("os.chdir(here)")
    assert cell.result()["status"] == "ok", bugs.error(cell)
    assert bugs.printed(bugs.run("print(it)")) == f"{value}\n"


@oldest_and_newest
def test_a_wrong_answer_is_sent_back_and_the_turn_shows_that(bugs: Page) -> None:
    bugs.run("play(WRONG, RIGHT)")
    cell = bugs.run("%%agent --schema list[Bug] --into rows\nWhat is wrong?")
    assert cell.result()["status"] == "ok", bugs.error(cell)
    assert bugs.printed(bugs.run("print(rows[0]['line'], len(_turn.steps), _turn.usage.total)")) == "3 2 4\n"
    assert "The answer was sent back: 0/line: 'three' is not of type 'integer'" in bugs.shown(cell)
    assert "line: 'three' is not of type 'integer'" in bugs.printed(bugs.run("print(told())"))


@oldest_and_newest
def test_an_answer_that_never_fits_binds_nothing_and_says_which_rule_it_broke(bugs: Page) -> None:
    bugs.run("rows = 'before'\nplay(WRONG)")
    cell = bugs.start("%%agent --schema list[Bug] --into rows\nWhat is wrong?")
    after = bugs.start("print('must not run')")
    assert cell.result()["status"] == "error"
    assert bugs.error(cell) == (
        "'rows' was not bound: The answer does not keep the schema.\n"
        "0/line: 'three' is not of type 'integer'; asked 3 times.\n"
        "Run the cell again; what was bound before is kept."
    )
    assert after.result()["status"] == "aborted"
    assert bugs.printed(bugs.run("print(rows, _turn.stop, _turn.usage.total)")) == "before provider_error 6\n"


@pytest.mark.parametrize(
    ("stop", "said"), [("max_tokens", "cut off"), ("refusal", "refused"), ("context_full", "window")]
)
def test_refused_and_truncated_are_told_apart_and_bind_nothing(bugs: Page, stop: str, said: str) -> None:
    bugs.run(f"rows = 'before'\nscript = play([Saying(text=RIGHT), Stop(reason={stop!r})])")
    cell = bugs.start("%%agent --schema list[Bug] --into rows\nWhat is wrong?")
    assert cell.result()["status"] == "error"
    assert said in bugs.error(cell)
    assert bugs.printed(bugs.run("print(rows, len(script.requests))")) == "before 1\n"


def test_the_value_grows_in_the_panel_while_it_streams(bugs: Page) -> None:
    bugs.run("""
play([Saying(text='{"value": [{"file": "a.py", "line": 3, "issue": "off'), Hang()])
""")
    cell = bugs.start("%%agent --schema list[Bug] --into rows\nWhat is wrong?")
    bugs.kernel.until(lambda: "off</td>" in "\n".join(bugs.visible()), "the half of a row to be shown")
    bugs.kernel.interrupt()
    assert cell.result()["status"] == "error"
    assert bugs.printed(bugs.run("print('rows' in globals(), _turn.stop)")) == "False cancelled\n"


def test_a_schema_that_is_wrong_asks_nobody(bugs: Page) -> None:
    bugs.run("script = play(RIGHT)")
    for schema, why in [
        ("Bugs", "There is no 'Bugs' to take as a schema."),
        ("'name, age itn'", "there is no type 'itn'"),
        ("none.json", "can't be read"),
    ]:
        cell = bugs.start(f"%agent --schema {schema} What is wrong?")
        assert cell.result()["status"] == "error"
        assert why in bugs.error(cell)
    assert bugs.printed(bugs.run("print(len(script.requests), '_turn' in globals())")) == "0 False\n"


def test_the_next_turn_sees_the_value_and_not_what_was_sent_back(bugs: Page) -> None:
    bugs.run("script = play(WRONG, RIGHT, 'Fine.')")
    bugs.run("%%agent --schema list[Bug] --into rows\nWhat is wrong?")
    bugs.run("%agent thanks")
    sent = (
        "print([message['content'] for message in script.requests[-1][0] if message['role'] == 'assistant'])"
    )
    printed = bugs.printed(bugs.run(sent))
    assert "three" not in printed
    assert '"line": 3' in printed


def test_python_extracts_in_a_cell_where_a_loop_runs_already(bugs: Page) -> None:
    cell = bugs.run("""
from agent_magics import extract
import asyncio
async def inside():
    return extract("Ada Lovelace was born in 1815.", "born int", provider="demo")
print(extract("Ada Lovelace was born in 1815.", "born int", provider="demo"), await inside())
""")
    assert bugs.printed(cell) == "{'born': 1815} {'born': 1815}\n", bugs.error(cell)
