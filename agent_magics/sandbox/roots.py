"""What a confined child may read: the interpreter's own library, installed packages, shared libraries, zones.

Never ``sys.path`` or ``sys.prefix`` as such: they can hold the project, or the home folder.
"""

from __future__ import annotations

import os
import sysconfig
from collections.abc import Iterable
from pathlib import Path

LIBRARY_FOLDERS = ("/lib", "/lib64", "/usr/lib", "/usr/lib64", "/usr/share/zoneinfo")
SINGLE_FILES = ("/etc/ld.so.cache", "/etc/localtime", "/dev/null")
PACKAGE_SCHEMES = ("stdlib", "platstdlib", "purelib", "platlib")
DISTRIBUTION_PACKAGES = "/usr/lib/python3/dist-packages"


def read_roots(extra_packages: Iterable[str] = ()) -> list[Path]:
    """Folders and files, resolved, each named once.

    Parameters
    ----------
    extra_packages : iterable of str
        Further ``site-packages`` folders that the host imports from, such as the user's own.
    """
    paths = sysconfig.get_paths()
    folders = [
        *(paths[scheme] for scheme in PACKAGE_SCHEMES),
        *extra_packages,
        DISTRIBUTION_PACKAGES,
        *LIBRARY_FOLDERS,
    ]
    resolved = {Path(os.path.realpath(path)) for path in (*folders, *SINGLE_FILES)}
    covered = {root for root in resolved if root.is_dir()}
    resolved |= {
        library for library in (*_mapped(), *_neighbours()) if not covered.intersection(library.parents)
    }
    return sorted(resolved - {Path("/")})


def _mapped() -> set[Path]:
    """Shared libraries that this process has loaded, wherever they are."""
    maps = Path("/proc/self/maps").read_text(encoding="utf-8", errors="surrogateescape")
    names = {line[line.index("/") :] for line in maps.splitlines() if "/" in line}
    return {Path(os.path.realpath(name)) for name in names if ".so" in Path(name).name}


def _neighbours() -> set[Path]:
    """Libraries that stand beside the standard library, as in a conda environment: files, not the folder."""
    beside = Path(sysconfig.get_paths()["stdlib"]).parent
    return {Path(os.path.realpath(path)) for path in beside.glob("lib*.so*")}
