"""The path of one call: each door in its order, and one JSON text whatever happens behind it."""

from __future__ import annotations

import asyncio
import json
import sys
from typing import Any

import pytest

from agent_magics import tool
from agent_magics.errors import Halt, ToolError
from agent_magics.talk import ToolCall, ToolResult
from agent_magics.testing import FakeWorkbench
from agent_magics.tools import Permit, Results, Tool, Toolbox
from tests.tools.calls import anything_goes, call_tool


@tool(aliases=("say", "cry"))
def shout(text: str) -> str:
    """Shout it."""
    return text.upper()


async def run(box: Toolbox, name: str, **arguments: Any) -> ToolResult:
    call = ToolCall(id="c1", name=name, arguments=arguments)
    return await box.run(call, permit=anything_goes, results=Results())


def payload(result: ToolResult) -> dict[str, Any]:
    return json.loads(result.text)


# -- which tool ----------------------------------------------------------------------------------


async def test_a_tool_is_found_by_its_name_and_by_its_aliases():
    box = Toolbox([shout])
    for name in ("shout", "say", "cry"):
        assert {"result": "HI", "ok": True} == payload(await run(box, name, text="hi"))


async def test_an_alias_leads_one_level_and_never_to_another_alias():
    box = Toolbox([shout, Tool(name="whisper", description="", handler=str, aliases=("say2",))])
    assert "whisper" == box.shown("say2")
    assert "say3?" == box.shown("say3")


async def test_a_tools_own_name_wins_over_anothers_alias():
    say = Tool(name="say", description="", handler=lambda: "plain")
    assert {"result": "plain", "ok": True} == payload(await run(Toolbox([shout, say]), "say"))


async def test_an_unknown_tool_is_named_with_those_that_there_are_and_the_nearest():
    box = Toolbox([shout, Tool(name="whisper", description="", handler=str)])
    expected = 'unknown tool: "shuot". Available: shout, whisper. Did you mean shout?'
    assert {"error": expected, "ok": False} == payload(await run(box, "shuot", text="hi"))
    assert "shuot?" == box.shown("shuot")


async def test_an_unknown_tool_that_is_near_to_nothing_gets_no_hint():
    expected = 'unknown tool: "zzz". Available: shout.'
    assert expected == payload(await run(Toolbox([shout]), "zzz"))["error"]
    assert 'unknown tool: "zzz". Available: none.' == payload(await run(Toolbox(), "zzz"))["error"]


def test_a_tool_that_is_replaced_takes_its_old_aliases_with_it():
    box = Toolbox([shout])
    box.add(Tool(name="shout", description="", handler=str, aliases=("yell",)))
    assert (True, False) == ("yell" in box, "say" in box)
    box.remove("shout")
    box.remove("shout")
    assert ([], False, 0) == (box.names(), "yell" in box, len(box))


async def test_a_replaced_tool_is_checked_by_its_new_schema():
    box = Toolbox([shout])
    await run(box, "shout", text="hi")
    box.add(tool(name="shout")(lambda: "no arguments"))
    assert {"result": "no arguments", "ok": True} == payload(await run(box, "shout"))


# -- before the handler --------------------------------------------------------------------------


async def test_a_call_that_has_a_problem_does_not_run():
    call = ToolCall(id="c1", name="shout", arguments={"text": "hi"}, problem="The arguments are not JSON.")
    result = await Toolbox([shout]).run(call, permit=anything_goes, results=Results())
    assert {"error": "The arguments are not JSON.", "ok": False} == payload(result)


async def test_invalid_arguments_reach_neither_permission_nor_hooks_nor_handler():
    reached: list[str] = []

    async def permit(tool: Tool, call: ToolCall) -> Permit:
        reached.append("permission")
        return Permit(allowed=True)

    made = Tool(
        name="f",
        description="",
        handler=lambda **_: reached.append("handler"),
        parameters={"type": "object", "properties": {"x": {"type": "integer"}}, "required": ["x"]},
    )
    box = Toolbox([made])
    box.before(lambda use: reached.append("before"))
    box.after(lambda use, value: reached.append("after"))
    result = await box.run(ToolCall(id="c", name="f", arguments={"x": "1"}), permit=permit, results=Results())
    expected = {"error": "invalid arguments for f: x: '1' is not of type 'integer'", "ok": False}
    assert expected == payload(result)
    assert [] == reached


async def test_of_many_problems_the_first_five_are_told():
    made = Tool(
        name="f",
        description="",
        handler=str,
        parameters={"type": "object", "additionalProperties": {"type": "integer"}},
    )
    result = await call_tool(made, **{f"x{number}": "text" for number in range(20)})
    assert 5 == payload(result)["error"].count("is not of type")


async def test_the_doors_are_passed_in_their_order():
    passed: list[str] = []

    async def permit(tool: Tool, call: ToolCall) -> Permit:
        passed.append("permission")
        return Permit(allowed=True)

    def before(name: str) -> Any:
        return lambda use: passed.append(f"before {name}")

    def after(name: str) -> Any:
        return lambda use, value: passed.append(f"after {name}")

    box = Toolbox([Tool(name="f", description="", handler=lambda: passed.append("handler"))])
    box.before(before("f"), matching="f")
    box.before(before("every"))
    box.before(before("g"), matching="g|ff")
    box.after(after("f"), matching="f|g")
    box.after(after("every"))
    await box.run(ToolCall(id="c", name="f"), permit=permit, results=Results())
    assert ["permission", "before every", "before f", "handler", "after every", "after f"] == passed


# -- the handler ---------------------------------------------------------------------------------


class Unspeakable(Exception):
    def __str__(self) -> str:
        raise RuntimeError("no text")


def raising(error: BaseException) -> Tool:
    def fail(x: int = 0) -> None:
        raise error

    return tool(fail)


def raising_async(error: BaseException) -> Tool:
    async def fail(x: int = 0) -> None:
        raise error

    return tool(fail)


def raising_on_main(error: BaseException) -> Tool:
    def fail(x: int = 0) -> None:
        raise error

    return tool(needs_kernel=True)(fail)


RAISED = [
    (ValueError("no such thing"), "ValueError: no such thing"),
    (KeyError(), "KeyError"),
    (ToolError("The file is gone."), "The file is gone."),
    (ToolError("What.", "Why.", "Remedy."), "What. Why. Remedy."),
    (Unspeakable(), "Unspeakable: <Unspeakable: its text could not be made (RuntimeError)>"),
    (SystemExit(2), "It raised SystemExit: 2"),
    (KeyboardInterrupt(), "It raised KeyboardInterrupt"),
    (StopIteration(5), "StopIteration"),
    (RecursionError("deep"), "RecursionError: deep"),
    (ExceptionGroup("both", [ValueError(1)]), "ExceptionGroup: both (1 sub-exception)"),
]


@pytest.mark.parametrize("made", [raising, raising_async, raising_on_main])
@pytest.mark.parametrize(("error", "said"), RAISED, ids=lambda value: type(value).__name__)
async def test_whatever_a_tool_raises_becomes_a_result_that_names_tool_and_arguments(made, error, said):
    result = payload(await call_tool(made(error), FakeWorkbench(), x=7))
    assert said in result.pop("error")
    assert {"tool": "fail", "arguments": {"x": 7}, "ok": False} == result


@pytest.mark.parametrize("made", [raising, raising_async, raising_on_main])
async def test_a_halt_leaves_the_toolbox(made):
    with pytest.raises(Halt, match="enough"):
        await call_tool(made(Halt("enough")), FakeWorkbench())


async def test_a_tool_that_cancels_itself_did_not_cancel_the_turn():
    async def confused() -> None:
        raise asyncio.CancelledError

    result = payload(await call_tool(tool(confused)))
    assert "It raised CancelledError" == result["error"]


async def test_a_tool_that_calls_exit_ends_nothing():
    @tool
    def leave() -> None:
        sys.exit("bye")

    assert "It raised SystemExit: bye" == payload(await call_tool(leave))["error"]


async def test_what_a_handler_does_to_its_arguments_stays_its_own():
    arguments = {"items": [1, 2]}

    def pop(items: list[int]) -> int:
        return items.pop()

    made = Tool(name="pop", description="", handler=pop, parameters={"type": "object"})
    call = ToolCall(id="c", name="pop", arguments=arguments)
    await Toolbox([made]).run(call, permit=anything_goes, results=Results())
    assert {"items": [1, 2]} == call.arguments


async def test_a_tool_that_needs_the_kernel_runs_where_the_workbench_runs_it():
    where: list[str] = []

    class Bench(FakeWorkbench):
        async def run(self, work):
            where.append("bench")
            return work()

    @tool(needs_kernel=True)
    def look() -> str:
        return "seen"

    assert {"result": "seen", "ok": True} == payload(await call_tool(look, Bench()))
    assert ["bench"] == where


async def test_a_plain_function_that_returns_an_awaitable_is_awaited():
    async def later(text: str) -> str:
        return text

    made = Tool(name="f", description="", handler=lambda: later("late"))
    assert {"result": "late", "ok": True} == payload(await call_tool(made))


async def test_five_megabytes_arrive_cut_and_quickly_enough_to_be_read_on():
    results = Results()
    big = Tool(name="big", description="", handler=lambda: "line\n" * 1_000_000)
    call = ToolCall(id="c", name="big")
    result = await Toolbox([big]).run(call, permit=anything_goes, results=results)
    assert (5_000_000, "r1") == (result.size, result.handle)
    assert len(result.text) < 17_000
    assert results.more("r1", results.more("r1")["pages"])["text"].endswith("line\n")
