"""Honest tools: none is refused, and each returns in the sandbox what it returned outside."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from agent_magics.forge import check
from agent_magics.forge.checking import compile_check
from agent_magics.forge.schema import describe, problems_of
from agent_magics.forge.values import plain, same
from agent_magics.sandbox import Sandbox
from tests.forge.corpus import Honest, corpus

TOOLS = corpus()


@pytest.fixture(scope="module")
def sandbox() -> Iterator[Sandbox]:
    with Sandbox() as shared:
        yield shared


def named(tool: Honest) -> str:
    return f"{tool.theme}-{tool.name}"


def test_there_are_two_hundred_of_them_and_each_is_another() -> None:
    assert len(TOOLS) >= 200
    assert len(TOOLS) == len({tool.name for tool in TOOLS})
    assert 9 == len({tool.theme for tool in TOOLS})


@pytest.mark.parametrize("tool", TOOLS, ids=named)
def test_honest_tool_is_not_refused(tool: Honest) -> None:
    described = describe(tool.source, tool.name, {})
    assert () == check(tool.source, tool.name, described.parameters).reasons
    assert () == compile_check(tool.source).reasons
    assert [] == problems_of(tool.arguments, described)


@pytest.mark.parametrize("tool", TOOLS, ids=named)
@pytest.mark.xdist_group("corpus")
def test_honest_tool_runs_in_the_sandbox(tool: Honest, sandbox: Sandbox) -> None:
    outcome = sandbox.call(tool.source, tool.name, tool.materials, seconds=20)
    assert outcome.error is None
    assert same(tool.returns, plain(outcome.value)), f"{tool.returns!r} != {outcome.value!r}"
