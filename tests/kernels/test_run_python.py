"""``run_python``: the model's code in the user's namespace, and what the model is told of it."""

from __future__ import annotations

import json
from typing import Any

import pytest

from tests.kernels.conftest import oldest_and_newest
from tests.kernels.kernel import Request
from tests.kernels.page import Page

pytestmark = oldest_and_newest


@pytest.fixture
def page(page: Page) -> Page:
    page.run("current_session().policy.approve = 'always'")
    return page


def running(page: Page, code: str) -> tuple[Request, dict[str, Any]]:
    """A turn that runs this; its cell, and what the model was told."""
    page.run(f"play(run_python({code!r}), 'Done.')")
    cell = page.run("%agent go on")
    return cell, json.loads(page.printed(page.run("print(told())")))


def told(page: Page, code: str) -> dict[str, Any]:
    return running(page, code)[1]


def test_what_is_printed_and_the_last_value_and_the_new_names_are_told(page: Page) -> None:
    assert told(page, "x = 6\nprint('six')\nx * 7") == {
        "printed": "six\n",
        "value": 42,
        "brief": "42",
        "changed": {"new": ["x"]},
        "ok": True,
    }
    assert page.printed(page.run("print(x)")) == "6\n"


def test_rebound_and_deleted_names_are_told(page: Page) -> None:
    page.run("a, b, c = 1, 2, 3")
    assert told(page, "a = 10; del b; c = c")["changed"] == {"rebound": ["a"], "gone": ["b"]}


def test_printed_text_and_warnings_stay_in_their_order_and_out_of_the_cell(page: Page) -> None:
    cell, result = running(page, "import sys\nprint('one')\nprint('two', file=sys.stderr)\nprint('three')")
    assert result["printed"] == "one\ntwo\nthree\n"
    assert page.printed(cell) == ""


def test_an_error_names_the_line_and_keeps_what_came_before(page: Page) -> None:
    result = told(page, "print('before')\ny = 1\n1 / 0\nz = 2")
    assert result == {
        "error": "ZeroDivisionError: division by zero (line 3: 1 / 0)",
        "printed": "before\n",
        "changed": {"new": ["y"]},
        "ok": False,
    }


def test_an_error_deep_in_a_call_names_the_line_of_the_code(page: Page) -> None:
    result = told(page, "import json\n\njson.loads('{')")
    assert result["error"].startswith("JSONDecodeError: Expecting property name")
    assert result["error"].endswith("(line 3: json.loads('{'))")


@pytest.mark.parametrize(
    ("code", "error"),
    [
        ("x = (", "SyntaxError: '(' was never closed (line 1)"),
        ("import sys\nsys.exit(3)", "The code called sys.exit(3); the notebook goes on."),
        ("raise StopIteration('enough')", "StopIteration: enough (line 1: raise StopIteration('enough'))"),
        ("def f(): return f()\nf()", "RecursionError: maximum recursion depth exceeded"),
        (
            "class Odd(Exception):\n    def __str__(self): return 1 / 0\nraise Odd",
            "Odd: <Odd: its text could",
        ),
    ],
)
def test_whatever_the_code_raises_is_told_and_the_turn_goes_on(page: Page, code: str, error: str) -> None:
    cell, result = running(page, code)
    assert result["error"].startswith(error)
    assert page.shown(cell).endswith("Done.")


def test_magics_and_shell_commands_work_as_in_a_cell(page: Page) -> None:
    assert told(page, "!echo from the shell")["printed"].split() == ["from", "the", "shell"]
    assert told(page, "%env HOME")["value"].startswith("/")


def test_a_table_is_told_with_all_of_its_rows(page: Page) -> None:
    result = told(page, "import collections\ncollections.Counter('abracadabra')")
    assert result["value"] == "Counter({'a': 5, 'b': 2, 'r': 2, 'c': 1, 'd': 1})"


def test_a_semicolon_says_that_the_value_is_of_no_interest(page: Page) -> None:
    assert told(page, "40 + 2;") == {"ok": True}


def test_a_value_whose_repr_fails_costs_no_more_than_its_text(page: Page) -> None:
    result = told(page, "class Broken:\n    def __repr__(self): return 1 / 0\nBroken()")
    assert result["ok"] is True
    assert "Broken" in result["value"]


def test_what_is_displayed_is_told_as_text_and_its_markup_is_not_shown(page: Page) -> None:
    cell, result = running(
        page, "from IPython.display import HTML, display\ndisplay(HTML('<b id=forged>'), 7)"
    )
    assert result["displayed"] == ["<IPython.core.display.HTML object>", "7"]
    assert "forged" not in page.shown(cell, "text/html").replace("&lt;b id=forged&gt;", "")
    assert len(page.outputs(cell)) == 1


PICTURE = (
    "import base64\nfrom IPython.display import Image\n"
    "Image(base64.b64decode('iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9"
    "awAAAABJRU5ErkJggg=='), format='png')"
)


@pytest.mark.parametrize("code", [PICTURE, f"{PICTURE};\ndisplay(_)".replace("Image(b", "_ = Image(b")])
def test_a_picture_is_shown_in_the_cell_of_the_turn(page: Page, code: str) -> None:
    cell, result = running(page, code)
    assert result["pictures"] == "1 shown to the user"
    assert page.shown(cell, "image/png").startswith("iVBORw0KGgo")


def test_an_endless_flood_of_output_is_kept_at_both_ends(page: Page) -> None:
    cell, result = running(page, "for n in range(400_000): print(n)")
    assert result["head"].startswith('{"printed": "0\\n1\\n')
    assert "399999" in result["tail"]
    pages = "(current_session().results.more('r1', page)['text'] for page in range(1, 27))"
    assert page.printed(page.run(f"print('characters were not kept' in ''.join({pages}))")) == "True\n"
    assert len(json.dumps(page.outputs(cell))) < 60_000


def test_what_a_frame_of_code_imports_is_not_told_as_a_variable(page: Page) -> None:
    assert told(page, "import math\nroot = math.sqrt(16)")["changed"] == {"new": ["root"]}


def test_names_of_the_session_itself_are_out_of_reach_of_the_listing(page: Page) -> None:
    page.run("%reset -f")
    page.run("from agent_magics import current_session\nfrom agent_magics.talk import ToolCall")
    page.run("from agent_magics.testing import ScriptedProvider\nn = 1")
    page.run("current_session().provider = ScriptedProvider([ToolCall(id='c', name='variables'), 'Done.'])")
    page.run("%agent what is there?")
    listed = page.run(
        "import json\n"
        "told = json.loads(current_session().provider.requests[-1][0][-1]['content'])\n"
        "print([each['name'] for each in told['variables']])"
    )
    assert page.printed(listed) == "['ScriptedProvider', 'ToolCall', 'current_session', 'n']\n"
