"""Markdown -> HTML that can be shown beside a button that matters.

Three fences stand one behind the other: raw HTML is off in the parser; every token that could carry an
address or a macro has a rule of its own here; and what comes out passes an allow list. Only after that are
our own inline styles put on, so that the live panel and the saved output measure the same.

Images become their alt text (no tracking), links keep http, https and mailto, mathematics keeps what can
only draw. Link reference definitions are off: a block must mean the same wherever a stream was cut.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from functools import cache, lru_cache
from typing import TYPE_CHECKING, Any

from agent_magics.ui.dress import dressed
from agent_magics.ui.text import escape, escape_code, prose, unturned

if TYPE_CHECKING:
    from markdown_it import MarkdownIt
    from markdown_it.rules_inline import StateInline
    from markdown_it.token import Token
    from nh3 import Cleaner
    from pygments.formatters import HtmlFormatter

MATH = 'class="math"'
"""Found in rendered HTML exactly when there is something to typeset."""

MATH_LIMIT = 2_000
HIGHLIGHT_LIMIT = 20_000
_COLOURLESS = re.compile(r'<span class="[npw]">([^<]*)</span>')
"""Names, punctuation and blanks: they look like text, and would double what a notebook keeps of code."""

_TAGS = {
    *("a", "code", "del", "em", "s", "span", "strong", "br"),
    *("blockquote", "div", "hr", "p", "pre"),
    *("h1", "h2", "h3", "h4", "h5", "h6"),
    *("li", "ol", "ul"),
    *("table", "tbody", "td", "th", "thead", "tr"),
}
_ATTRIBUTES = {
    "a": {"href"},
    "div": {"class"},
    "ol": {"start"},
    "pre": {"tabindex"},
    "span": {"class"},
    "td": {"style"},
    "th": {"style"},
}

# Macros that link, style, load, define, or move their content out of its place: a formula that can draw over
# its neighbours can draw over an approval.
HARMFUL_MACROS = re.compile(
    r"\\(?:href|url|class|style|cssId|data|html\w*|require|unicode|action\w*|mathtip|texttip|toggle|tooltip"
    r"|x?def|gdef|edef|let|futurelet|global|csname|catcode|input|include\w*|write\w*|read|special"
    r"|(?:re)?newcommand|providecommand|(?:re)?newenvironment|Declare\w+|Newextarrow|newtag\w*|usetagform"
    r"|mmlToken|bbox|(?:math)?[rlc]lap|smash|[hv]phantom|raise\w*|lower|move\w+|MoveEqLeft|\w*makebox|parbox"
    r"|m?kern|[hmv]skip|[hmv]space|[Rr]ule|Space|(?:rotate|scale|resize)box|vcenter|setlength|fontsize"
    r"|label|tag|eqref|ref)(?![a-zA-Z])"
    r"|\\\\\s*\[\s*-"  # a line break that goes up
)


def html(text: str) -> str:
    """Markdown from anywhere as clean HTML with our inline styles."""
    return dressed(_cleaner().clean(_parser().render(prose(text))))


def blocks(text: str) -> list[Token]:
    """The block tokens of Markdown, without the work inside them."""
    tokens: list[Token] = []
    parser = _parser()
    parser.block.parse(text, parser, {}, tokens)
    return tokens


def code(text: str, language: str = "") -> str:
    """A block of code, with Pygments classes where the language is known; front ends bring the colours."""
    return (
        f'<div class="highlight"><pre tabindex="0"><code>{highlighted(text, language)}</code></pre></div>\n'
    )


def highlighted(text: str, language: str = "") -> str:
    """Code as escaped HTML with Pygments classes, or only escaped."""
    lexer = _lexer(language.lower()) if language and len(text) <= HIGHLIGHT_LIMIT else None
    if lexer is None:
        return escape_code(text)
    from pygments import highlight

    return _COLOURLESS.sub(r"\1", highlight(text, lexer, _formatter()))


def math(source: str, *, display: bool) -> str:
    """A formula for the front end to typeset, or its source as code when it is not harmless."""
    source = source.strip()
    mark = "$$" if display else "$"
    if len(source) > MATH_LIMIT or HARMFUL_MACROS.search(source) or "$" in source:
        return f"<code>{escape_code(mark + source + mark)}</code>"
    tag = "div" if display else "span"
    return f"<{tag} {MATH}>{mark}{escape_code(source)}{mark}</{tag}>"


@cache
def _formatter() -> HtmlFormatter[str]:
    from pygments.formatters import HtmlFormatter

    return HtmlFormatter(nowrap=True)  # it works out a whole style sheet when it is made


@cache
def _cleaner() -> Cleaner:
    import nh3

    return nh3.Cleaner(
        tags=_TAGS,
        attributes=_ATTRIBUTES,
        url_schemes={"http", "https", "mailto"},
        url_relative="deny",
        link_rel="noopener noreferrer nofollow",
        # A link in a live widget would otherwise replace the notebook.
        set_tag_attribute_values={"a": {"target": "_blank"}},
        filter_style_properties={"text-align"},
    )


@cache
def _parser() -> MarkdownIt:
    from markdown_it import MarkdownIt
    from mdit_py_plugins.dollarmath import dollarmath_plugin

    parser = MarkdownIt("commonmark", {"html": False}).enable(["table", "strikethrough"]).disable("reference")
    dollarmath_plugin(parser, allow_labels=False, allow_space=False, allow_digits=False, double_inline=True)
    parser.inline.ruler.before("escape", "math_brackets", _bracketed)
    for name, rule in _RULES.items():
        parser.add_render_rule(name, rule)
    return parser


def _bracketed(state: StateInline, silent: bool) -> bool:
    r"""The other way to write mathematics, ``\(x\)`` and ``\[x\]``, which some models prefer to dollars."""
    opening = state.src[state.pos : state.pos + 2]
    if opening not in (r"\(", r"\["):
        return False
    end = state.src.find(r"\)" if opening == r"\(" else r"\]", state.pos + 2, state.posMax)
    content = state.src[state.pos + 2 : end].strip()
    if end < 0 or not content or "`" in content:
        return False
    if not silent:
        state.push("math_inline" if opening == r"\(" else "math_inline_double", "math", 0).content = content
    state.pos = end + 2
    return True


def _text(_: Any, tokens: Sequence[Token], at: int, *__: Any) -> str:
    return escape(tokens[at].content)


def _code_inline(_: Any, tokens: Sequence[Token], at: int, *__: Any) -> str:
    return f"<code>{escape_code(unturned(tokens[at].content))}</code>"


def _code_block(_: Any, tokens: Sequence[Token], at: int, *__: Any) -> str:
    language = tokens[at].info.split(maxsplit=1)[:1]
    return code(unturned(tokens[at].content), *language)


def _image(_: Any, tokens: Sequence[Token], at: int, *__: Any) -> str:
    return escape(tokens[at].content)


def _math(_: Any, tokens: Sequence[Token], at: int, *__: Any) -> str:
    token = tokens[at]
    return math(token.content, display=token.type != "math_inline") + "\n" * (token.type == "math_block")


_RULES = {
    "text": _text,
    "code_inline": _code_inline,
    "code_block": _code_block,
    "fence": _code_block,
    "image": _image,
    "math_inline": _math,
    "math_inline_double": _math,
    "math_block": _math,
}


@lru_cache(64)
def _lexer(language: str) -> Any:
    from pygments import lexers
    from pygments.util import ClassNotFound

    try:
        return vars(lexers)["get_lexer_by_name"](language, stripnl=False, ensurenl=False)
    except ClassNotFound:
        return None
