"""Files that hold turns, and a session to take them in."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from agent_magics import Session
from agent_magics.record.reading import MIME
from agent_magics.store.in_memory import MemoryStore
from agent_magics.talk import CallRecord, Step, ToolCall, ToolResult, Turn
from agent_magics.talk.codec import encode
from agent_magics.testing import FakeAsker, ScriptedProvider


def turn(prompt: str = "How big is df?", **more: Any) -> Turn:
    """A turn that called a tool and answered."""
    result = ToolResult(ok=True, text='{"result": 7, "ok": true}', size=25, brief="7")
    call = CallRecord(
        call=ToolCall(id="c1", name="inspect", arguments={"name": "df"}), shown="inspect", result=result
    )
    steps = (
        Step(text="Look.", thinking="Look first.", calls=(call,), stop="tool_calls"),
        Step(text="It has **7** rows.", stop="end"),
    )
    fields: dict[str, Any] = {"id": "t1", "reply": "It has **7** rows.", "stop": "done", "steps": steps}
    return Turn(prompt=prompt, **{**fields, **more})


def notebook(*data: Any, **more: Any) -> dict[str, Any]:
    """A notebook with a cell for each of these turns' data."""
    cells = [
        {
            "cell_type": "code",
            "id": f"cell-{number}",
            "metadata": {},
            "source": "%%agent\nHow big is df?",
            "execution_count": number,
            "outputs": [{"output_type": "display_data", "metadata": {}, "data": {MIME: each}}],
        }
        for number, each in enumerate(data, 1)
    ]
    return {"nbformat": 4, "nbformat_minor": 5, "metadata": {}, "cells": cells, **more}


def encoded(**changes: Any) -> dict[str, Any]:
    """The data of a turn, with some of its fields replaced."""
    return {**json.loads(json.dumps(encode(turn()))), **changes}


@pytest.fixture
def written(tmp_path: Path) -> Callable[..., Path]:
    """Write something as a file, as JSON if it is no text or bytes yet."""

    def write(content: Any, name: str = "mail.ipynb") -> Path:
        path = tmp_path / name
        if not isinstance(content, str | bytes):
            content = json.dumps(content)
        path.write_bytes(content.encode("utf-8", "surrogatepass") if isinstance(content, str) else content)
        return path

    return write


@pytest.fixture
def session(tmp_path: Path) -> Any:
    with Session(
        ScriptedProvider(["One.", "Two."]), cwd=tmp_path, store=MemoryStore(), asker=FakeAsker("approve")
    ) as session:
        yield session
