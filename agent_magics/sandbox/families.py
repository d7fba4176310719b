"""Which libraries a zygote has loaded before the first call: the smallest family that knows a source's
imports.

A bare zygote forks in a millisecond; one with pandas carries its hundred megabytes of pages along, and pays
for them at every call. What is loaded beforehand costs a tool neither time nor its own memory.
"""

from __future__ import annotations

import importlib
import re
from dataclasses import dataclass


@dataclass(frozen=True)
class Family:
    """A set of libraries to load, where they are installed, and the names in a source that call for it."""

    name: str
    modules: tuple[str, ...]
    wanted_by: re.Pattern[str]


STANDARD = (
    "abc", "array", "ast", "base64", "binascii", "bisect", "calendar", "cmath", "collections.abc", "colorsys",
    "contextlib", "copy", "csv", "dataclasses", "datetime", "decimal", "difflib", "email.utils", "enum",
    "fractions", "functools", "graphlib", "gzip", "hashlib", "heapq", "hmac", "html.parser", "inspect", "io",
    "ipaddress", "itertools", "json", "keyword", "locale", "logging", "math", "numbers", "operator", "pprint",
    "random", "re", "secrets", "shlex", "statistics", "string", "struct", "textwrap", "time", "tokenize",
    "traceback", "types", "typing", "unicodedata", "urllib.parse", "uuid", "warnings",
    "xml.etree.ElementTree", "zipfile", "zlib", "zoneinfo", "_strptime", "encodings.idna",
    "encodings.latin_1", "encodings.cp1252", "encodings.utf_16", "encodings.utf_8_sig", "stringprep",
)  # fmt: skip
NUMPY = ("numpy", "numpy.fft", "numpy.linalg", "numpy.ma", "numpy.polynomial", "numpy.random")
PANDAS = ("pyarrow", "pyarrow.compute", "pandas", "dateutil.parser", "dateutil.relativedelta", "tzdata")
SCIENCE = (
    "scipy.cluster.hierarchy", "scipy.fft", "scipy.integrate", "scipy.interpolate", "scipy.linalg",
    "scipy.ndimage", "scipy.optimize", "scipy.signal", "scipy.sparse.linalg", "scipy.spatial.distance",
    "scipy.special", "scipy.stats", "networkx", "sympy",
)  # fmt: skip
NOTHING = re.compile(r"(?!)")

FAMILIES = (
    Family("bare", STANDARD, NOTHING),
    Family("numpy", (*STANDARD, *NUMPY), re.compile(r"\bnumpy\b")),
    Family("pandas", (*STANDARD, *NUMPY, *PANDAS), re.compile(r"\b(?:pandas|pyarrow|dateutil)\b")),
    Family("science", (*STANDARD, *NUMPY, *PANDAS, *SCIENCE), re.compile(r"\b(?:scipy|networkx|sympy)\b")),
)
BY_NAME = {family.name: family for family in FAMILIES}
OF_VALUES = {"numpy": "numpy", "pandas": "pandas", "pyarrow": "pandas"}


def load(family: str) -> list[str]:
    """Import what a family names and is installed; the names of what is not, or what fails.

    A broken package is its owner's matter, and no reason to have no sandbox.
    """
    missing: list[str] = []
    for module in BY_NAME[family].modules:
        try:
            importlib.import_module(module)
        except Exception:  # some packages raise whatever they like
            missing.append(module)
    return missing


def family_for(source: str, packages: frozenset[str]) -> Family:
    """The smallest family for a source and the packages that its arguments come from."""
    wanted = {OF_VALUES[package] for package in packages if package in OF_VALUES}
    for family in reversed(FAMILIES):
        if family.name in wanted or family.wanted_by.search(source):
            return family
    return FAMILIES[0]
