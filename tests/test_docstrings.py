"""Every example in a docstring runs."""

from __future__ import annotations

import doctest
import importlib
import pkgutil

import pytest

import agent_magics

MODULES = sorted(
    name
    for _, name, _ in pkgutil.walk_packages(agent_magics.__path__, "agent_magics.")
    if not name.endswith(("__main__", ".server"))
)


@pytest.mark.parametrize("name", MODULES)
def test_the_examples_of_a_module_run(name):
    failed, _ = doctest.testmod(importlib.import_module(name), optionflags=doctest.NORMALIZE_WHITESPACE)
    assert 0 == failed
