"""Prices: known ones are right, unknown ones stay unknown."""

from __future__ import annotations

import subprocess
import sys

import pytest

from agent_magics.providers.prices import cost, window
from agent_magics.talk import Usage
from tests.providers.conftest import ROOT


def test_cached_tokens_cost_less_and_output_costs_more():
    plain = cost("anthropic", "claude-sonnet-5-5", Usage(input=1000, output=0))
    cached = cost("anthropic", "claude-sonnet-5-5", Usage(input=1000, cached=1000))
    spoken = cost("anthropic", "claude-sonnet-5-5", Usage(output=1000))
    assert plain is not None
    assert cached is not None
    assert spoken is not None
    assert 0 < cached < plain < spoken


@pytest.mark.parametrize(
    ("provider", "model"),
    [("openai", "gpt-4o"), ("gemini", "gemini-2.5-flash"), ("vertex", "claude-sonnet-4-5")],
)
def test_every_vendor_is_found_under_our_name_for_it(provider, model):
    price = cost(provider, model, Usage(input=1000, output=1000))
    assert price is not None
    assert price > 0
    assert window(provider, model) > 0


@pytest.mark.parametrize(("provider", "model"), [("openai", "no-such-model"), ("nobody", "no-such-model")])
def test_an_unknown_price_is_unknown_and_not_nothing(provider, model):
    assert cost(provider, model, Usage(input=1000)) is None
    assert window(provider, model) == 0


def test_what_runs_here_is_free():
    assert cost("llama", "SmolLM2", Usage(input=1000)) == 0.0


def test_without_the_price_list_every_price_of_a_vendor_is_unknown():
    code = (
        "from agent_magics.providers.prices import cost; from agent_magics.talk import Usage\n"
        "print(cost('openai', 'gpt-4o', Usage(input=1)))"
    )
    command = [sys.executable, "-S", "-c", code]  # -S: with no installed package in reach
    done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, timeout=60, check=True)
    assert done.stdout.strip() == "None"
