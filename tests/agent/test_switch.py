"""What a session takes along to another provider."""

from __future__ import annotations

import pytest

from agent_magics import Session, provider
from agent_magics.testing import ScriptedProvider


@pytest.fixture
def given():
    """What the factories of two vendors were given last."""
    seen: dict[str, dict[str, object]] = {}

    def factory(name: str):
        def build(**options: object) -> ScriptedProvider:
            seen[name] = options
            made = ScriptedProvider(["Hello!"])
            made.name = name
            return made

        return build

    for name in ("one", "other"):
        provider(name, factory(name))
    return seen


def test_a_key_and_an_address_never_go_to_another_vendor(given):
    options = {"api_key": "sk-of-one", "base_url": "http://one", "headers": {"x": "y"}, "effort": "low"}
    with Session("one", tool_making="off", **options) as session:
        session.command("/provider other")
        assert {"model": None, "effort": "low"} == given["other"]
        session.command("/provider one")
        assert "api_key" not in given["one"]


def test_another_model_of_the_same_vendor_keeps_them(given):
    with Session("one", model="small", api_key="sk-of-one", tool_making="off") as session:
        session.command("/provider one:large")
    assert {"model": "large", "api_key": "sk-of-one"} == given["one"]


def test_a_provider_for_one_turn_follows_the_same_rule(given):
    with Session("one", api_key="sk-of-one", tool_making="off") as session:
        session.ask("hi")
        session.build("other:m")
        session.build(effort="high")
    assert {"model": "m"} == given["other"]
    assert {"model": None, "api_key": "sk-of-one", "effort": "high"} == given["one"]
