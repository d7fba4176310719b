"""The teaching model completes the loop with the JSON planner, in a real session with all tools offered."""

from __future__ import annotations

from pathlib import Path

import pytest

from agent_magics import Session
from tests.benchmarks.bench_small_model import CASES, TOOLS, judge


@pytest.mark.local_model
@pytest.mark.parametrize("case", [CASES[0], CASES[4], CASES[7]], ids=lambda case: case.name)
def test_it_calls_a_tool_reads_its_result_and_answers(case, smollm2: Path):
    with Session(
        f"llama:{smollm2}", tools=TOOLS, tool_making="off", max_rounds=3, temperature=0, max_tokens=120
    ) as session:
        turn = session.ask(case.prompt)
    outcome = judge(case, turn)
    assert (True, True, True) == (outcome.called, outcome.read, outcome.right), outcome.said
    assert ("done", True) == (turn.stop, turn.calls[0].ok)
