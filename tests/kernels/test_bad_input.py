"""Bad input of every kind ends in a clear error or result, and the next ``%%agent`` works."""

from __future__ import annotations

import json
from typing import Any

import pytest

from tests.kernels.conftest import oldest_and_newest
from tests.kernels.kernel import Request
from tests.kernels.page import Page

pytestmark = oldest_and_newest


def works(page: Page) -> bool:
    """Whether the next turn goes as if nothing had been."""
    page.run("play('Here I am.')")
    return page.shown(page.run("%%agent\nAre you there?")).endswith("Here I am.")


def refused(page: Page, code: str) -> list[str]:
    """The lines of the error that a cell ends with."""
    cell = page.start(code)
    assert cell.result()["status"] == "error"
    return page.error(cell).split("\n")


def told(page: Page) -> dict[str, Any]:
    return json.loads(page.printed(page.run("print(told())")))


@pytest.mark.parametrize(
    ("code", "first"),
    [
        ("%%agent --nope\nHi", "Unknown option: --nope."),
        ("%%agent --into\n", "--into needs a value."),
        ("%%agent --into 2x\nHi", "--into takes the name of a variable, not '2x'."),
        ("%%agent --into class\nHi", "--into takes the name of a variable, not 'class'."),
        ("%%agent --max-rounds none\nHi", "--max-rounds takes a number of at least 1, not 'none'."),
        ("%%agent --provider nope:x\nHi", "unknown provider 'nope'. Available: "),
        ("%agent /provider nope", "unknown provider 'nope'. Available: "),
        ("%%agent --provider llama:/no/such/file.gguf\nHi", ""),
        ("%agent /nope", "Unknown command: /nope."),
        ("%agent /tool", "Unknown command: /tool."),
        ("%%agent\n   \n\t\n", "This cell has no prompt."),
        ("%%agent --into x", "This cell has no prompt."),
    ],
)
def test_what_cannot_be_taken_is_refused_in_three_lines(page: Page, code: str, first: str) -> None:
    lines = refused(page, code)
    assert lines[0].startswith(first)
    assert len(lines) == 3
    assert works(page)


def test_a_provider_that_is_down_is_told_in_the_panel_and_the_session_goes_on(page: Page) -> None:
    page.run("current_session().use('openai:gpt', base_url='http://127.0.0.1:9', api_key='sk-none')")
    cell = page.run("%%agent\nAre you there?")
    assert "> **" in page.shown(cell)
    assert (
        page.printed(page.run("print(_turn.stop, len(_turn.error.split(chr(10))))")) == "provider_error 3\n"
    )
    assert works(page)


GARBAGE = """
@provider("garbage")
def garbage(model=None, **options):
    class Garbage:
        def fetch(self, messages, tools):
            yield from {things}
    return Garbage()
"""


@pytest.mark.parametrize(
    ("things", "stop"),
    [
        ("[None, 3, 'text', object(), {'type': 'nonsense'}, {}]", "done"),
        ("[{'type': 'doing', 'name': 'variables', 'arguments': 'no object'}]", "too_many_failures"),
        ("[{'type': 'saying', 'text': 1}, 1 / 0]", "provider_error"),
        ("[{'type': 'saying', 'text': None}, {'type': 'usage', 'input': 'many'}]", "done"),
        ("[{'type': 'doing', 'name': None, 'arguments': None}]", "too_many_failures"),
        ("None", "provider_error"),
    ],
)
def test_a_provider_that_sends_garbage_costs_its_own_turn(page: Page, things: str, stop: str) -> None:
    page.run(GARBAGE.replace("{things}", things))
    page.run("%%agent --provider garbage\nHi")
    assert page.printed(page.run("print(_turn.stop)")) == f"{stop}\n"
    assert works(page)


TOOL = """
@tool
def broken() -> object:
    "Is broken."
    {body}

current_session().toolbox.add(broken)
play(call('broken'), 'Done.')
"""


@pytest.mark.parametrize(
    ("body", "result"),
    [
        ("raise ValueError('no such day')", "ValueError: no such day"),
        ("raise SystemExit(3)", "It raised SystemExit: 3"),
        ("raise KeyboardInterrupt", "It raised KeyboardInterrupt"),
        ("return object", "<class 'object'>"),
        ("return {1: {2, 3}, 'f': open, 'nan': float('nan')}", "nan"),
        ("a = []; a.append(a); return a", "(…)"),
        ("return '\\ud800 half'", "half"),
        ("return type('R', (), {'__repr__': lambda self: 1 / 0})()", "could not be made"),
    ],
)
def test_a_tool_that_fails_or_returns_what_json_cannot_hold_is_a_result(
    page: Page, body: str, result: str
) -> None:
    page.run(TOOL.replace("{body}", body))
    cell = page.run("%%agent\nHi")
    assert page.shown(cell).endswith("Done.")
    assert result in json.dumps(told(page), ensure_ascii=False)
    assert works(page)


def test_a_result_of_five_megabytes_is_cut_for_the_model_and_for_the_file(page: Page) -> None:
    page.run(TOOL.replace("{body}", "return 'x' * 5_000_000"))
    cell = page.run("%%agent\nHi")
    result = told(page)
    assert result["cut"].startswith("The first 12,000 and the last 4,000 of 5,000,000 characters.")
    assert len(json.dumps(page.outputs(cell))) < 30_000
    assert page.shown(cell).endswith("Done.")
    assert works(page)


@pytest.mark.parametrize(
    ("line", "first"),
    [
        ("AgentMagics.approve = 'maybe'", "The 'approve' trait of an AgentMagics instance expected any of"),
        ("AgentMagics.max_rounds = 0", "The value of the 'max_rounds' trait"),
        ("AgentMagics.provider = 3", "The 'provider' trait of an AgentMagics instance expected a"),
        ("AgentMagics.provider = 'nope'", "unknown provider 'nope'."),
        ("AgentMagics.budget = 0", "A budget of 0.0 US dollars is none."),
        ("AgentMagics.budget = 'much'", "The 'budget' trait of an AgentMagics instance expected a float"),
        ("AgentMagics.frontend = 'paper'", "The 'frontend' trait of an AgentMagics instance expected any of"),
    ],
)
def test_a_setting_that_cannot_be_is_told_and_stays_as_it_was(page: Page, line: str, first: str) -> None:
    name, _, _ = line.partition(" = ")
    before = page.shown(page.run(f"%config {name}"), "text/plain")
    cell = page.run(f"%config {line}")
    assert first in page.printed(cell)
    assert page.shown(page.run(f"%config {name}"), "text/plain") == before
    assert works(page)


NAMESPACE = """
class Broken:
    def __repr__(self): raise RuntimeError("no repr")
    def __len__(self): raise RuntimeError("no len")
    def __getattr__(self, name): raise RuntimeError("no attributes")
    def __eq__(self, other): raise RuntimeError("no equality")
    __hash__ = None

broken, shape = Broken(), type("Shape", (), {"shape": property(lambda self: 1 / 0), "dtype": 3})()
endless = []
endless.append(endless)
"""


@pytest.mark.parametrize("name", ["broken", "shape", "endless", "Broken"])
def test_variables_that_cannot_be_looked_at_are_named_all_the_same(page: Page, name: str) -> None:
    page.run(NAMESPACE)
    page.run(f"play(call('variables'), call('inspect', name={name!r}), 'Done.')")
    assert page.shown(page.run("%%agent\nWhat is there?")).endswith("Done.")
    listed, looked = (
        json.loads(text)
        for text in page.printed(
            page.run("for at in (1, 2): print(current_session().provider.requests[at][0][-1]['content'])")
        ).splitlines()
    )
    assert name in [each["name"] for each in listed["variables"]]
    assert "ok" in looked
    assert works(page)


def test_a_value_whose_repr_never_ends_is_ended_by_an_interrupt(page: Page) -> None:
    page.run(
        "import sys; cell = sys.stdout\n"
        "class Endless:\n"
        "    def __repr__(self):\n"
        "        print('endless', file=cell, flush=True)\n"
        "        time.sleep(30)\n"
        "endless = Endless()\n"
        "play(call('inspect', name='endless'), 'Done.')"
    )
    cell = page.start("%%agent\nWhat is there?")
    page.kernel.until(lambda: page.printed(cell) == "endless\n", "the repr to run")
    page.kernel.interrupt()
    assert cell.result()["ename"] == "TurnStopped"
    assert works(page)


def test_a_prompt_of_a_megabyte_arrives_whole(page: Page) -> None:
    page.run("play('Long.')")
    prompt = "It's {long}?\n" * 80_000
    cell = page.run(f"%%agent\n{prompt}", limit=60)
    assert page.shown(cell).endswith("Long.")
    assert page.printed(page.run("print(len(_turn.prompt))")) == f"{len(prompt) - 1}\n"
    assert works(page)


def test_what_a_turn_cannot_bind_raises_in_three_lines_and_keeps_the_old_value(page: Page) -> None:
    # It fails half a second later, when the cell behind it has been queued.
    page.run("reply = 'earlier'; play(lambda messages: time.sleep(0.5) or ValueError('out of order'))")
    cell: Request = page.start("%%agent --into reply\nHi")
    queued = page.start("print('ran')")
    assert cell.result()["ename"] == "BindingError"
    assert queued.result()["status"] == "aborted"
    lines = page.error(cell).split("\n")
    assert lines[0].startswith("'reply' was not bound: ")
    assert len(lines) == 3
    assert page.printed(page.run("print(reply)")) == "earlier\n"


def test_a_failed_turn_raises_only_if_it_is_strict(page: Page) -> None:
    page.run("play(ValueError('out of order'))")
    page.run("%%agent\nHi")
    assert refused(page, "%%agent --strict\nHi")[0].startswith("The turn failed")
    page.run("%config AgentMagics.strict = True")
    assert refused(page, "%%agent\nHi")[0].startswith("The turn failed")
    page.run("%config AgentMagics.strict = False")
    headless = page.start("%%agent\nHi", person=False)
    assert headless.result()["ename"] == "TurnFailed"
