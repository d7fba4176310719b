"""The options that one cell gives to whoever answers it."""

from __future__ import annotations

import pytest

from agent_magics.errors import UsageError
from agent_magics.notebook.options import help_text, parse


def test_options_for_the_provider_and_several_pictures_are_read():
    line = (
        "--planner json --effort low --max-tokens 50 --base-url http://x --image a.png --image 'b c.png' hi"
    )
    expected = {
        "planner": "json",
        "effort": "low",
        "max-tokens": 50,
        "base-url": "http://x",
        "image": ["a.png", "b c.png"],
    }
    assert ("hi", expected) == (parse(line).prompt, parse(line).values)


@pytest.mark.parametrize(
    ("line", "what", "why"),
    [
        ("--planner best hi", "--planner doesn't know 'best'.", "It knows native, json, classic."),
        ("--effort 3 hi", "--effort doesn't know '3'.", "It knows none, minimal, low"),
        ("--max-tokens few hi", "--max-tokens takes a number of at least 1, not 'few'.", "tokens of a reply"),
        ("--image", "--image needs a value.", "It is written --image PATH."),
    ],
)
def test_what_an_option_can_not_take_is_said(line, what, why):
    with pytest.raises(UsageError) as caught:
        parse(line)
    assert what == caught.value.what
    assert why in caught.value.why


@pytest.mark.parametrize("name", ["planner", "effort", "max-tokens", "base-url", "image"])
def test_help_lists_them(name):
    assert f"--{name} " in help_text()
    assert f"--{name} " in help_text(plain=True)
