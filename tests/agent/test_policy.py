"""T6, S8: allow, ask or refuse, for every phase, every kind of tool and every setting."""

from __future__ import annotations

from typing import Any, get_args

import pytest
from hypothesis import given
from hypothesis import strategies as st

from agent_magics.agent.policy import Allow, Approve, Ask, Phase, Policy, Refuse, call_key
from agent_magics.errors import UsageError
from agent_magics.tools import Tool
from tests.strategies import OBJECTS

KINDS = {
    "reads": {"read_only": True},
    "computes": {},
    "edits": {"asks": True, "edits": True},
    "executes": {"asks": True},
    "generated": {"asks": True, "generated": True},
}


def tool_of(kind: str) -> Tool:
    return Tool(name=kind, description="", handler=print, **KINDS[kind])


TABLE = {
    #                 reads    computes  edits    executes  generated
    "plan":         ("allow", "refuse", "refuse", "refuse", "refuse"),
    "default":      ("allow", "allow", "ask", "ask", "ask"),
    "accept_edits": ("allow", "allow", "unasked", "ask", "ask"),
    "trusted":      ("allow", "allow", "unasked", "unasked", "ask"),
    "bypass":       ("allow", "allow", "unasked", "unasked", "unasked"),
}  # fmt: skip


def word(verdict: Any) -> str:
    match verdict:
        case Allow(unasked=""):
            return "allow"
        case Allow():
            return "unasked"
        case Ask():
            return "ask"
        case _:
            assert isinstance(verdict, Refuse)
            return "refuse"


@pytest.mark.parametrize("approve", get_args(Approve))
@pytest.mark.parametrize("phase", get_args(Phase))
def test_the_table(phase, approve):
    policy = Policy(approve=approve, phase=phase)
    instead = {"ask": {"ask": "ask", "always": "unasked", "never": "refuse"}[approve]}
    expected = tuple(instead.get(verdict, verdict) for verdict in TABLE[phase])
    assert expected == tuple(word(policy.decide(tool_of(kind), {})) for kind in KINDS)


def test_a_setting_that_answers_in_place_of_a_person_is_named():
    assert Allow(unasked="approve='always'") == Policy(approve="always").decide(tool_of("executes"), {})
    assert Allow(unasked="phase 'bypass'") == Policy(phase="bypass").decide(tool_of("executes"), {})


def test_a_grant_covers_the_tool_with_all_arguments():
    policy = Policy()
    policy.grant(tool_of("executes"), {"command": "ls"})
    assert Allow() == policy.decide(tool_of("executes"), {"command": "rm"})
    assert "ask" == word(policy.decide(tool_of("edits"), {}))


def test_a_grant_of_a_tool_with_a_scope_covers_that_scope_only():
    fetch = Tool(
        name="fetch", description="", handler=print, asks=True, scope=lambda arguments: arguments["host"]
    )
    policy = Policy()
    policy.grant(fetch, {"host": "a.org"})
    verdicts = [word(policy.decide(fetch, {"host": host})) for host in ("a.org", "b.org")]
    assert ["allow", "ask"] == verdicts


@pytest.mark.parametrize("phase", get_args(Phase))
@pytest.mark.parametrize("approve", get_args(Approve))
def test_what_was_rejected_stays_rejected_for_the_turn_in_every_phase(phase, approve):
    policy, made = Policy(approve=approve, phase=phase), tool_of("executes")
    policy.grant(made, {})
    said = policy.reject(made, {"x": 1}, "too risky")
    assert "too risky" in said
    verdict = policy.decide(made, {"x": 1})
    assert isinstance(verdict, Refuse)
    assert "already rejected in this turn: too risky" in verdict.reason
    policy.new_turn()
    assert not isinstance(policy.decide(made, {"x": 1}), Refuse) or phase == "plan"


def test_a_plan_refuses_what_was_granted():
    policy = Policy(phase="plan")
    policy.grant(tool_of("executes"), {})
    assert "refuse" == word(policy.decide(tool_of("executes"), {}))


@given(OBJECTS, st.randoms())
def test_the_order_of_arguments_makes_no_difference_at_any_depth(arguments, random):
    def shuffled(value: Any) -> Any:
        if isinstance(value, dict):
            items = list(value.items())
            random.shuffle(items)
            return {key: shuffled(item) for key, item in items}
        return [shuffled(item) for item in value] if isinstance(value, list) else value

    made = tool_of("executes")
    assert call_key(made, arguments) == call_key(made, shuffled(arguments))


@given(OBJECTS, OBJECTS)
def test_other_arguments_are_another_call(one, other):
    made = tool_of("executes")
    assert (repr(one) == repr(other)) <= (call_key(made, one) == call_key(made, other))
    assert call_key(made, one) != call_key(made, {**one, "more": object()})


@pytest.mark.parametrize("values", [{"approve": "maybe"}, {"phase": "yolo"}, {"approve": ""}])
def test_a_setting_that_is_not_known_names_those_that_are(values):
    with pytest.raises(UsageError, match="is not known"):
        Policy(**values)
