"""Providers by name."""

from __future__ import annotations

import subprocess
import sys
from typing import Any

import pytest

from agent_magics.errors import ConfigError, UnknownProvider, UsageError
from agent_magics.providers import Registry, provider, registry
from agent_magics.providers.registry import split


class Parrot:
    def __init__(self, **options):
        self.options = options

    def fetch(self, messages, tools):
        yield {"type": "saying", "text": "hi"}


@pytest.fixture(autouse=True)
def forget():
    before = dict(registry._registered)
    yield
    registry._registered.clear()
    registry._registered.update(before)


@pytest.fixture
def package(tmp_path, monkeypatch):
    """Installs a package with an entry point, as pip would leave it."""

    def install(name, source, target):
        module = f"plugin_{name}"
        (tmp_path / f"{module}.py").write_text(source)
        info = tmp_path / f"{module}-1.0.dist-info"
        info.mkdir()
        (info / "METADATA").write_text(f"Metadata-Version: 2.1\nName: {module}\nVersion: 1.0\n")
        (info / "entry_points.txt").write_text(f"[agent_magics.providers]\n{name} = {module}{target}\n")
        monkeypatch.syspath_prepend(str(tmp_path))

    return install


def test_the_last_registration_wins_and_nothing_is_cached():
    provider("parrot", lambda model=None, **options: Parrot(first=True))

    @provider("parrot")
    def second(model=None, **options):
        return Parrot(model=model, **options)

    one: Any = Registry().build("parrot:big:q4", effort="low", base_url=None)
    two: Any = Registry().build("parrot:big:q4")
    assert {"model": "big:q4", "effort": "low"} == one._thing.options
    assert one._thing is not two._thing
    assert ("parrot", "big:q4") == (one.name, one.model)


def test_a_factory_without_parameters_works_too():
    @provider("parrot")
    def parrot():
        return Parrot()

    assert Registry().build("parrot:big").model == "big"


def test_a_model_given_as_an_option_wins_over_the_one_in_the_name():
    provider("parrot", lambda model=None, **options: Parrot(model=model))
    assert Registry().build("parrot:small", model="big").model == "big"


def test_ids_are_split_at_the_first_colon():
    assert split("ollama:gpt-oss:latest") == ("ollama", "gpt-oss:latest")
    assert split("llama:/models/a:b.gguf") == ("llama", "/models/a:b.gguf")
    assert split("demo") == ("demo", "")


def test_an_unknown_name_is_told_with_the_names_that_there_are():
    with pytest.raises(UnknownProvider) as caught:
        Registry().build("opnai")
    what, why, _ = str(caught.value).splitlines()
    assert what == f"unknown provider 'opnai'. Available: {', '.join(Registry().names())}"
    assert "Is 'openai' meant?" in why


def test_an_installed_package_registers_its_provider_when_it_is_asked_for(package):
    package(
        "crow",
        "from agent_magics import providers\n"
        "class Crow:\n    def fetch(self, messages, tools): yield {}\n"
        "providers.provider('crow', lambda **options: Crow())\n",
        "",
    )
    assert "crow" in Registry().names()
    assert "plugin_crow" not in sys.modules
    assert Registry().build("crow").name == "crow"


def test_an_installed_package_may_name_its_factory_instead(package):
    package("rook", "class Rook:\n    def fetch(self, messages, tools): yield {}\n", ":Rook")
    assert Registry().build("rook").name == "rook"


def test_a_package_that_registers_nothing_says_so(package):
    package("gull", "made = 1\n", "")
    with pytest.raises(UnknownProvider, match="plugin_gull did not register a provider named 'gull'"):
        Registry().build("gull")


def test_the_real_import_error_of_a_broken_package_is_shown(package):
    package("kite", "import a_package_that_is_not_there\n", "")
    with pytest.raises(ConfigError, match="No module named 'a_package_that_is_not_there'"):
        Registry().build("kite")


def test_known_models_are_offered_and_others_are_accepted():
    assert "claude-sonnet-5-5" in Registry().models("anthropic")
    assert [] == Registry().models("stub") == Registry().models("nobody")
    assert Registry().build("anthropic:claude-next", api_key="x" * 12).model == "claude-next"


def test_an_option_that_nobody_knows_is_refused():
    with pytest.raises(UsageError, match="no option 'efort'"):
        Registry().build("openai:m", base_url="http://x", efort="low")


def test_importing_the_package_brings_nothing_heavy_and_starts_nothing():
    heavy = {"httpx", "ssl", "numpy", "keyring", "pydantic", "jsonschema", "IPython", "xllamacpp", "certifi"}
    code = (
        "import sys, threading, agent_magics.providers as p; p.Registry().names()\n"
        f"print(sorted({heavy!r} & set(sys.modules) - {{'ssl'}}), threading.active_count())"
    )
    done = subprocess.run(
        [sys.executable, "-c", code], capture_output=True, text=True, timeout=60, check=True
    )
    assert done.stdout.strip() == "[] 1"
