import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from agent_magics.ui.markdown import html
from agent_magics.ui.unfinished import cut, mend

from .harmless import assert_harmless, bare

PIECES = [
    *(
        "word ",
        "**bold** ",
        "*it* ",
        "`code` ",
        "[a](https://b.example) ",
        "$x^2$ ",
        "~~no~~ ",
        "\\(x\\) ",
        "\\[",
        "\\]",
    ),
    *("\n", "\n\n", "\n\n\n", "  ", "    ", "\t"),
    *("- item", "1. one", "2", ". two", "* star", "+ plus", "> quote", "# head", "---", "==="),
    *("```", "```python\n", "~~~", "$$", "| a | b |", "|--|--|", "| 1 | 2 |", "<b>", "[x]: /y", "\\"),
]


def frozen(text: str) -> list[str]:
    """The text in pieces, as a stream that freezes what it can would render it."""
    parts: list[str] = []
    while at := cut(text):
        parts.append(text[:at])
        text = text[at:]
    return [*parts, text]


@given(st.lists(st.sampled_from(PIECES), max_size=40).map("".join))
@example("1. a\n\n2. b\n\nc\n\nd\n")
@example("- a\n\n   ```\n   x\n\npara\n\n```\ny\n\nz\n```\n")
@example("$$\nx\n\ny\n$$\n\nz\n")
def test_frozen_pieces_render_as_the_whole_does(text: str):
    assert html(text) == "".join(map(html, frozen(text)))


@given(st.lists(st.sampled_from(PIECES), max_size=30).map("".join), st.data())
def test_frozen_pieces_render_as_the_whole_wherever_the_stream_paused(text: str, data: st.DataObject):
    done: list[str] = []
    open_, at = "", 0
    while at < len(text):
        step = data.draw(st.integers(1, 40))
        open_ += text[at : at + step]
        at += step
        if place := cut(open_):
            done.append(open_[:place])
            open_ = open_[place:]

    assert html(text) == "".join(map(html, [*done, open_]))


def test_the_cut_is_before_the_last_block():
    assert len("one\n\ntwo\n\n") == cut("one\n\ntwo\n\nthree\n")


@pytest.mark.parametrize(
    "text",
    [
        "one\n\ntwo",  # the second line may yet become anything
        "- a\n\n- b\n\n  c\n",
        "```\na\n\nb\n\nc\n",
        "| a |\n|--|\n| 1 |\n| 2 |\n",
        "",
        "\n\n\n",
    ],
)
def test_an_open_block_is_never_cut(text: str):
    assert 0 == cut(text)


@pytest.mark.parametrize(
    ("half", "shown"),
    [
        ("a **bold", "<p>a <strong>bold</strong></p>\n"),
        ("a **bold *both", "<p>a <strong>bold <em>both</em></strong></p>\n"),
        ("a **", "<p>a</p>\n"),
        ("run `pip inst", "<p>run <code>pip inst</code></p>\n"),
        ("~~gone", "<p><s>gone</s></p>\n"),
        ("see [the docs](https://exa", "<p>see the docs</p>\n"),
        ("see [the do", "<p>see the do</p>\n"),
        ("![pic](https://x", "<p>pic</p>\n"),
        ("snake_case_na", "<p>snake_case_na</p>\n"),
        ("2 * 3", "<p>2 * 3</p>\n"),
        ("text\n\n- ", "<p>text</p>\n"),
        ("text\n\n## ", "<p>text</p>\n"),
        ("text\n\n| a | b |", "<p>text</p>\n"),
        ("text\n\n| a | b |\n|--", "<p>text</p>\n"),
        ("done **bold** `x` *y*", "<p>done <strong>bold</strong> <code>x</code> <em>y</em></p>\n"),
    ],
)
def test_what_is_half_open_is_closed_or_held_back(half: str, shown: str):
    assert shown == bare(html(mend(half)))


def test_an_open_fence_is_left_alone():
    assert "```python\nx = '**" == mend("```python\nx = '**")


@given(st.lists(st.sampled_from(PIECES), max_size=30).map("".join))
def test_mending_never_fails_and_lets_nothing_in(text: str):
    for end in range(0, len(text), 7):
        assert_harmless(html(mend(text[:end])))
