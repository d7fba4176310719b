"""JSON Schema's own test suite for draft 2020-12 decides what is valid, through the path that answers take.

Left out are the optional parts that describe other languages: ECMA's regular expressions where they differ
from Python's, and the keyword `dependencies` of older drafts.
"""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from agent_magics.errors import ConfigError
from agent_magics.extract import Schema
from agent_magics.extract.formats import FORMATS
from agent_magics.tools.validation import Validator

SUITE = Path(__file__).resolve().parents[2] / ".build" / "json-schema-tests" / "draft2020-12"
OTHER_LANGUAGES = {"optional/ecmascript-regex", "optional/dependencies-compatibility"}
ANNOTATIONS = {"format", "content"}
"""Here `format` is only a note; we promise that it counts, and the optional parts say how."""

ELSEWHERE = "localhost:1234"
"""The suite's own server: what refers to it is refused, since nothing is fetched."""


def names() -> Iterator[str]:
    for path in sorted(SUITE.rglob("*.json")):
        name = path.relative_to(SUITE).with_suffix("").as_posix()
        optional_format = name.startswith("optional/format/")
        if name not in OTHER_LANGUAGES and (not optional_format or path.stem in FORMATS):
            yield name


def verdict(name: str, schema: Any, data: Any) -> bool:
    if isinstance(schema, bool) or name in ANNOTATIONS:
        return not Validator(schema).problems(data)
    return not Schema.of(schema).problems(data)


def test_the_suite_is_all_there():
    assert len(list(names())) >= 60


@pytest.mark.parametrize("name", list(names()))
def test_it_agrees_with_the_suite(name):
    wrong: list[str] = []
    for case in json.loads((SUITE / f"{name}.json").read_text(encoding="utf-8")):
        for one in case["tests"]:
            try:
                same = one["valid"] == verdict(name, case["schema"], one["data"])
            except ConfigError:
                same = ELSEWHERE in json.dumps(case["schema"])
            if not same:
                wrong.append(f"{case['description']}: {one['description']}")
    assert [] == wrong


@pytest.mark.parametrize("name", [f"optional/format/{each}" for each in FORMATS])
def test_every_promised_format_is_in_the_suite(name):
    assert name in set(names())
