"""A line of text is an answer; whatever is not clearly a yes is a no."""

from __future__ import annotations

from dataclasses import replace

import pytest

from agent_magics.talk import ApprovalAsked, ToolCall
from agent_magics.ui.answering import answered, invitation

CATALOG = ApprovalAsked(
    id="7f3a",
    call=ToolCall(id="c", name="remove"),
    tool="remove",
    kind="catalog",
    reason="",
    source="",
    sha256="",
    at=0.0,
)
GENERATED = replace(CATALOG, kind="generated")


@pytest.mark.parametrize(
    ("line", "decision", "comment"),
    [
        ("y", "approve", ""),
        ("YES", "approve", ""),
        (" approve  only this once ", "approve", "only this once"),
        ("a", "always", ""),
        ("always", "always", ""),
        ("n not on the raw data", "reject", "not on the raw data"),
        ("", "reject", ""),
        ("o", "reject", "o"),
        ("yes!", "reject", "yes!"),
        ("what does it do?", "reject", "what does it do?"),
        ("edit", "reject", "edit"),
    ],
)
def test_a_line_about_a_tool_of_the_catalog(line, decision, comment):
    given = answered(f"{line}\n", CATALOG)
    assert (decision, comment, "you") == (given.decision, given.comment, given.by)


@pytest.mark.parametrize(
    ("line", "decision"), [("y", "approve"), ("o", "once"), ("a", "reject"), ("", "reject")]
)
def test_a_line_about_a_tool_that_a_model_wrote(line, decision):
    assert decision == answered(f"{line}\n", GENERATED).decision


@pytest.mark.parametrize("line", ["", "y", "a"])
def test_an_input_that_closes_is_no_answer(line):
    given = answered(line, CATALOG)
    assert ("reject", "policy", "the input was closed") == (given.decision, given.by, given.comment)


def test_the_invitation_offers_what_is_understood():
    assert "[a]lways" in invitation(CATALOG)
    assert "[o]nce" in invitation(GENERATED)
