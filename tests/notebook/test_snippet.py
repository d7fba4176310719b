"""What is kept of a flood of output."""

from __future__ import annotations

from agent_magics.notebook.snippet import KEPT, Said


def test_what_fits_is_kept_as_it_was_written():
    said = Said()
    print("one", 2, file=said)
    print("three", file=said, end="")
    assert "one 2\nthree" == said.text


def test_of_a_flood_the_beginning_and_the_end_are_kept_and_the_gap_is_counted():
    said = Said()
    for number in range(1_000_000):
        said.write(f"{number:06d}\n")
    text = said.text
    assert text.startswith("000000\n000001\n")
    assert text.endswith("999998\n999999\n")
    assert "characters were not kept" in text
    assert KEPT <= len(text) <= 2 * KEPT + 100


def test_nothing_is_lost_or_doubled_but_what_the_gap_counts():
    said = Said()
    for _ in range(50):
        said.write("x" * 50_000)
    text = said.text
    gap = int(text.partition("… ")[2].partition(" ")[0].replace(",", ""))
    assert 50 * 50_000 == text.count("x") + gap
