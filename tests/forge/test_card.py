"""What the card shows, and what becomes of each answer to it."""

from __future__ import annotations

from pathlib import Path

from agent_magics.talk import Approval, ApprovalAsked, ToolCall
from agent_magics.testing import FakeAsker, RecordingView
from tests.forge.conftest import SOURCE, Open, make_call, told, use


def test_card_tells_what_would_run_and_where(opened: Open) -> None:
    asker = FakeAsker("reject")
    session = opened(make_call(call={"blorps": 2}), "ok", asker=asker)
    session.ask("2 blorps?")
    asked = asker.asked[0]
    assert ("generated", SOURCE, "blorps_to_metres") == (asked.kind, asked.source, asked.tool)
    facts = dict(asked.facts)
    assert ["First call", "Probe", "May use", "Isolation", "Schema"] == list(facts)
    assert "blorps_to_metres(blorps=2)" == facts["First call"]
    assert '{"blorps": 10} → 37.0' == facts["Probe"]
    assert facts["Isolation"].startswith("level A") or facts["Isolation"].startswith("level B")


def test_capabilities_are_shown_and_probed_only_after_the_approval(opened: Open) -> None:
    source = "import datetime\n\ndef today() -> str:\n    return datetime.date.today().isoformat()\n"
    asker = FakeAsker("approve")
    call = make_call(
        name="today_iso",
        source=source.replace("def today", "def today_iso"),
        example={},
        capabilities=["clock:2026-05-04T00:00"],
    )
    turn = opened(call, ToolCall(id="u", name="today_iso", arguments={}), "ok", asker=asker).ask("today?")
    facts = dict(asker.asked[0].facts)
    assert "has NOT run yet" in facts["Probe"]
    assert "a clock that stands at 2026-05-04T00:00" in facts["May use"]
    assert "2026-05-04" == told(turn, 1)["result"]


def test_opted_in_level_is_said_on_the_card_and_probes_after_the_approval(opened: Open) -> None:
    asker = FakeAsker("approve")
    turn = opened(make_call(), use(), "ok", asker=asker, isolation="D").ask("2 blorps?")
    facts = dict(asker.asked[0].facts)
    assert "NOTHING ELSE HOLDS" in facts["Isolation"]
    assert "has NOT run yet" in facts["Probe"]
    assert 7.4 == told(turn, 1)["result"]


def test_rejection_is_final_for_the_turn_also_under_another_name(opened: Open) -> None:
    again = make_call(name="blorp_length", source=SOURCE.replace("blorps_to_metres", "blorp_length"))
    asker = FakeAsker("reject")
    session = opened(make_call(), make_call(), again, "ok", asker=asker)
    turn = session.ask("2 blorps?")
    assert [True, True, True] == [told(turn, at)["rejected"] for at in range(3)]
    assert 1 == len(asker.asked)


def test_run_once_keeps_nothing(opened: Open, tools: Path) -> None:
    session = opened(make_call(), use(2), use(2, id="again"), "ok", answers=("once",))
    turn = session.ask("2 blorps?")
    assert False is told(turn, 0)["kept"]
    assert 7.4 == told(turn, 1)["result"]
    assert "unknown tool" in told(turn, 2)["error"]
    assert not tools.exists()
    assert not session.forge.shelf.drafts()


def test_edit_is_checked_probed_and_shown_again_before_it_runs(opened: Open) -> None:
    edited = SOURCE.replace("3.7", "3.75")
    asker = FakeAsker(Approval(decision="edit", by="you", text=edited), "approve")
    session = opened(make_call(), use(2), "ok", asker=asker)
    turn = session.ask("2 blorps?")
    assert [SOURCE, edited] == [asked.source for asked in asker.asked]
    assert '{"blorps": 10} → 37.5' == dict(asker.asked[1].facts)["Probe"]
    assert asker.asked[0].sha256 != asker.asked[1].sha256
    assert (7.5, edited) == (told(turn, 1)["result"], told(turn, 0)["source"])


def test_edit_that_the_check_rejects_is_shown_with_the_reason_and_does_not_run(opened: Open) -> None:
    asker = FakeAsker(Approval(decision="edit", by="you", text="import os\n" + SOURCE), "reject")
    opened(make_call(), "ok", asker=asker).ask("2 blorps?")
    assert [SOURCE, SOURCE] == [asked.source for asked in asker.asked]
    assert "rejected by the check" in dict(asker.asked[1].facts)["Your edit"]


def test_edit_may_change_the_signature(opened: Open) -> None:
    edited = "def blorps_to_metres(blorps: float, size: float = 3.7) -> float:\n    return blorps * size\n"
    asker = FakeAsker(Approval(decision="edit", by="you", text=edited), "approve")
    call = ToolCall(id="use", name="blorps_to_metres", arguments={"blorps": 2, "size": 5})
    turn = opened(make_call(), call, "ok", asker=asker).ask("2 blorps?")
    assert 10 == told(turn, 1)["result"]


def test_setting_that_answers_is_not_remembered_as_an_approval(opened: Open) -> None:
    always = opened(make_call(), use(), "ok", approve="always")
    view = RecordingView()
    assert 7.4 == told(always.ask("2 blorps?", on_event=view), 1)["result"]
    assert any("Nobody was asked" in notice for notice in view.turn.notices)
    always.close()
    asker = FakeAsker("reject")
    assert True is told(opened(use(), "ok", asker=asker).ask("again"), 0)["rejected"]


def test_never_refuses_and_plan_refuses(opened: Open) -> None:
    turn = opened(make_call(), "ok", approve="never").ask("2 blorps?")
    assert "approves nothing" in told(turn, 0)["error"]
    turn = opened(make_call(), "ok", phase="plan").ask("2 blorps?")
    assert "'plan'" in told(turn, 0)["error"]


def test_trusted_phase_still_asks_about_generated_tools(opened: Open) -> None:
    asker = FakeAsker("reject")
    opened(make_call(), "ok", phase="trusted", asker=asker).ask("2 blorps?")
    assert 1 == len(asker.asked)


def test_source_swapped_while_the_card_is_shown_is_not_what_runs(opened: Open, tools: Path) -> None:
    opened(make_call(), "made", answers=("approve",)).ask("2 blorps?")
    path = tools / "blorps_to_metres" / "v1" / "tool.py"
    path.write_text(SOURCE.replace("* 3.7", "* 3.8"))

    class Swapper(FakeAsker):
        async def ask(self, request: ApprovalAsked) -> Approval:
            path.write_text(SOURCE.replace("* 3.7", "* 9"))
            return await super().ask(request)

    asker = Swapper("approve", "reject")
    turn = opened(use(), use(2, "two"), "ok", asker=asker).ask("2 blorps?")
    assert 7.6 == told(turn, 0)["result"]
    assert True is told(turn, 1)["rejected"]
    assert "* 9" in asker.asked[1].source


def test_stop_while_the_card_is_shown_keeps_nothing(opened: Open, tools: Path) -> None:
    session = opened(make_call(), "ok", asker=FakeAsker())

    def stop(event: object) -> None:
        if isinstance(event, ApprovalAsked):
            session.cancel()

    turn = session.ask("2 blorps?", on_event=stop)
    assert "cancelled" == turn.stop
    assert not tools.exists()
