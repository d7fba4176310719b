"""Run the checks side by side and show what each said, in order."""

from __future__ import annotations

import subprocess
import sys
import time

from steps import ROOT, VENV

CHECKS = {
    "ruff check": ("ruff", "check", "."),
    "ruff format": ("ruff", "format", "--check", "."),
    "import-linter": ("lint-imports", "--no-logo"),
    "pyright (strict)": ("pyright",),
    "pyright (tests)": ("pyright", "--project", "tests"),
}


def main() -> int:
    began = time.monotonic()
    running = {
        name: subprocess.Popen(
            [VENV / "bin" / program, *arguments],
            cwd=ROOT,
            text=True,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
        )
        for name, (program, *arguments) in CHECKS.items()
    }
    failed = 0
    for name, process in running.items():
        said, _ = process.communicate(timeout=300)
        failed += process.returncode != 0
        print(f"── {name}: {'FAILED' if process.returncode else 'ok'}")
        if process.returncode:
            print(said.strip())
    print(f"{len(CHECKS) - failed} of {len(CHECKS)} checks passed in {time.monotonic() - began:.0f} s")
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
