"""The tools that are kept: one folder a tool, one folder a version, files that people can read and diff.

::

    ~/.agents/tools/
      roman_to_int/
        current            "2": the version that is offered
        v1/  tool.py  tool.json
        v2/  tool.py  tool.json     source; description, schema, tests, hash, origin, limits
        uses.json          how often it was called, and how often that failed

A version is written beside its place and renamed into it, whole; then ``current`` points to it. So a process
that dies at any moment leaves what was there before, and at worst a folder that begins with a dot, which the
next writer clears away. A version never changes and its number is never used again.

Nothing here is a permission: who may edit these files may change a tool, and is asked about it like anybody
(:mod:`.approvals`).
"""

from __future__ import annotations

import difflib
import json
import os
import re
import shutil
import time
from collections.abc import Iterator
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any, cast

from agent_magics.errors import UsageError
from agent_magics.files import sync, write_whole
from agent_magics.forge import names
from agent_magics.forge.draft import MEMORY_MB, SECONDS, Draft, Example
from agent_magics.forge.locks import locked

_VERSION = re.compile(r"v([1-9][0-9]{0,5})\Z")
FORMAT = 1
LARGEST = 1 << 20
"""Bytes of a file that are read at all."""


@dataclass(frozen=True, kw_only=True)
class Origin:
    """Where a version came from: the prompt that led to it, who wrote it, and when."""

    prompt: str = ""
    author: str = ""
    at: float = 0.0


@dataclass(frozen=True, kw_only=True)
class Kept:
    """One version of a tool, as it stands on the disk now.

    Attributes
    ----------
    draft : Draft
        The tool itself; its ``sha256`` is computed from the files.
    version : int
        Its number.
    recorded : str
        The hash that it was saved with. Another one than the draft's means that somebody edited it.
    folder : Path
        Where it is.
    """

    draft: Draft
    version: int
    recorded: str
    folder: Path
    origin: Origin = field(default_factory=Origin)

    @property
    def edited(self) -> bool:
        return self.draft.sha256 != self.recorded


@dataclass(frozen=True, kw_only=True)
class Uses:
    """How often a tool was called, and how often that failed."""

    calls: int = 0
    failures: int = 0
    last: float = 0.0


class Registry:
    """The tools of one folder.

    Parameters
    ----------
    root : Path
        ``~/.agents/tools`` or a project's ``.agents/tools``. It is made when the first tool is saved.
    """

    def __init__(self, root: Path) -> None:
        self.root = root
        self._read_before: dict[Path, tuple[object, Kept]] = {}

    def names(self) -> list[str]:
        """The tools in it, sorted."""
        if not self.root.is_dir():
            return []
        return sorted(each.name for each in self.root.iterdir() if self._version(each.name) is not None)

    def __iter__(self) -> Iterator[Kept]:
        for name in self.names():
            if (kept := self.read(name)) is not None:
                yield kept

    def read(self, name: str, version: int | None = None) -> Kept | None:
        """A tool's version, or the current one; ``None`` if there is none, or its files are no tool's."""
        number = version or self._version(name)
        if number is None or names.problem(name):
            return None
        folder = self.root / name / f"v{number}"
        try:
            state = _state(folder / "tool.py"), _state(folder / "tool.json")
            before = self._read_before.get(folder)
            if before is None or before[0] != state:
                source, told = _read(folder / "tool.py"), json.loads(_read(folder / "tool.json"))
                before = state, _kept(name, number, folder, source, told)
                self._read_before[folder] = before
        except (OSError, ValueError, KeyError, TypeError, AttributeError):
            return None
        return before[1]

    def versions(self, name: str) -> list[int]:
        """The numbers of a tool's versions, ascending."""
        folder = self.root / name
        if names.problem(name) or not folder.is_dir():
            return []
        return sorted(int(match[1]) for each in folder.iterdir() if (match := _VERSION.match(each.name)))

    def save(self, draft: Draft, origin: Origin | None = None) -> Kept:
        """Keep a tool as a new version, and offer it.

        Raises
        ------
        UsageError
            If it can't have this name.
        """
        if why := names.problem(draft.name):
            raise UsageError(why)
        origin = origin or Origin(author=draft.author, at=time.time())
        with locked(self.root):
            home = self.root / draft.name
            home.mkdir(mode=0o700, exist_ok=True)
            self._clear(home)
            version = max(self.versions(draft.name), default=0) + 1
            folder = home / f"v{version}"
            self._write(home / f".v{version}", folder, draft, origin)
            write_whole(home / "current", f"{version}\n")
        return Kept(draft=draft, version=version, recorded=draft.sha256, folder=folder, origin=origin)

    def use(self, name: str, version: int) -> Kept:
        """Offer another of a tool's versions.

        Raises
        ------
        UsageError
            If there is no such version.
        """
        with locked(self.root):
            kept = self.read(name, version)
            if kept is None or version not in self.versions(name):
                there = ", ".join(map(str, self.versions(name))) or "none"
                raise UsageError(f"There is no version {version} of {name!r}.", f"There are: {there}.")
            write_whole(self.root / name / "current", f"{version}\n")
        return kept

    def delete(self, name: str) -> None:
        """Take a tool out, with all its versions.

        Raises
        ------
        UsageError
            If there is none of that name.
        """
        if names.problem(name) or not self.versions(name):
            raise UsageError(
                f"There is no tool {name!r} in {str(self.root)!r}.", "", "`/registry` lists them."
            )
        with locked(self.root):
            gone = self.root / f".{name}.{os.getpid()}"
            (self.root / name).rename(gone)
            sync(self.root)
            shutil.rmtree(gone, ignore_errors=True)

    def diff(self, name: str, old: int, new: int) -> str:
        """What changed in a tool's source from one version to another, as a unified diff."""
        before, after = self.read(name, old), self.read(name, new)
        if before is None or after is None:
            raise UsageError(f"{name!r} has no versions {old} and {new} to compare.")
        return source_diff(before.draft.source, after.draft.source, f"v{old}", f"v{new}")

    # -- uses ------------------------------------------------------------------------------------

    def uses(self, name: str) -> Uses:
        """How often a tool was called."""
        try:
            return Uses(**json.loads(_read(self.root / name / "uses.json")))
        except (OSError, ValueError, TypeError):
            return Uses()

    def count(self, name: str, *, failed: bool) -> None:
        """Count one call of a tool; a tool that is gone meanwhile is not counted."""
        with locked(self.root):
            if not self.versions(name):
                return
            uses = self.uses(name)
            uses = replace(uses, calls=uses.calls + 1, failures=uses.failures + failed, last=time.time())
            write_whole(self.root / name / "uses.json", json.dumps(vars(uses)) + "\n")

    # -- inside ----------------------------------------------------------------------------------

    def _version(self, name: str) -> int | None:
        try:
            text = _read(self.root / name / "current").strip()
        except (OSError, ValueError):
            return None
        return int(text) if text.isdecimal() and _VERSION.match(f"v{text}") else None

    def _write(self, beside: Path, folder: Path, draft: Draft, origin: Origin) -> None:
        beside.mkdir(mode=0o700)
        write_whole(beside / "tool.py", draft.source)
        write_whole(beside / "tool.json", _text(draft, origin))
        beside.rename(folder)
        sync(folder.parent)

    def _clear(self, home: Path) -> None:
        """What a writer that died left behind; we hold the lock, so nobody is at work there."""
        for each in home.iterdir():
            if each.name.startswith("."):
                if each.is_dir():
                    shutil.rmtree(each, ignore_errors=True)
                else:
                    each.unlink(missing_ok=True)


def source_diff(before: str, after: str, old: str = "before", new: str = "now") -> str:
    """A unified diff of two sources; empty if they are equal."""
    lines = difflib.unified_diff(before.splitlines(), after.splitlines(), old, new, lineterm="", n=2)
    return "\n".join(lines)


def _state(path: Path) -> tuple[int, ...]:
    """What changes when a file does. Who forges it has us go on with what was read before."""
    found = path.lstat()
    return found.st_mtime_ns, found.st_ctime_ns, found.st_size, found.st_ino, found.st_mode


def _read(path: Path) -> str:
    if path.is_symlink() or not path.is_file() or path.stat().st_size > LARGEST:
        raise ValueError(f"{str(path)!r} is not a plain file of at most 1 MB.")
    return path.read_text("utf-8")


def _text(draft: Draft, origin: Origin) -> str:
    told = {
        "format": FORMAT,
        "name": draft.name,
        "description": draft.description,
        "sha256": draft.sha256,
        "parameters": draft.parameters,
        "capabilities": list(draft.capabilities),
        "seconds": draft.seconds,
        "memory_mb": draft.memory_mb,
        "tests": [example.as_json() for example in draft.examples],
        "origin": {"prompt": origin.prompt[:2000], "author": origin.author, "at": origin.at},
    }
    return json.dumps(told, indent=2, ensure_ascii=False) + "\n"


def _kept(name: str, version: int, folder: Path, source: str, told: dict[str, Any]) -> Kept:
    """A version from its files, which anybody may have edited: whatever is not as it should be raises."""
    if told["format"] != FORMAT or told["name"] != name:
        raise ValueError("another format, or another tool's file")
    tests = cast("list[dict[str, Any]]", told["tests"])
    examples = [
        Example(arguments=dict(each["arguments"]), returns=each.get("returns"), known="returns" in each)
        for each in tests
    ]
    draft = Draft(
        name=name,
        description=str(told["description"]),
        source=source,
        parameters=dict(told["parameters"]),
        examples=tuple(examples),
        capabilities=tuple(map(str, told["capabilities"])),
        seconds=float(told.get("seconds", SECONDS)),
        memory_mb=int(told.get("memory_mb", MEMORY_MB)),
        author=str(told["origin"]["author"]),
    )
    origin = Origin(**{key: told["origin"][key] for key in ("prompt", "author", "at")})
    return Kept(draft=draft, version=version, recorded=str(told["sha256"]), folder=folder, origin=origin)
