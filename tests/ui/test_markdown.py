import time

import pytest
from hypothesis import given
from hypothesis import strategies as st

from agent_magics.ui.markdown import MATH, MATH_LIMIT, code, html

from .harmless import Elements, assert_harmless, bare, typeset

HOSTILE = [
    "<script>alert(1)</script>",
    "<img src=x onerror=alert(1)>",
    '<button data-commandlinker-command="runmenu:run-all">Approve</button>',
    "<style>.agm-ask{display:none}</style>",
    '<div style="position:fixed;inset:0">over everything</div>',
    "[click](javascript:alert(1))",
    "[click](  JaVaScRiPt:alert(1))",
    "[click](data:text/html,<script>alert(1)</script>)",
    "[click](vbscript:x)",
    "[click](/api/shutdown)",
    "[click](//evil.example/x)",
    "[click](#top)",
    "<javascript:alert(1)>",
    '[click](https://x.example/" onmouseover="alert(1))',
    "![pixel](https://tracker.example/p.png)",
    "![pixel](data:image/svg+xml,<svg onload=alert(1)>)",
    '```"><script>alert(1)</script>\ncode\n```',
    '``` x" onload="alert(1)\ncode\n```',
    "<!-- --><svg/onload=alert(1)>",
    "<details open ontoggle=alert(1)>",
    "&lt;script&gt;alert(1)&lt;/script&gt;",
    "<a href='https://x.example' id='agm' class='agm-ask'>x</a>",
    "| <img src=x onerror=alert(1)> |\n|--|\n| <script>1</script> |",
    "$\\href{javascript:alert(1)}{x}$",
    "$$\\class{agm-ask}{x}$$",
]


@pytest.mark.parametrize("text", HOSTILE)
def test_hostile_markdown_shows_as_text(text: str):
    assert_harmless(html(text))


@given(
    st.lists(
        st.sampled_from([*HOSTILE, "\n", "\n\n", "`", "```\n", "> ", "- ", "| a |\n|--|\n", "$", "$$", "\\"])
    )
)
def test_no_mixture_of_hostile_pieces_acts(pieces: list[str]):
    assert_harmless(html("".join(pieces)))


@given(st.text(alphabet="<>\"'&`*_[]()!$\\|-#:/ \nahref=onclick", max_size=80))
def test_no_text_acts(text: str):
    assert_harmless(html(text))


def test_images_become_their_alt_text():
    assert "<p>a logo here</p>\n" == bare(html("a ![logo](https://tracker.example/p.png) here"))


def test_links_open_elsewhere_and_say_no_referrer():
    assert [
        ("p", {"style": "margin:0 0 1em"}),
        (
            "a",
            {"href": "https://example.org/a?b=1", "target": "_blank", "rel": "noopener noreferrer nofollow"},
        ),
    ] == Elements(html("[there](https://example.org/a?b=1)")).found


def test_tables_keep_their_alignment():
    shown = html("| a | b |\n|:-:|--:|\n| 1 | 2 |")

    aligned = [
        attributes["style"].split(";")[0] for tag, attributes in Elements(shown).found if tag in ("th", "td")
    ]
    assert ["text-align:center", "text-align:right"] * 2 == aligned


def test_code_is_highlighted_and_escaped():
    shown = html("```python\nx = '<b>'\n```")

    assert 'x <span class="o">=</span>' in shown
    assert "&lt;b&gt;" in shown
    assert '<div class="highlight"' in shown


def test_code_of_an_unknown_language_is_only_escaped():
    assert '<div class="highlight"><pre tabindex="0"><code>&lt;b&gt;</code></pre></div>\n' == code(
        "<b>", "klingon"
    )


def test_marks_that_reorder_a_line_of_code_are_spelled_out():
    assert "⟨U+202E⟩" in html("```\nif x:\u202e pass\n```")


def test_terminal_codes_and_long_words_and_emoji_are_fine():
    shown = html("\x1b[31mred\x1b[0m " + "x" * 200 + " 👩‍🔬")

    assert f"<p>red {'x' * 200} 👩‍🔬</p>\n" == bare(shown)


@pytest.mark.parametrize(
    "text", ["$a^2 + b^2$", "$$\\frac{a}{b}$$", "so $$x$$ too", "$\\begin{matrix}1\\\\[2pt]2\\end{matrix}$"]
)
def test_mathematics_is_left_for_the_front_end(text: str):
    shown = html(text)

    assert MATH in shown
    assert 1 == len(typeset(shown))


def test_mathematics_may_stand_in_brackets_too():
    assert ["$x^2$", "$$y$$"] == typeset(html("so \\(x^2\\) and \\[ y \\]"))


def test_brackets_around_nothing_or_code_stay_text():
    assert [] == typeset(html("\\(\\) and \\( `a` \\)"))


@pytest.mark.parametrize(
    "macro",
    [
        *(
            "\\href{javascript:alert(1)}{x}",
            "\\class{agm-ask}{x}",
            "\\style{position:fixed}{x}",
            "\\cssId{a}{x}",
        ),
        *("\\require{html}", "\\def\\x{y}", "\\newcommand{\\x}{y}", "\\renewcommand\\x{y}", "\\let\\x\\y"),
        *("\\raise{500pt}{x}", "\\kern-900pt x", "\\hspace{-99em}x", "\\rlap{x}", "\\rule{99em}{99em}"),
        *("\\\\[-900pt] x", "\\bbox[99em]{x}", "\\unicode{x202e}", "\\htmlClass{x}{y}", "\\data{x}{y}"),
    ],
)
def test_mathematics_that_could_do_more_than_draw_shows_its_source(macro: str):
    shown = html(f"see ${macro}$ and\n\n$$\n{macro}\n$$\n\nor \\({macro}\\) or \\[{macro}\\]")

    assert [] == typeset(shown)
    assert MATH not in shown


def test_mathematics_of_excessive_length_shows_its_source():
    assert [] == typeset(html("$" + "x+" * MATH_LIMIT + "y$"))


@given(st.text(alphabet="$\\()[]{}abegin \n`*", max_size=60))
def test_only_what_was_checked_is_ever_typeset(text: str):
    shown = html(text)

    assert shown.count(MATH) == len(typeset(shown))


def test_an_amount_of_dollars_is_not_mathematics():
    assert [] == typeset(html("It costs $5 now and $10 later, $HOME too."))


@pytest.mark.parametrize(
    "text", ["*a " * 20_000, "[" * 30_000, "`" * 30_000 + "a", "> " * 5_000, "- " * 5_000, "|" * 20_000]
)
def test_hostile_nesting_takes_no_time(text: str):
    began = time.process_time()
    assert_harmless(html(text))
    assert time.process_time() - began < 5
