"""What the commands say about what there is."""

from __future__ import annotations

import pytest

from agent_magics import Session, tool
from agent_magics.talk import ToolCall
from agent_magics.testing import ScriptedProvider
from agent_magics.ui.report import report


@pytest.fixture
def session():
    with Session(provider="stub") as made:
        yield made


def test_a_bar_in_a_usage_does_not_end_the_row(session: Session):
    shown = report(session.command("/help"))["text/html"]
    assert "<code>/registry [NAME [diff A B | rollback VERSION | delete]]</code>" in shown
    assert "The tools that are kept" in shown


def test_tools_says_that_make_tool_asks_and_ends_with_a_sentence(session: Session):
    row = next(line for line in session.command("/tools").split("\n") if "make_tool(" in line)
    _, says, asks = row.strip("| ").split(" | ")
    assert says.endswith(".")
    assert "itself, with what it shows you" == asks


def test_a_setting_that_rejects_is_told_as_a_rejection():
    call = ToolCall(id="c1", name="risky", arguments={})

    @tool(asks=True)
    def risky() -> str:
        """Do something that may be regretted."""
        return "done"

    with Session(ScriptedProvider([call, "Then not."]), tools=[risky], approve="never") as made:
        record = made.ask("go").calls[0]
    assert record.approval is not None
    assert ("reject", "policy") == (record.approval.decision, record.approval.by)
    assert "approves nothing" in record.approval.comment
