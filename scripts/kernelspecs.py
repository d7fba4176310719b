"""Install the kernels that people still have, and describe all of them to Jupyter.

ipykernel changed how a running cell and the shell channel live together in 7.0, and again in 7.4;
the bridge in `agent_magics/notebook` has to work on each of these.
"""

from __future__ import annotations

import json
import venv
from functools import partial
from pathlib import Path

from steps import BUILD, PYTHON, once, pip_install, settings

NEWEST = "7.4.0"  # the one in .venv; the dev group in pyproject.toml pins it
BESIDE = ("7.0.1", "7.1.0", "7.2.0", "7.3.0")  # they run on the dependencies of the newest
OLDEST = "6.31.0"  # another generation, with an environment of its own

DESCRIPTIONS = BUILD / "share" / "jupyter" / "kernels"  # JUPYTER_PATH=.build/share/jupyter finds them


def newest() -> None:
    describe(NEWEST, PYTHON)


def beside() -> None:
    for version in BESIDE:
        folder = BUILD / "kernels" / version
        package = f"ipykernel=={version}"
        install = partial(pip_install, PYTHON, "--no-deps", "--upgrade", "--target", folder, package)
        once(f"Installing ipykernel {version}", folder / ".stamp", version, install)
        describe(version, PYTHON, PYTHONPATH=str(folder))


def oldest() -> None:
    folder = BUILD / "venv-6.31"
    python = folder / "bin" / "python"

    def install() -> None:
        venv.create(folder, with_pip=True, clear=True)
        pip_install(python, "--editable", ".", f"ipykernel=={OLDEST}")

    recipe = json.dumps([OLDEST, settings()["project"]["dependencies"]])
    once(f"Installing ipykernel {OLDEST}", folder / ".stamp", recipe, install)
    describe(OLDEST, python)


def describe(version: str, python: Path, **env: str) -> None:
    """Write a kernelspec, from which both the tests and the real front ends start the kernel."""
    spec = {
        "argv": [str(python), "-m", "ipykernel_launcher", "-f", "{connection_file}"],
        "display_name": f"ipykernel {version}",
        "language": "python",
        "env": {"PYDEVD_DISABLE_FILE_VALIDATION": "1", **env},
        "metadata": {"debugger": False},
    }
    folder = DESCRIPTIONS / f"ipykernel-{version}"
    folder.mkdir(parents=True, exist_ok=True)
    (folder / "kernel.json").write_text(json.dumps(spec, indent=1))
