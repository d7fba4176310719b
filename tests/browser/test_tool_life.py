"""The life of a tool that the model wrote, in JupyterLab: repaired, approved, used again, edited, refused."""

from __future__ import annotations

import pytest

from .conftest import OpenLive
from .live import LiveNotebook

pytestmark = [pytest.mark.browser, pytest.mark.timeout(240)]

SETUP = """%load_ext agent_magics
from agent_magics import provider
from agent_magics.talk import ToolCall
from agent_magics.testing import ScriptedProvider

SOURCE = '''def blorps_to_metres(blorps: float) -> float:
    \\"\\"\\"A blorp is 3.7 metres.\\"\\"\\"
    return blorps * 3.7
'''

SHOUT = "def shout_it(text: str) -> str:\\n    return text.upper() + '!'\\n"

def make(id, source, **changes):
    arguments = {"name": "blorps_to_metres", "description": "Convert blorps to metres", "source": source,
                 "example": {"blorps": 10}, **changes}
    return ToolCall(id=id, name="make_tool", arguments=arguments)

def use(id, blorps):
    return ToolCall(id=id, name="blorps_to_metres", arguments={"blorps": blorps})

model = ScriptedProvider([REPLIES])
provider("script", lambda **_: model)
%config AgentMagics.provider = "script"
"""

EDIT = """from pathlib import Path
source = Path.home() / ".agents" / "tools" / "blorps_to_metres" / "v1" / "tool.py"
_ = source.write_text(source.read_text().replace("* 3.7", "* 3.8"))
"""

TOLD = "print('told:', model.requests[-1][0][-1]['content'])"


def setup(*replies: str) -> str:
    return SETUP.replace("REPLIES", ", ".join(replies))


def answered(page: LiveNotebook, cell: int, text: str) -> None:
    page.output(cell).locator(".agent-turn").get_by_text(text).wait_for()
    page.at_rest()


def test_tool_is_made_approved_reused_edited_on_disk_and_refused(live: OpenLive):
    page = live(
        setup("make('a', 'import os\\n' + SOURCE)", "make('b', SOURCE)", "use('c', 2)", "'It is 7.4 m.'",
              "use('d', 3)", "'It is 11.1 m.'"),
        "%%agent\nHow long are 2 blorps? A blorp is 3.7 metres.",
        "%agent and 3 of them?",
        setup("use('e', 4)", "'It is 14.8 m.'", "use('f', 5)", "'Then I leave it.'"),
        "%agent and 4?",
        EDIT,
        "%agent and 5?",
        TOLD,
        height=1600,
    )  # fmt: skip
    page.run(0)
    page.at_rest()

    page.run(1)
    page.asks()
    card = page.at(".agm-ask").inner_text()
    assert "Run a new tool?" in card and "return blorps * 3.7" in card
    assert '{"blorps": 10} → 37.0' in card and "level A" in card
    assert ["Approve", "Run once", "Edit…", "Reject"] == page.at(".agm-acts button").all_inner_texts()
    page.press("Approve")
    answered(page, 1, "It is 7.4 m.")
    assert "approved by you" in page.output(1).inner_text()
    assert "Attempt 1 of 3" in (page.output(1).locator(".agent-turn").text_content() or "")

    page.run(2)
    answered(page, 2, "It is 11.1 m.")
    assert 0 == page.at(".agm-ask").count()

    page.restart()
    page.run(3)
    page.at_rest()
    page.run(4)
    answered(page, 4, "It is 14.8 m.")

    page.run(5)
    page.at_rest()
    page.run(6)
    page.asks()
    card = page.at(".agm-ask").inner_text()
    assert "not the one that was approved" in card
    assert "return blorps * 3.7" in card and "return blorps * 3.8" in card, card
    page.comment("a blorp is 3.7 m, not 3.8")
    page.press("Reject")
    answered(page, 6, "Then I leave it.")
    page.run(7)
    page.at_rest()
    assert "a blorp is 3.7 m, not 3.8" in page.output(7).inner_text()
    assert "rejected by you" in page.output(6).inner_text()


def test_edit_in_the_card_is_checked_probed_and_shown_again(live: OpenLive):
    page = live(
        setup(
            "make('a', SHOUT, name='shout_it', description='Say it loud', example={'text': 'hi'})", "'Made.'"
        ),
        "%agent make it",
        "%agent /registry shout_it",
        height=1600,
    )
    page.run(0)
    page.at_rest()
    page.run(1)
    page.asks()
    page.press("Edit…")
    area = page.at(".agm-ask textarea")
    area.fill(area.input_value().replace("'!'", "'?!'"))
    page.press("Check again")
    page.at(".agm-ask").get_by_text("HI?!").first.wait_for()
    page.asks()
    assert "return text.upper() + '?!'" in page.at(".agm-ask").inner_text()
    page.press("Approve")
    answered(page, 1, "Made.")
    page.run(2)
    page.output(2).get_by_text("return text.upper() + '?!'").first.wait_for()
