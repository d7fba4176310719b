"""A turn as a cell's value: it shows as it did when it ended."""

from __future__ import annotations

import pytest

from tests.kernels.page import Page


@pytest.mark.parametrize("kind", ["text/html", "text/markdown", "text/plain"])
def test_a_turn_shows_itself_as_its_cell_did(page: Page, kind: str) -> None:
    page.run("play('Forty-two.')")
    cell = page.run("%agent What is six times seven?")
    again = page.run("_turn")
    assert page.shown(cell, kind) == page.shown(again, kind)


def test_without_the_extension_a_turn_is_a_plain_value(page: Page) -> None:
    page.run("play('Forty-two.')")
    page.run("%agent What is six times seven?")
    page.run("%unload_ext agent_magics")
    assert page.shown(page.run("_turn"), "text/html") == ""
    page.run("%load_ext agent_magics")
