"""What we start knows no keys."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from agent_magics import Session
from agent_magics.forge import checking
from agent_magics.providers import Registry
from agent_magics.talk import ToolCall
from agent_magics.testing import FakeAsker, ScriptedProvider
from agent_magics.tool_making import sandbox
from tests.forge.conftest import make_call
from tests.providers.conftest import tiny  # noqa: F401  # the fixture
from tests.sandbox.processes import ours


def test_no_child_process_is_given_a_key(tiny: Path, tmp_path: Path, monkeypatch: Any) -> None:  # noqa: F811
    monkeypatch.setenv("OPENAI_API_KEY", "planted-for-children-1")
    monkeypatch.setenv("GITHUB_TOKEN", "planted-for-children-2")
    sandbox().rest()  # what runs by now was started without them
    checking.rest()
    options: dict[str, Any] = {"planner": "native", "max_tokens": 8}
    provider = Registry().build(f"llama:{tiny}", **options)
    script = ScriptedProvider(
        [make_call(), ToolCall(id="use", name="blorps_to_metres", arguments={"blorps": 2}), "7.4 m"]
    )
    with Session(script, asker=FakeAsker("approve"), cwd=tmp_path) as session:
        session.ask("How long are 2 blorps?")
        session.provider = provider
        assert session.ask("hello").usage.output > 0
        started = ours("agent_magics")
        assert ours("local/server.py") <= started
        assert len(started) >= 3, "a zygote, the check's worker, the model's server"
        for pid in started:
            assert b"planted-for-children" not in Path(f"/proc/{pid}/environ").read_bytes()
