"""The registry on a real disk: versions that are whole, two writers at once, and files that people edit."""

from __future__ import annotations

import json
import subprocess
import sys
from dataclasses import replace
from pathlib import Path

import pytest

from agent_magics.errors import UsageError
from agent_magics.forge.approvals import Approvals
from agent_magics.forge.draft import Draft, Example
from agent_magics.forge.registry import Registry

DRAFT = Draft(
    name="double_it",
    description="Twice a number",
    source="def double_it(x: int) -> int:\n    return 2 * x\n",
    parameters={"type": "object", "properties": {"x": {"type": "integer"}}, "required": ["x"]},
    examples=(Example(arguments={"x": 2}, returns=4, known=True),),
    author="test",
)


@pytest.fixture
def registry(tmp_path: Path) -> Registry:
    return Registry(tmp_path / "tools")


def test_kept_tool_reads_back_as_it_was(registry: Registry) -> None:
    kept = registry.save(DRAFT)
    assert (DRAFT, 1, False) == (kept.draft, kept.version, kept.edited)
    read = registry.read("double_it")
    assert read is not None and read.draft == DRAFT
    assert ["double_it"] == registry.names()


def test_files_can_be_read_and_compared_by_people(registry: Registry) -> None:
    folder = registry.save(DRAFT).folder
    assert DRAFT.source == (folder / "tool.py").read_text()
    told = json.loads((folder / "tool.json").read_text())
    assert ["2 -> 4"] == [f"{test['arguments']['x']} -> {test['returns']}" for test in told["tests"]]


def test_version_is_never_used_again(registry: Registry) -> None:
    for number in range(3):
        registry.save(replace(DRAFT, description=str(number)))
    registry.use("double_it", 1)
    assert 4 == registry.save(DRAFT).version
    assert [1, 2, 3, 4] == registry.versions("double_it")


def test_rolling_back_offers_the_other_version(registry: Registry) -> None:
    registry.save(DRAFT)
    registry.save(replace(DRAFT, description="another"))
    registry.use("double_it", 1)
    kept = registry.read("double_it")
    assert kept is not None and (1, "Twice a number") == (kept.version, kept.draft.description)
    with pytest.raises(UsageError, match="no version 7"):
        registry.use("double_it", 7)


def test_edited_file_is_another_tool(registry: Registry) -> None:
    kept = registry.save(DRAFT)
    (kept.folder / "tool.py").write_text(DRAFT.source + "# changed\n")
    read = registry.read("double_it")
    assert read is not None and read.edited and read.draft.sha256 != kept.draft.sha256


@pytest.mark.parametrize(
    "change",
    [
        {"description": "x"}, {"parameters": {"type": "object"}}, {"capabilities": ("clock",)},
        {"seconds": 61.0}, {"memory_mb": 65}, {"source": DRAFT.source + "\n"}, {"name": "other"},
    ],
)  # fmt: skip
def test_hash_covers_all_that_decides_what_a_call_does(change: dict[str, object]) -> None:
    assert DRAFT.sha256 != replace(DRAFT, **change).sha256  # type: ignore[arg-type]


@pytest.mark.parametrize("broken", ["", "{", "[]", '{"format": 1}', '{"format": 2, "name": "x"}', "\x00"])
def test_broken_file_is_no_tool_and_no_error(registry: Registry, broken: str) -> None:
    kept = registry.save(DRAFT)
    (kept.folder / "tool.json").write_text(broken)
    assert registry.read("double_it") is None
    assert [] == list(registry)


def test_link_to_elsewhere_is_no_tool(registry: Registry, tmp_path: Path) -> None:
    kept = registry.save(DRAFT)
    elsewhere = tmp_path / "secret.py"
    elsewhere.write_text(DRAFT.source)
    (kept.folder / "tool.py").unlink()
    (kept.folder / "tool.py").symlink_to(elsewhere)
    assert registry.read("double_it") is None


def test_name_that_leads_out_of_the_folder_is_no_tool(registry: Registry) -> None:
    registry.save(DRAFT)
    assert registry.read("../tools/double_it") is None
    assert [] == registry.versions("..")
    with pytest.raises(UsageError):
        registry.delete("..")


WRITER = """
import sys
from dataclasses import replace
from pathlib import Path
from agent_magics.forge.registry import Registry
from tests.forge.test_registry import DRAFT
registry, who = Registry(Path(sys.argv[1])), sys.argv[2]
for number in range(int(sys.argv[3])):
    registry.save(replace(DRAFT, description=f"{who} {number}"))
    registry.count("double_it", failed=False)
"""


def writer(registry: Registry, who: str, times: int) -> subprocess.Popen[bytes]:
    return subprocess.Popen([sys.executable, "-c", WRITER, str(registry.root), who, str(times)])


def test_two_processes_that_write_at_once_lose_no_version(registry: Registry) -> None:
    both = [writer(registry, who, 12) for who in ("one", "two")]
    assert [0, 0] == [each.wait(60) for each in both]
    versions = registry.versions("double_it")
    assert list(range(1, 25)) == versions
    all_kept = [registry.read("double_it", number) for number in versions]
    said = sorted(kept.draft.description for kept in all_kept if kept is not None)
    assert sorted(f"{who} {number}" for who in ("one", "two") for number in range(12)) == said
    assert 24 == registry.uses("double_it").calls


@pytest.mark.parametrize("moment", range(6))
def test_writer_that_is_killed_leaves_whole_versions_only(registry: Registry, moment: int) -> None:
    registry.save(DRAFT)
    process = writer(registry, "doomed", 1000)
    while len(registry.versions("double_it")) < 3 + 5 * moment:
        assert process.poll() is None
    process.kill()
    process.wait(10)
    for number in registry.versions("double_it"):
        kept = registry.read("double_it", number)
        assert kept is not None and not kept.edited
    current = registry.read("double_it")
    assert current is not None and current.version in registry.versions("double_it")
    again = registry.save(DRAFT)
    assert max(registry.versions("double_it")) == again.version
    left = [each.name for each in (registry.root / "double_it").iterdir() if each.name.startswith(".")]
    assert [] == left


def test_approvals_are_bound_to_the_hash(tmp_path: Path) -> None:
    approvals = Approvals(tmp_path / "home")
    approvals.add(DRAFT)
    assert approvals.covers(DRAFT)
    assert not approvals.covers(replace(DRAFT, capabilities=("http_get:example.org",)))
    assert DRAFT.source == approvals.source_of("double_it")
    approvals.withdraw("double_it")
    assert not approvals.covers(DRAFT)


@pytest.mark.parametrize("broken", ["", "[]", "null", "{", '{"a": 1}'])
def test_broken_approvals_approve_nothing(tmp_path: Path, broken: str) -> None:
    approvals = Approvals(tmp_path)
    approvals.add(DRAFT)
    (tmp_path / "approved_tools.json").write_text(broken)
    assert not approvals.covers(DRAFT)
    assert "" == approvals.source_of("double_it")
