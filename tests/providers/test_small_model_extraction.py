"""The teaching model, held to a schema: what it says is valid, whatever it understood."""

from __future__ import annotations

from pathlib import Path

import pytest

from agent_magics.extract import Schema, ask_once
from agent_magics.providers import Registry
from tests.benchmarks.bench_extract_model import FIELDS, SCHEMA, cases


@pytest.mark.local_model
async def test_five_short_texts_give_five_valid_values_at_the_first_try(smollm2: Path):
    schema = Schema.of(SCHEMA)
    model = Registry().build(f"llama:{smollm2}", temperature=0, max_tokens=120)
    try:
        got = [await ask_once(model, case.text, schema, repairs=0) for case in cases(5)]
    finally:
        await model.aclose()
    assert [[]] * 5 == [schema.problems(each.value) for each in got]
    right = sum(
        each.value[name] == case.truth[name]
        for each, case in zip(got, cases(5), strict=True)
        for name in FIELDS
    )
    assert right >= 5  # of 25: a model of 135 million parameters reads, if badly
