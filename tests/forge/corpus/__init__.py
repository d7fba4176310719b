"""A corpus of honest tools, as models write them, by theme.

Each keeps the documented rules. A tool begins with a line ``### name arguments -> what it returns`` (JSON);
its source follows. They stand for what must never be refused by the tree check, and for what the sandbox must
run; the expected values were taken outside of the sandbox.
"""

from __future__ import annotations

import ast
import json
import re
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any

from agent_magics.forge.draft import Draft
from agent_magics.forge.pipeline import kinds
from agent_magics.forge.values import materials

_HEAD = re.compile(r"^### (?P<name>\w+) (?P<arguments>\{.*?\})(?: -> (?P<returns>.*))?$", re.MULTILINE)


@dataclass(frozen=True, kw_only=True)
class Honest:
    """One tool of the corpus."""

    theme: str
    name: str
    source: str
    arguments: dict[str, Any]
    returns: Any

    @property
    def materials(self) -> dict[str, Any]:
        """Its arguments, frames and arrays made of their JSON."""
        draft = Draft(name=self.name, description="", source=self.source)
        return materials(self.arguments, kinds(draft))


@cache
def corpus() -> tuple[Honest, ...]:
    """All tools."""
    return tuple(tool for path in sorted(Path(__file__).parent.glob("*.tools")) for tool in _read(path))


def _read(path: Path) -> list[Honest]:
    text = path.read_text("utf-8")
    heads = list(_HEAD.finditer(text))
    ends = [head.start() for head in heads[1:]] + [len(text)]
    return [
        Honest(
            theme=path.stem,
            name=head["name"],
            source=text[head.end() : end].strip() + "\n",
            arguments=json.loads(head["arguments"]),
            returns=json.loads(head["returns"] or "null"),
        )
        for head, end in zip(heads, ends, strict=True)
    ]


def size(tool: Honest) -> int:
    """Nodes of its tree."""
    return sum(1 for _ in ast.walk(ast.parse(tool.source)))
