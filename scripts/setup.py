"""Make `.venv`: the package, editable, with everything that the checks and the tests need.

Skipped unless the dependencies in pyproject.toml changed, so that every `make` target can begin with it.
"""

from __future__ import annotations

import json
import sys
import venv

from steps import PYTHON, VENV, once, pip_install, settings

# The extras that the tests need: the real engines on a tiny model, google-auth, the price list.
INSTALL = ("--editable", ".[local,candle,llama2,vertex,prices]", "--group", "dev")


def recipe() -> str:
    """Return what the environment depends on; every other setting in pyproject.toml may change freely."""
    whole = settings()
    keys = ("requires-python", "dependencies", "optional-dependencies", "scripts")
    project = {key: whole["project"].get(key) for key in keys}
    return json.dumps([sys.version, INSTALL, project, whole["build-system"], whole["dependency-groups"]])


def install() -> None:
    if not PYTHON.exists():
        venv.create(VENV, with_pip=True)
    pip_install(PYTHON, "pip>=25.1")  # the first pip that knows dependency groups
    pip_install(PYTHON, *INSTALL)


if __name__ == "__main__":
    once("Installing the package and its tools into .venv", VENV / ".stamp", recipe(), install)
