"""The life of a tool, as a person sees it: through a real session, with the real sandbox and files."""

from __future__ import annotations

from pathlib import Path

import pandas as pd
import pytest

from agent_magics.errors import ToolError
from agent_magics.talk import Approval, StageDone, ToolCall, ToolMade
from agent_magics.testing import FakeAsker, FakeWorkbench, RecordingView
from tests.forge.conftest import SOURCE, Open, make_call, told, use


def test_tool_is_made_repaired_approved_used_kept_and_asked_about_again(opened: Open, tools: Path) -> None:
    bad = make_call(source="import os\n" + SOURCE)
    first = opened(bad, make_call(), use(), "7.4 m", use(3), "11.1 m", answers=("approve",))
    view = RecordingView()
    turn = first.ask("How long are 2 blorps? A blorp is 3.7 m.", on_event=view)
    assert "Attempt 1 of 3" in told(turn, 0)["error"] and "'os'" in told(turn, 0)["error"]
    assert ("blorps_to_metres", 1) == (told(turn, 1)["made"], told(turn, 1)["version"])
    assert 7.4 == told(turn, 2)["result"]
    assert 11.1 == pytest.approx(told(first.ask("and 3?"), 0)["result"])
    stages = [(event.stage, event.ok) for event in view.of(StageDone)]
    assert [("check", False)] == stages[:1]
    assert ["check", "compile", "schema", "probe", "save"] == [name for name, ok in stages[1:] if ok]
    assert ["blorps_to_metres"] == [made.name for made in view.of(ToolMade)]
    first.close()

    second = opened(use(4), "14.8 m", use(5), "no")
    assert 14.8 == told(second.ask("4 blorps?"), 0)["result"]
    source = tools / "blorps_to_metres" / "v1" / "tool.py"
    source.write_text(SOURCE.replace("3.7 metres", "3.8 metres").replace("* 3.7", "* 3.8"))
    asker = FakeAsker(Approval(decision="reject", by="you", comment="it was 3.7"))
    second.permission.asker = asker
    turn = second.ask("5 blorps?")
    assert "it was 3.7" in told(turn, 0)["error"]
    assert True is told(turn, 0)["rejected"]
    facts = dict(asker.asked[0].facts)
    assert "-    return blorps * 3.7" in facts["Changes"] and "+    return blorps * 3.8" in facts["Changes"]
    assert "1 of 1 earlier examples changed" in facts["Tests"]


def test_tool_of_another_notebook_is_there_in_the_next_turn(opened: Open) -> None:
    one = opened(make_call(), "made", answers=("approve",))
    other = opened("nothing yet", use(), "ok")
    other.ask("hello")
    one.ask("2 blorps?")
    assert 7.4 == told(other.ask("2 blorps?"), 0)["result"]


def test_new_version_shows_what_changed_and_runs_the_earlier_examples(opened: Open) -> None:
    asker = FakeAsker("approve", "approve")
    better = make_call(source=SOURCE.replace("* 3.7", "* 3.70"))
    session = opened(make_call(), better, "ok", asker=asker)
    turn = session.ask("2 blorps?")
    assert 2 == told(turn, 1)["version"]
    facts = dict(asker.asked[1].facts)
    assert "1 of 1 earlier examples give the same" == facts["Tests"]
    assert "+    return blorps * 3.70" in facts["Changes"]
    assert "+    return blorps * 3.70" in session.command("/registry blorps_to_metres diff 1 2")


def test_rolled_back_version_was_approved_once_and_is_not_asked_about(opened: Open) -> None:
    better = make_call(source=SOURCE.replace("* 3.7", "* 4"))
    session = opened(make_call(), better, "made", use(), "ok", answers=("approve", "approve"))
    session.ask("2 blorps?")
    session.command("/registry blorps_to_metres rollback 1")
    assert 7.4 == told(session.ask("2 blorps?"), 0)["result"]


def test_deleted_tool_is_gone_with_its_approval(opened: Open, tools: Path) -> None:
    session = opened(make_call(), "made", use(), "ok", answers=("approve",))
    session.ask("2 blorps?")
    session.command("/registry blorps_to_metres delete")
    assert "unknown tool" in told(session.ask("2 blorps?"), 0)["error"]
    assert [] == [each.name for each in tools.iterdir() if not each.name.startswith(".lock")]


def test_frame_goes_in_by_name_and_a_frame_comes_back(opened: Open) -> None:
    source = (
        "import pandas as pd\n\n"
        "def top_rows(df: pd.DataFrame, column: str, count: int = 1) -> pd.DataFrame:\n"
        "    return df.nlargest(count, column)\n"
    )
    call = make_call(
        name="top_rows",
        description="The rows with the largest values of a column",
        source=source,
        example={"df": {"a": [1, 3, 2]}, "column": "a"},
    )
    bench = FakeWorkbench(trips=pd.DataFrame({"km": [5.0, 9.0], "who": ["x", "y"]}))
    use_it = ToolCall(id="use", name="top_rows", arguments={"df": "trips", "column": "km"})
    session = opened(call, use_it, "ok", answers=("approve",), workbench=bench)
    turn = session.ask("top trips?")
    assert "9.0" in told(turn, 1)["result"]
    function = session.forge.function("top_rows")
    frame = function(bench.namespace["trips"], "km")
    assert [{"km": 9.0, "who": "y"}] == frame.to_dict("records")


def test_status_tells_the_isolation(opened: Open) -> None:
    assert "| isolation | level " in opened().command("/status")


def test_tools_that_were_not_allowed_are_not_offered(opened: Open) -> None:
    maker = opened(make_call(), "made", answers=("approve",))
    maker.ask("2 blorps?")
    assert "blorps_to_metres" in opened().toolbox
    assert ["more"] == opened(allowed_tools=["more"]).toolbox.names()
    assert "blorps_to_metres" not in opened(disallowed_tools=["blorps_to_metres"]).toolbox
    assert "make_tool" not in opened(tool_making="off").toolbox


def test_uses_are_counted(opened: Open) -> None:
    session = opened(make_call(), use(), use(3, "two"), "ok", answers=("approve",))
    session.ask("2 blorps?")
    assert "called 2 times" in session.command("/registry blorps_to_metres")


def test_function_of_an_edited_tool_refuses_to_run(opened: Open, tools: Path) -> None:
    session = opened(make_call(), "made", answers=("approve",))
    session.ask("2 blorps?")
    function = session.forge.function("blorps_to_metres")
    assert 7.4 == function(2) == function(blorps=2)
    path = tools / "blorps_to_metres" / "v1" / "tool.py"
    path.write_text(path.read_text().replace("3.7", "3.8"))
    with pytest.raises(ToolError, match="not approved as it is now"):
        function(2)
