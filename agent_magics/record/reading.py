"""A file -> the turns that it holds.

Two kinds of file are records: a notebook (nbformat 4) whose outputs carry their turns as data, and a JSON
file that ``/export`` wrote. A file is taken whole or not at all: one turn of an unknown version refuses it,
since what was left out would be missed by nobody.
"""

from __future__ import annotations

import json
import os
import stat
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any, NoReturn, cast

from agent_magics.errors import ConfigError, UsageError
from agent_magics.masking import masked
from agent_magics.record import limits
from agent_magics.record.trust import cleansed, harmless
from agent_magics.talk import Turn
from agent_magics.talk.codec import VERSION, decode
from agent_magics.talk.text import whole

MIME = "application/x-agent-magics.turn+json"
"""Under which a cell's output holds its turn. Not under ``application/vnd.``: VS Code would prefer that to
the HTML."""


@dataclass(frozen=True, kw_only=True)
class Record:
    """What a file holds.

    Attributes
    ----------
    name : str
        The file's name, fit to be shown.
    turns : tuple of Turn
        Its turns in order, with nothing in them but text; see :mod:`agent_magics.record.trust`.
    """

    name: str
    turns: tuple[Turn, ...]

    @property
    def made(self) -> frozenset[str]:
        """The names of the tools that were made in these turns. Names only."""
        return frozenset(call.made for turn in self.turns for call in turn.calls if call.made)


def read_record(path: Path) -> Record:
    """The turns of a notebook or of an exported JSON file.

    Raises
    ------
    UsageError
        If there is no such file, or no turn in it.
    ConfigError
        If it can't be read, is no record, is too large, or was written by a newer version.
    """
    name = shown_name(path)
    try:
        raw = _bytes(path)
        limits.check_file(raw)
        found = list(_found(raw))
        if len(found) > limits.TURNS:
            raise limits.too_much(f"It has more than {limits.TURNS:,} turns.")
    except ConfigError as error:
        raise _refused(f"{name!r} can't be taken as a record.", error) from None
    if not found:
        raise UsageError(
            f"There are no turns in {name!r}.",
            "None of its outputs holds one: it was never run, or its outputs were cleared.",
            "Name a notebook that was saved after its turns had run, or a file that /export wrote.",
        )
    turns: list[Turn] = []
    for number, (data, cell) in enumerate(found, 1):
        try:
            turns.append(cleansed(_turn(data), origin=f"from file {name}", cell=cell))
        except ConfigError as error:
            raise _refused(f"Turn {number} of {name!r} can't be taken.", error) from None
    return Record(name=name, turns=tuple(_once(turns)))


def shown_name(path: Path) -> str:
    """The file's name as text that hides nothing."""
    return harmless(path.name, 120) or "file"


def _bytes(path: Path) -> bytes:
    try:
        found = path.stat()
        if not stat.S_ISREG(found.st_mode):
            raise ConfigError("It is a folder or a device, not a file.")
        if found.st_size > limits.FILE:
            raise limits.too_much(f"It has more than {limits.FILE / 1e6:.0f} MB.")
        with path.open("rb") as file:
            return file.read(limits.FILE + 1)
    except FileNotFoundError:
        raise UsageError(
            f"There is no file {shown_name(path)!r}.",
            f"Looked in {harmless(os.fspath(path.parent), 300)!r}.",
            "A path is meant from the notebook's folder.",
        ) from None
    except (OSError, ValueError) as error:  # ValueError: a path with a NUL in it
        reason = error.strerror if isinstance(error, OSError) else None
        raise ConfigError(f"It can't be read: {reason or error}.") from None


def _found(raw: bytes) -> Iterator[tuple[Any, str | None]]:
    """Each turn's data, and the id of the cell that it stands in, where it stands in one."""
    try:
        data = json.loads(raw.decode("utf-8-sig"))
    except (ValueError, RecursionError) as error:
        raise ConfigError("It is neither a notebook nor JSON.", harmless(str(error), 200)) from None
    if isinstance(data, Mapping) and "nbformat" in data:
        yield from _in_notebook(cast("Mapping[str, Any]", data))
    elif isinstance(data, Mapping) and "type" in data:
        yield from _in_json(cast("Mapping[str, Any]", data))
    else:
        raise ConfigError("It is neither a notebook nor a file that /export wrote.")


def _in_notebook(data: Mapping[str, Any]) -> Iterator[tuple[Any, str | None]]:
    import nbformat

    v4: Any = nbformat.v4  # typed in part
    major = data["nbformat"]
    if type(major) is not int or major != v4.nbformat:
        raise ConfigError(
            f"It is a notebook of format {harmless(repr(major), 20)}, not {v4.nbformat}.",
            "Open it in Jupyter and save it.",
        )
    notebook = v4.to_notebook({**data, "metadata": {}, "cells": list(_cells(data))})
    for cell in notebook.cells:
        for output in cell.outputs:
            yield output.data[MIME], cell.id


def _cells(data: Mapping[str, Any]) -> Iterator[dict[str, Any]]:
    """The cells that hold turns, and nothing else of them: pictures and tables of others stay unread."""
    cells = data.get("cells")
    if not isinstance(cells, list):
        raise ConfigError("It is damaged: a notebook has a list of cells.")
    for cell in map(_fields, cast("list[Any]", cells)):
        outputs = cell.get("outputs")
        outputs = cast("list[Any]", outputs) if isinstance(outputs, list) else []
        bundles = [_fields(_fields(each).get("data")) for each in outputs]
        kept = [
            {"output_type": "display_data", "metadata": {}, "data": {MIME: bundle[MIME]}}
            for bundle in bundles
            if MIME in bundle
        ]
        if kept:
            id_ = cell.get("id")
            yield {
                "cell_type": "code",
                "id": id_ if isinstance(id_, str) else "",
                "metadata": {},
                "source": "",
                "execution_count": None,
                "outputs": kept,
            }


def _fields(value: Any) -> dict[str, Any]:
    return cast("dict[str, Any]", value) if isinstance(value, dict) else {}


def _in_json(data: Mapping[str, Any]) -> Iterator[tuple[Any, str | None]]:
    _check_kind(data, "Conversation", "Turn")
    if data["type"] == "Turn":
        yield dict(data), None
        return
    turns = data.get("turns")
    if not isinstance(turns, list):
        raise ConfigError("It is damaged: there is no list of turns in it.")
    for each in cast("list[Any]", turns):
        if not isinstance(each, Mapping):
            raise ConfigError("It is damaged: what should be a turn is none.")
        yield {**cast("Mapping[str, Any]", each), "v": data["v"], "type": "Turn"}, None


def _turn(data: Any) -> Turn:
    """One turn of its data, measured before it is built."""
    fields = _fields(data)
    limits.check_turn(fields)
    _check_kind(fields, "Turn")
    turn = decode(json.loads(whole(json.dumps(fields, ensure_ascii=False))))
    assert isinstance(turn, Turn)
    return masked(turn)


def _check_kind(data: Mapping[str, Any], *kinds: str) -> None:
    version, kind = data.get("v"), data.get("type")
    if type(version) is not int or not 1 <= version <= VERSION:
        raise ConfigError(
            f"It has format version {harmless(repr(version), 40)}; this agent_magics reads up to {VERSION}.",
            "It was written by a newer version, or it is no record. Upgrade agent-magics, or leave it.",
        )
    if kind not in kinds:
        raise ConfigError(f"It holds a {harmless(repr(kind), 40)}, which is no conversation.")


def _once(turns: list[Turn]) -> Iterator[Turn]:
    """A turn that stands in the file twice (``_turn`` shows the last one again) counts once."""
    seen: set[tuple[str, str, str, float]] = set()
    for turn in turns:
        key = (turn.id, turn.prompt, turn.reply, turn.began)
        if key not in seen:
            seen.add(key)
            yield turn


def _refused(what: str, error: ConfigError) -> NoReturn:
    if isinstance(error, UsageError):
        raise error
    why = " ".join(harmless(part, 300) for part in (error.what, error.why) if part)
    raise ConfigError(what, why, "Nothing was changed.") from None
