"""Bring what only the tests need: a browser, node test servers, JSON Schema's own tests, and the kernels.

Everything but the browser goes into `.build`. A part that is there already is skipped, and the parts are
brought side by side, since most of the time is spent waiting for the network.
"""

from __future__ import annotations

import os
import shutil
import tarfile
from concurrent.futures import ThreadPoolExecutor

import kernelspecs
from steps import BUILD, PYTHON, once, run, stop

# aimock speaks the vendors' protocols without a model.
NODE_SERVERS = ("@copilotkit/aimock@1.43.0",)
SCHEMA_TESTS = "4.26.0"
DEBIAN = ("chromium", "fonts-dejavu-core", "fonts-noto-color-emoji")
INSTALL = f"apt-get update && apt-get install -y --no-install-recommends {' '.join(DEBIAN)}"
NOT_ROOT = "The tests click in a real Chromium, and installing it needs root. Run this once, then go on:"


def browser() -> None:
    """Install Debian's Chromium, which Playwright can drive; its own download is not needed."""
    if shutil.which("chromium"):
        return
    if os.geteuid() or not shutil.which("apt-get"):
        stop(NOT_ROOT, f"  sudo sh -c '{INSTALL}'")
    print("Installing Chromium …", flush=True)
    run("sh", "-c", INSTALL, env={"DEBIAN_FRONTEND": "noninteractive"})


def node_servers() -> None:
    folder = BUILD / "node"

    def install() -> None:
        folder.mkdir(parents=True, exist_ok=True)
        run("npm", "install", "--silent", "--no-fund", "--no-audit", "--prefix", folder, *NODE_SERVERS)

    once("Installing the node test servers", folder / ".stamp", " ".join(NODE_SERVERS), install)


def schema_tests() -> None:
    """The test suite of JSON Schema, which the source package of jsonschema carries."""
    folder = BUILD / "json-schema-tests"

    def fetch() -> None:
        package = f"jsonschema=={SCHEMA_TESTS}"
        download = ("-m", "pip", "download", "--quiet", "--no-deps", "--no-binary", "jsonschema")
        run(PYTHON, *download, "--dest", folder, package)
        inside = f"jsonschema-{SCHEMA_TESTS}/json/tests"
        with tarfile.open(folder / f"jsonschema-{SCHEMA_TESTS}.tar.gz") as archive:
            archive.extractall(folder, [one for one in archive if one.name.startswith(inside)], filter="data")
        shutil.rmtree(folder / "draft2020-12", ignore_errors=True)
        (folder / inside / "draft2020-12").rename(folder / "draft2020-12")
        shutil.rmtree(folder / f"jsonschema-{SCHEMA_TESTS}")

    once("Bringing the test suite of JSON Schema", folder / ".stamp", SCHEMA_TESTS, fetch)


PARTS = (browser, node_servers, schema_tests, kernelspecs.newest, kernelspecs.beside, kernelspecs.oldest)


def main() -> None:
    with ThreadPoolExecutor(len(PARTS)) as pool:
        running = [pool.submit(part) for part in PARTS]
    if any(part.exception() for part in running):
        for part in running:
            part.result()


if __name__ == "__main__":
    main()
