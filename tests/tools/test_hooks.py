"""Hooks see calls before and after: they may refuse, rewrite or end the turn, and never break it."""

from __future__ import annotations

import json
from typing import Any

import pytest

from agent_magics import tool
from agent_magics.errors import Halt
from agent_magics.talk import ToolCall
from agent_magics.tools import Deny, Permit, Results, Tool, Toolbox


class Door:
    """A toolbox with one tool, and everything that its call passed."""

    def __init__(self) -> None:
        self.ran: list[str] = []
        self.permitted: list[dict[str, Any]] = []
        self.noticed: list[str] = []

        @tool
        def remove(path: str) -> str:
            self.ran.append(path)
            return f"removed {path}"

        self.box = Toolbox([remove])

    async def call(self, path: Any = "a.txt") -> dict[str, Any]:
        result = await self.box.run(
            ToolCall(id="c1", name="remove", arguments={"path": path}),
            permit=self._permit,
            results=Results(),
            notice=self.noticed.append,
        )
        return json.loads(result.text)

    async def _permit(self, tool: Tool, call: ToolCall) -> Permit:
        self.permitted.append(dict(call.arguments))
        return Permit(allowed=call.arguments["path"] != "/", reason="not the root")


async def test_a_hook_that_says_nothing_lets_the_call_pass():
    door = Door()
    door.box.before(lambda use: None)
    assert {"result": "removed a.txt", "ok": True} == await door.call()
    assert [{"path": "a.txt"}] == door.permitted


async def test_a_hook_is_told_the_tool_the_call_and_its_arguments():
    door, told = Door(), []
    door.box.before(lambda use: told.append((use.tool, use.id, use.arguments)))
    await door.call()
    assert [("remove", "c1", {"path": "a.txt"})] == told


async def test_a_hook_may_deny_with_a_reason_that_the_model_reads():
    door = Door()
    door.box.before(lambda use: Deny(reason="not on Sundays"))
    assert {"error": "not on Sundays", "ok": False} == await door.call()
    assert [] == door.ran


async def test_arguments_that_a_hook_rewrites_are_permitted_again():
    door = Door()
    door.box.before(lambda use: {"path": "b.txt"})
    assert {"result": "removed b.txt", "ok": True} == await door.call()
    assert [{"path": "a.txt"}, {"path": "b.txt"}] == door.permitted


async def test_a_hook_can_not_rewrite_a_call_into_one_that_is_not_permitted():
    door = Door()
    door.box.before(lambda use: {"path": "/"})
    assert {"error": "not the root", "ok": False} == await door.call()
    assert [] == door.ran


async def test_a_hook_can_not_rewrite_a_call_into_one_that_is_not_valid():
    door = Door()
    door.box.before(lambda use: {"path": 5})
    assert "invalid arguments for remove" in (await door.call())["error"]
    assert [] == door.ran


async def test_a_hook_that_changes_the_arguments_in_place_changes_nothing():
    door = Door()

    def sneak(use):
        use.arguments["path"] = "/"

    door.box.before(sneak)
    assert {"result": "removed a.txt", "ok": True} == await door.call()


async def test_a_hook_that_returns_the_arguments_changed_in_place_is_permitted_again():
    door = Door()

    def sneak(use):
        use.arguments["path"] = "/"
        return use.arguments

    door.box.before(sneak)
    assert {"error": "not the root", "ok": False} == await door.call()


async def test_a_hook_that_keeps_what_it_returned_can_not_change_it_later():
    door, kept = Door(), {"path": "b.txt"}
    door.box.before(lambda use: kept)
    door.box.before(lambda use: kept.update(path="/"))
    assert {"result": "removed b.txt", "ok": True} == await door.call()


async def test_a_later_hook_sees_what_an_earlier_one_rewrote():
    door, seen = Door(), []
    door.box.before(lambda use: {"path": "b.txt"})
    door.box.before(lambda use: seen.append(use.arguments["path"]))
    await door.call()
    assert ["b.txt"] == seen


async def test_a_hook_may_be_async():
    door = Door()

    async def deny(use):
        return Deny(reason="later, perhaps")

    door.box.before(deny)
    assert "later, perhaps" == (await door.call())["error"]


@pytest.mark.parametrize("said", [RuntimeError("boom"), "text", 5])
async def test_a_hook_that_fails_denies_the_call_and_is_reported(said):
    door = Door()

    def fail(use):
        if isinstance(said, Exception):
            raise said
        return said

    door.box.before(fail)
    error = (await door.call())["error"]
    assert error.startswith("A hook failed, so this call of remove was denied: ")
    assert ([], [error]) == (door.ran, door.noticed)


async def test_an_after_hook_sees_the_value():
    door, seen = Door(), []
    door.box.after(lambda use, value: seen.append((use.tool, use.arguments, value)))
    await door.call()
    assert [("remove", {"path": "a.txt"}, "removed a.txt")] == seen


async def test_an_after_hook_that_fails_is_reported_and_the_result_stands():
    door = Door()

    async def fail(use, value):
        raise RuntimeError("boom")

    door.box.after(fail)
    assert {"result": "removed a.txt", "ok": True} == await door.call()
    assert ["A hook failed after remove had run: RuntimeError: boom"] == door.noticed


async def test_no_after_hook_runs_for_a_call_that_did_not():
    door, seen = Door(), []
    door.box.before(lambda use: Deny(reason="no"))
    door.box.after(lambda use, value: seen.append(value))
    await door.call()
    assert [] == seen


@pytest.mark.parametrize("when", ["before", "after"])
async def test_a_hook_may_end_the_turn(when):
    door = Door()

    def halt(*_):
        raise Halt("enough for today")

    getattr(door.box, when)(halt)
    with pytest.raises(Halt, match="enough for today"):
        await door.call()


async def test_a_matcher_must_match_the_whole_name():
    door, seen = Door(), []
    for matching in ("remove", "rem.*", "rem", "move", "REMOVE", "a|remove"):
        door.box.before(lambda use, matching=matching: seen.append(matching), matching=matching)
    await door.call()
    assert ["remove", "rem.*", "a|remove"] == seen
