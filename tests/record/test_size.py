"""What a turn takes in a saved notebook: at most four times its text and ten kilobytes."""

from __future__ import annotations

import re
from html import unescape

import pytest

from agent_magics.talk import Turn
from agent_magics.ui.settled import bundle, turn_html
from agent_magics.ui.thin import fitting
from tests.record.shapes import EXTREMES, SHAPES, grown, text_of
from tests.ui.harmless import assert_harmless


def words(html: str) -> list[str]:
    """What is read of it."""
    return unescape(re.sub(r"<[^>]+>", " ", html)).split()


@pytest.mark.parametrize("turn", SHAPES.values(), ids=SHAPES)
def test_a_turn_takes_at_most_four_times_its_text_and_ten_kilobytes(turn: Turn) -> None:
    assert grown(turn) <= 4 * text_of(turn) + 10_000


@pytest.mark.parametrize("turn", [*SHAPES.values(), *EXTREMES.values()], ids=[*SHAPES, *EXTREMES])
def test_a_thin_answer_has_every_word(turn: Turn) -> None:
    whole = turn_html(turn)
    thin = fitting(whole, 0)
    assert "".join(words(whole)) == "".join(words(thin))
    assert_harmless(thin)
    assert len(thin) < len(whole)


@pytest.mark.parametrize("turn", [SHAPES["three calls"], EXTREMES["12 calls"]], ids=["three", "12"])
def test_a_short_answer_keeps_its_dress_so_that_nothing_jumps(turn: Turn) -> None:
    assert turn_html(turn) == bundle(turn)["text/html"]


def test_code_keeps_its_lines() -> None:
    thin = fitting(turn_html(SHAPES["400 lines of code"]), 0)
    assert 200 == thin.count("# twice\n")
