"""What the panel is made of, in every state: roles, texts and order, as a screen reader finds them.

The snapshots beside this file are compared; the pictures beside them are for the eye, drawn anew with
``PICTURES=1``. Times and counts that change from run to run stand as ``N``.
"""

from __future__ import annotations

import os
import re
import time
from pathlib import Path

import pytest
from PIL import Image

from .conftest import OpenNotebook
from .lab import Notebook

HERE = Path(__file__).resolve().parent
SNAPSHOTS = HERE / "snapshots"
PICTURES = HERE / "pictures"

HEAD = "import stage, script\ns = stage.Stage()\n_ = await s."

STATES = {
    "thinking": ("hold([*script.until_approval()][:30])", ".agm-think"),
    "asking": ("hold(script.until_approval())", ".agm-acts"),
    "editing": ("hold(script.until_approval())", ".agm-acts"),
    "catalog": ("hold(script.catalog())", ".agm-acts"),
    "answering": ("hold(script.answering())", ".agm-text table"),
    "settled": ("play(script.furlongs(), speed=50, auto=True)", ".agent-turn mjx-container"),
    "stopped": ("play(script.states(), speed=50)", ".agent-turn"),
    "failed": ("play(script.failed(), speed=50)", ".agent-turn"),
}
"""For each state the way into it, and what is on the page when it is reached."""

CHANGING = {
    r"~?\b\d+ s(?= · )": "N s",
    r"~[\d,]+ tokens": "~N tokens",
    r" · \$[\d.]+": "",  # there where a price is known
}

SETTLES = 5.0

VIEWS = [(state, "light", 1000) for state in STATES] + [
    ("asking", "dark", 1000),
    ("asking", "light", 560),
    ("answering", "dark", 560),
    ("settled", "dark", 1000),
    ("settled", "light", 560),
]


def reach(page: Notebook, state: str) -> None:
    page.run_all()
    page.at(STATES[state][1]).first.wait_for()
    if state in ("asking", "editing", "catalog"):
        page.wait("() => document.querySelector('.agm-acts .mod-primary').disabled === false")
    if state == "editing":
        page.button("Edit…").click()
        page.button("Check again").wait_for()


def structure(page: Notebook) -> str:
    """The page's part that is ours, as an accessibility tree."""
    tree = page.at(".agm, .agent-turn").aria_snapshot()
    for changing, name in CHANGING.items():
        tree = re.sub(changing, name, tree)
    return f"{tree}\n"


@pytest.mark.browser
@pytest.mark.parametrize(("state", "theme", "width"), VIEWS, ids=str)
def test_a_state_has_its_roles_and_texts_in_their_order(
    notebook: OpenNotebook, state: str, theme: str, width: int
):
    page = notebook(HEAD + STATES[state][0], width=width, height=1300, theme=theme)
    reach(page, state)
    picture(page, f"{state}-{theme}-{width}.png")

    narrow = "-narrow" if width < 640 and state != "settled" else ""
    snapshot = SNAPSHOTS / f"{state}{narrow}.yml"
    if not snapshot.exists():
        snapshot.parent.mkdir(exist_ok=True)
        snapshot.write_text(structure(page))
    expected = snapshot.read_text()
    end = time.monotonic() + SETTLES
    while structure(page) != expected and time.monotonic() < end:
        page.page.wait_for_timeout(100)  # the header follows a moment later
    assert expected == structure(page)


def picture(page: Notebook, name: str) -> None:
    """A picture of the panel with its cell, when pictures are wanted."""
    if os.environ.get("PICTURES"):
        PICTURES.mkdir(exist_ok=True)
        page.page.mouse.move(2, 2)
        page.at(".jp-Cell").first.screenshot(path=PICTURES / name)
        with Image.open(PICTURES / name) as full:
            full.convert("RGB").quantize(128).save(PICTURES / name, optimize=True)  # a third of the size
