"""What a person is told about a tool before it runs, besides its source: in the order of the card."""

from __future__ import annotations

import ast
import json

from agent_magics.forge.draft import Draft
from agent_magics.forge.pipeline import Inspected
from agent_magics.forge.registry import source_diff
from agent_magics.forge.values import brief
from agent_magics.talk import ToolCall

LEVELS = {
    "A": "level A: own process; no files, network, processes or signals (Landlock and seccomp)",
    "B": "level B: own process; no file is opened, no network, no processes (seccomp)",
    "C": "level C: own process; files are confined, network and processes are NOT",
    "D": "level D: own process and limits only. NOTHING ELSE HOLDS: it may read your files, use the network",
}
"""What each level of isolation means for the reader of a card."""

Facts = list[tuple[str, str]]


def facts(
    inspected: Inspected, *, call: ToolCall | None, level: str, before: str = "", notes: Facts | None = None
) -> Facts:
    """The facts of one card.

    Parameters
    ----------
    call : ToolCall, optional
        The call that it would be run with first.
    level : str
        The level of isolation.
    before : str
        The source that it replaces.
    notes : list of (str, str)
        What else there is to say; last.
    """
    draft = inspected.draft
    told: Facts = [("First call", _first(draft, call)), ("Probe", inspected.probed or _later(draft, level))]
    if inspected.tests:
        told.append(("Tests", inspected.tests))
    told += [
        ("May use", _may_use(draft)),
        ("Isolation", _isolation(draft, level)),
        ("Schema", _schema(draft)),
    ]
    if before and (changes := source_diff(before, draft.source)):
        told.append(("Changes", changes))
    return told + (notes or [])


def _first(draft: Draft, call: ToolCall | None) -> str:
    if call is None or not call.arguments:
        return "none yet; the model may call it from now on"
    inside = ", ".join(f"{name}={brief(value, 120)}" for name, value in call.arguments.items())
    return f"{draft.name}({inside})"


def _later(draft: Draft, level: str) -> str:
    if draft.capabilities:
        return "has NOT run yet: it needs what is listed below, so it is probed after your approval"
    return f"has NOT run yet: at level {level} it is probed only after your approval"


def _may_use(draft: Draft) -> str:
    modules: set[str] = set()
    for node in ast.walk(ast.parse(draft.source)):
        if isinstance(node, ast.Import):
            modules |= {alias.name for alias in node.names}
        elif isinstance(node, ast.ImportFrom) and node.module != "__future__":
            modules.add(node.module or "")
    imports = ", ".join(sorted(modules)) or "no imports"
    granted = "; ".join(map(_capability, draft.capabilities))
    return f"{imports}; {granted}" if granted else f"{imports}; no clock, chance, files or network"


def _capability(capability: str) -> str:
    name, _, detail = capability.partition(":")
    match name:
        case "http_get":
            return f"NETWORK: GET requests to {detail}, which can carry your data there"
        case "scratch":
            return "a scratch folder" + (f" that lives on as {detail!r}" if detail else " of its own")
        case "clock":
            return f"a clock that stands at {detail}" if detail else "the clock"
        case _:
            return f"random numbers from the seed {detail}" if detail else "random numbers"


def _isolation(draft: Draft, level: str) -> str:
    limits = f"{draft.seconds:g} s, {draft.memory_mb} MB and three times the data"
    return f"{LEVELS.get(level, f'level {level}')}; at most {limits} a call"


def _schema(draft: Draft) -> str:
    properties = draft.parameters.get("properties", {})
    required = draft.parameters.get("required", [])
    parts = [f"{name}{'' if name in required else '?'}: {_type(each)}" for name, each in properties.items()]
    return ", ".join(parts) or "no arguments"


def _type(described: object) -> str:
    if isinstance(described, dict) and isinstance(described.get("type"), str):  # pyright: ignore[reportUnknownMemberType]  # JSON
        return str(described["type"])  # pyright: ignore[reportUnknownArgumentType]
    return json.dumps(described, ensure_ascii=False)[:80] if described else "any"
