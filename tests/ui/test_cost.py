"""What a turn has cost, where that is known."""

from __future__ import annotations

import re
from dataclasses import replace

import pytest

from agent_magics.talk import Turn, TurnEnded, Usage
from agent_magics.ui.panel import Panel
from agent_magics.ui.settled import bundle
from agent_magics.ui.words import spent

from .front import FrontEnd
from .turns import began, replied

USAGE = Usage(input=1_000_000, output=100_000)


def words(markup: str) -> str:
    return re.sub(r"<[^>]+>", "", markup)


def turn(provider: str, model: str, usage: Usage = USAGE) -> Turn:
    return Turn(id="t", prompt="p", provider=provider, model=model, usage=usage, stop="done")


def test_a_known_price_stands_in_the_head_of_the_settled_turn():
    said = spent(turn("anthropic", "claude-sonnet-4-5"))
    assert said.startswith(" · $")
    settled = bundle(turn("anthropic", "claude-sonnet-4-5"))
    assert said in words(settled["text/html"])
    assert said.replace("$", "\\$") in settled["text/markdown"] or said in settled["text/markdown"]


@pytest.mark.parametrize(
    ("provider", "model"), [("somebody", "m-1"), ("demo", "rules"), ("llama", "SmolLM2")]
)
def test_an_unknown_price_stays_unknown_and_nobody_sends_a_bill_for_what_runs_here(provider, model):
    assert "" == spent(turn(provider, model))
    assert "$" not in bundle(turn(provider, model))["text/markdown"]


def test_the_live_header_counts_the_cost_with_each_reply(front: FrontEnd):
    panel = Panel(front.publish, on_stop=lambda: None, on_answer=lambda *_: None)
    panel.show()
    panel.play(replace(began("claude-sonnet-4-5"), provider="anthropic"))
    panel.flush(1e9)
    assert "$" not in front.html()
    panel.play(replied("Hello.", usage=USAGE))
    panel.flush(1e9 + 1)
    assert spent(turn("anthropic", "claude-sonnet-4-5")) in words(front.html())
    panel.play(TurnEnded(stop="done", reply="Hello.", usage=USAGE, seconds=1.0, at=0.0))
    panel.close()
