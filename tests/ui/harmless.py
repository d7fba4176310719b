"""What HTML may hold when it stands beside a button that matters."""

from __future__ import annotations

import re
from html.parser import HTMLParser

TAGS = frozenset(
    {
        *("a", "b", "code", "del", "em", "s", "span", "strong", "br"),
        *("blockquote", "div", "hr", "p", "pre"),
        *("h1", "h2", "h3", "h4", "h5", "h6"),
        *("li", "ol", "ul"),
        *("table", "tbody", "td", "th", "thead", "tr"),
        *("details", "summary"),
    }
)
ATTRIBUTES = frozenset(
    {
        "class",
        "style",
        "start",
        "tabindex",
        "href",
        "rel",
        "target",
        "open",
        "role",
        "aria-label",
        "aria-hidden",
    }
)
STYLE = re.compile(r"(?:[a-z-]+:[a-z0-9#%.,() -]+;?)*", re.IGNORECASE)
ADDRESS = re.compile(r"(?:https?://|mailto:)", re.IGNORECASE)
CLASSES = re.compile(r"highlight|math|agent-\w+|agm-[\w-]+|l|[a-z]{1,3}\d?|(?:[a-z]{1,3}\d?(?: |$))+")


class Elements(HTMLParser):
    """Every element of a page with its attributes, and the text outside of code."""

    def __init__(self, html: str) -> None:
        super().__init__(convert_charrefs=True)
        self.found: list[tuple[str, dict[str, str]]] = []
        self.text = ""
        self._code = 0
        self.feed(html)
        self.close()

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.found.append((tag, {name: value or "" for name, value in attrs}))
        self._code += tag in ("code", "pre")

    def handle_endtag(self, tag: str) -> None:
        self._code -= tag in ("code", "pre")

    def handle_data(self, data: str) -> None:
        if not self._code:
            self.text += data + "\0"  # an element's edge: typesetters don't look across it


def assert_harmless(html: str) -> None:
    """Nothing in ``html`` acts, loads, overlays, or poses as one of our controls."""
    for tag, attributes in Elements(html).found:
        assert tag in TAGS, tag
        assert attributes.keys() <= ATTRIBUTES, (tag, attributes)
        assert STYLE.fullmatch(attributes.get("style", "")), attributes["style"]
        for each in attributes.get("class", "").split():
            assert CLASSES.fullmatch(each), each
        if "href" in attributes:
            assert ADDRESS.match(attributes["href"]), attributes["href"]
            assert attributes["rel"] == "noopener noreferrer nofollow"


def bare(html: str) -> str:
    """HTML without our inline styles."""
    return re.sub(r' style="[^"]*"', "", html)


def typeset(html: str) -> list[str]:
    """What a front end would take for mathematics: MathJax's own delimiters, in text outside of code."""
    text = Elements(html).text
    formula = r"\$\$(.+?)\$\$|\$([^$\0]+?)\$|\\\((.+?)\\\)|\\\[(.+?)\\\]|\\begin\{.*"
    return [match[0] for piece in text.split("\0") for match in re.finditer(formula, piece, re.DOTALL)]
