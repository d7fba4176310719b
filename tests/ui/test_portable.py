import mistune
import pytest
from hypothesis import given
from hypothesis import strategies as st
from markdown_it import MarkdownIt
from markdown_it.token import Token

from agent_magics.ui.portable import portable

from .test_markdown import HOSTILE

PERMISSIVE = MarkdownIt("commonmark", {"html": True}).enable(["table", "strikethrough"])
PIECES = [
    *HOSTILE,
    *(
        "\n",
        "\n\n",
        "`",
        "``",
        "```",
        "```python\n",
        "~~~\n",
        "    ",
        "> ",
        "- ",
        "1. ",
        "| ",
        " |\n|--|--|\n| ",
    ),
    *(
        "<b>",
        "\\",
        "\\`",
        "\\<",
        "![",
        "](",
        ")",
        "[x]: javascript:alert(1)\n",
        "[x]",
        "$",
        "&lt;",
        "<!--",
        "-->",
    ),
]


def tokens(text: str) -> list[Token]:
    """What a renderer with raw HTML on makes of it."""
    parsed = PERMISSIVE.parse(text)
    return [*parsed, *(child for token in parsed for child in token.children or [])]


def assert_portable(text: str) -> None:
    for token in tokens(text):
        assert token.type not in ("html_block", "html_inline", "image"), token
        if token.type == "link_open":
            assert str(token.attrs["href"]).startswith(("http://", "https://", "mailto:")), token
    tree = mistune.create_markdown(renderer="ast", plugins=["table", "strikethrough"])(text)
    assert not {"block_html", "inline_html", "image"} & set(_kinds(tree)), tree


def _kinds(nodes: object) -> list[str]:
    """The kinds of all nodes in mistune's tree, at any depth."""
    found: list[str] = []
    for node in nodes if isinstance(nodes, list) else []:
        found += [node["type"], *_kinds(node.get("children"))]
    return found


@pytest.mark.parametrize("text", HOSTILE)
def test_hostile_markdown_has_no_tag_and_no_image_anywhere(text: str):
    assert_portable(portable(text))


@given(st.lists(st.sampled_from(PIECES), max_size=25).map("".join))
def test_no_mixture_has_a_tag_for_any_renderer(text: str):
    assert_portable(portable(text))


@given(st.text(alphabet="<b>`|~\\ \n-", max_size=60))
def test_no_play_with_backticks_and_pipes_has_a_tag_for_any_renderer(text: str):
    assert_portable(portable(text))


def test_ordinary_markdown_stays_as_it_is():
    text = "# T\n\nA **b** `c` [d](https://e.example).\n\n- f\n- g\n\n| h | i |\n|---|---|\n| 1 | 2 |"

    assert text == portable(text)


def test_code_keeps_what_looks_like_tags():
    assert "see `<b>`\n\n```html\n<i>\n\n\n</i>\n```" == portable("see `<b>`\n```html\n<i>\n\n\n</i>\n```")


def test_a_fence_is_longer_than_what_it_holds():
    assert "`````\n````\n<b>\n`````" == portable("~~~\n````\n<b>\n~~~")


def test_macros_that_could_link_are_broken():
    assert "$\\ href{https://x.example}{y}$" == portable("$\\href{https://x.example}{y}$")
