"""The stages that a draft goes through before a person is asked: check, compile, schema, probe.

Each has its verdict and its time, said while it happens. What a stage rejects is a sentence or two that the
author can act on; nothing is guessed or mended here.
"""

from __future__ import annotations

import ast
import time
from collections.abc import Awaitable, Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, TypeVar

from agent_magics.errors import ToolError
from agent_magics.forge import names, schema
from agent_magics.forge.checking import check, compile_check
from agent_magics.forge.doors import Sandboxed
from agent_magics.forge.draft import Draft, Example
from agent_magics.forge.schema import Described
from agent_magics.forge.tree import signature
from agent_magics.forge.tree.verdict import Verdict
from agent_magics.forge.values import LARGEST, brief, materials, plain, same
from agent_magics.sandbox.outcome import Outcome, SandboxError
from agent_magics.talk import StageDone, Usage
from agent_magics.tools.result import json_text
from agent_magics.tools.running import running_call
from agent_magics.tools.threads import in_thread

PROBE_SECONDS = 20.0
MOST_TESTS = 10

T = TypeVar("T")


class Rejected(ToolError):
    """A stage rejected a draft; the message is for its author."""

    def __init__(self, stage: str, reason: str) -> None:
        super().__init__(reason)
        self.stage = stage


@dataclass(frozen=True, kw_only=True)
class Inspected:
    """A draft that passed every stage.

    Attributes
    ----------
    draft : Draft
        With its final schema, and with what its examples returned.
    objects : mapping
        Arguments that take a frame or an array -> which.
    probed : str
        What the probe came to, in a line; empty if it has to wait for the approval.
    tests : str
        What came of the examples of the tool's earlier version, in a line.
    """

    draft: Draft
    objects: Mapping[str, str]
    probed: str = ""
    tests: str = ""


Took = Callable[[], tuple[str, Usage]]


async def stage(
    tool: str,
    name: str,
    work: Callable[[], Awaitable[tuple[T, str]]],
    took: Took = lambda: ("", Usage()),
) -> T:
    """Run one stage and say its verdict: ``work`` returns a value and a detail, or raises
    :class:`Rejected`. ``took`` names the model that wrote in it, and its tokens."""
    began = time.monotonic()
    try:
        value, detail = await work()
    except Rejected as rejected:
        _say(tool, name, ok=False, detail=str(rejected), began=began, took=took())
        raise
    _say(tool, name, ok=True, detail=detail, began=began, took=took())
    return value


def _say(tool: str, name: str, *, ok: bool, detail: str, began: float, took: tuple[str, Usage]) -> None:
    if (call := running_call()) is not None:
        seconds = time.monotonic() - began
        model, usage = took
        call.emit(
            StageDone(
                id=call.id,
                tool=tool,
                stage=name,
                ok=ok,
                detail=detail,
                seconds=seconds,
                at=time.time(),
                model=model,
                usage=usage,
            )
        )


async def inspect(
    draft: Draft, sandbox: Sandboxed, *, taken: Sequence[str] = (), earlier: Draft | None = None
) -> Inspected:
    """Take a draft through the stages.

    Parameters
    ----------
    taken : sequence of str
        Names that it can't have.
    earlier : Draft, optional
        The version that it is to replace; its examples are run again.

    Raises
    ------
    Rejected
        By the first stage that rejects it.
    """
    if why := names.problem(draft.name, taken):
        raise Rejected("name", why)
    await stage(draft.name, "check", lambda: _check(draft))
    await stage(draft.name, "compile", lambda: _compile(draft))
    described = await stage(draft.name, "schema", lambda: _describe(draft))
    draft = replace(draft, parameters=described.parameters)
    objects = kinds(draft)
    if not may_probe_first(draft, sandbox):
        return Inspected(draft=draft, objects=objects)
    returned = await stage(draft.name, "probe", lambda: probe(draft, objects, sandbox))
    draft = replace(draft, examples=returned)
    tests = await _again(draft, objects, earlier, sandbox) if earlier else ""
    probed = f"{brief(dict(returned[0].arguments))} → {brief(returned[0].returns)}" if returned else ""
    return Inspected(draft=draft, objects=objects, probed=probed, tests=tests)


def may_probe_first(draft: Draft, sandbox: Sandboxed) -> bool:
    """Whether it may run before a person has seen it: only where it is confined, and with no capability."""
    return sandbox.level in ("A", "B") and not draft.capabilities


def kinds(draft: Draft) -> dict[str, str]:
    """Arguments that take a frame or an array -> which."""
    function = signature.function_of(ast.parse(draft.source), draft.name)
    args = signature.parameters(function) if function else []
    return {arg.arg: kind for arg in args if (kind := signature.hinted(arg)) in signature.OBJECTS}


# -- the stages ----------------------------------------------------------------------------------------


async def _check(draft: Draft) -> tuple[None, str]:
    granted = _capabilities(draft)
    verdict = await in_thread(lambda: check(draft.source, draft.name, capabilities=granted))
    _raise_unless(verdict, "check")
    return None, f"{draft.source.count(chr(10)) + 1} lines"


async def _compile(draft: Draft) -> tuple[None, str]:
    _raise_unless(await in_thread(lambda: compile_check(draft.source)), "compile")
    return None, ""


async def _describe(draft: Draft) -> tuple[Described, str]:
    try:
        described = schema.describe(draft.source, draft.name, draft.parameters)
    except ToolError as error:
        raise Rejected("schema", str(error)) from error
    if not draft.examples and described.parameters["properties"]:
        raise Rejected(
            "schema", "An example call is missing: give `example`, arguments for which it must work."
        )
    for example in draft.examples:
        if problems := schema.problems_of(example.arguments, described):
            raise Rejected("schema", f"The example does not fit the schema: {'; '.join(problems)}.")
    return described, ", ".join(described.parameters["properties"])


async def probe(
    draft: Draft, objects: Mapping[str, str], sandbox: Sandboxed
) -> tuple[tuple[Example, ...], str]:
    """Run the draft's own examples; each comes back with what it returned.

    Raises
    ------
    Rejected
        If a call fails, or returns something else than it was said to.
    """
    examples = draft.examples or (Example(arguments={}),)
    done: list[Example] = []
    for example in examples[:MOST_TESTS]:
        outcome = await run(draft, materials(example.arguments, objects), sandbox, seconds=PROBE_SECONDS)
        if outcome.error is not None:
            said = f"Called with {brief(dict(example.arguments))} it failed: {outcome.error.message}"
            raise Rejected("probe", said)
        value = plain(outcome.value)
        if example.known and not same(value, example.returns):
            said = f"Called with {brief(dict(example.arguments))} it returned {brief(value)}"
            raise Rejected("probe", f"{said}, and not {brief(example.returns)} as expected.")
        known = len(json_text(value)) <= LARGEST
        done.append(Example(arguments=example.arguments, returns=value if known else None, known=known))
    return tuple(done), brief(done[0].returns, 80)


async def _again(draft: Draft, objects: Mapping[str, str], earlier: Draft, sandbox: Sandboxed) -> str:
    """The earlier version's examples, run on the new one: told, not judged, since a change may be meant."""
    examples = [example for example in earlier.examples if example.known][:MOST_TESTS]
    if not examples:
        return ""
    failed: list[str] = []
    for example in examples:
        arguments = dict(example.arguments)
        if arguments.keys() - draft.parameters["properties"].keys():
            failed.append(f"{brief(arguments, 60)} no longer fits")
            continue
        outcome = await run(draft, materials(arguments, objects), sandbox, seconds=PROBE_SECONDS)
        if outcome.error is not None:
            failed.append(f"{brief(arguments, 60)} now fails: {outcome.error.message[:80]}")
        elif not same(plain(outcome.value), example.returns):
            now, before = brief(outcome.value, 60), brief(example.returns, 60)
            failed.append(f"{brief(arguments, 60)} gave {before}, now {now}")
    if not failed:
        return f"{len(examples)} of {len(examples)} earlier examples give the same"
    return f"{len(failed)} of {len(examples)} earlier examples changed: " + "; ".join(failed)


async def run(
    draft: Draft, arguments: Mapping[str, Any], sandbox: Sandboxed, *, seconds: float | None = None
) -> Outcome:
    """One confined call of a draft's function, with its own limits and what it was granted."""
    return await sandbox.acall(
        draft.source,
        draft.name,
        arguments,
        seconds=min(draft.seconds, seconds or draft.seconds),
        memory_mb=draft.memory_mb,
        capabilities=draft.capabilities,
    )


def _capabilities(draft: Draft) -> tuple[str, ...]:
    from agent_magics.sandbox.capabilities import read_grants

    try:
        read_grants(draft.capabilities)
    except SandboxError as error:
        raise Rejected("check", " ".join(str(error).split("\n"))) from error
    return draft.capabilities


def _raise_unless(verdict: Verdict, stage_name: str) -> None:
    if not verdict.ok:
        raise Rejected(stage_name, " ".join(verdict.reasons))
